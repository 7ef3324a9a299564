// Where messages go instead of stderr: for programs that load enginery as a library.
//
// Where: beside log.h, which prints. Thread-safe.
#pragma once

#include <functional>
#include <string_view>

#include "engine/base/log.h"

namespace enginery {

// Called from whichever thread logs, one at a time; it must not log.
using LogSink = std::function<void(LogLevel level, std::string_view message)>;

// From here on `sink` gets every message of at least `least`, and nothing is printed. An empty one
// prints them again.
void set_log_sink(LogLevel least, LogSink sink);

}  // namespace enginery
