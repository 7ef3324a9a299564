// The JSON that --json prints: fields in the order of cli/README.md, two spaces, one document.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "cli/output/console.h"

namespace enginery {

using Json = nlohmann::ordered_json;

void print_json(Console& console, const Json& json);

// Text that is not UTF-8 (file names may be anything) with its bad bytes replaced.
std::string valid_utf8(std::string_view text);

// "2026-11-21T06:50:12.345Z"; null for 0.
Json json_time(int64_t wall_time_ns);
// The number; null for 0 (not measured, not known).
Json json_known(double number);

}  // namespace enginery
