// Messages for people, on stderr. Wraps spdlog in one place, so that its headers stay out of
// everybody else's.
#pragma once

#include <string_view>

namespace enginery {

enum class LogLevel { debug, info, warning, error, off };

// Thread-safe. `json` prints one JSON object a line instead of the human form. Call once, from
// main.
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
