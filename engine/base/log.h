// Messages for people, on stderr, each with its time and level. Wraps spdlog in one place, so that
// its headers stay out of all others. What scripts read goes to stdout, never through here.
// Thread-safe; without set_up_log, warnings and errors are printed in the human form.
#pragma once

#include <string_view>

namespace enginery {

enum class LogLevel { debug, info, warning, error, off };

// From here on prints what is at least `least`. `json` prints one JSON object per line instead of
// the human form. Thread-safe; meant to be called once, from main.
void set_up_log(LogLevel least, bool json);

void log(LogLevel level, std::string_view message);
inline void log_debug(std::string_view m) {
  log(LogLevel::debug, m);
}
inline void log_info(std::string_view m) {
  log(LogLevel::info, m);
}
inline void log_warning(std::string_view m) {
  log(LogLevel::warning, m);
}
inline void log_error(std::string_view m) {
  log(LogLevel::error, m);
}

}  // namespace enginery
