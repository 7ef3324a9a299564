#include "engine/base/parse_int.h"

#include <charconv>
#include <string>

namespace enginery {

Result<int64_t> parse_int(std::string_view text) {
  int64_t value = 0;
  const char* last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, value);
  if (error == std::errc() && end == last) return value;
  return Error{ErrorCode::invalid_argument, "'" + std::string(text) + "' is not an integer"};
}

}  // namespace enginery
