#include "cli/options/since.h"

#include <charconv>
#include <ctime>

namespace enginery {
namespace {

constexpr int64_t kSecond = 1'000'000'000;

int64_t seconds_of(char unit) {
  switch (unit) {
    case 's':
      return 1;
    case 'm':
      return 60;
    case 'h':
      return 3600;
    case 'd':
      return 86400;
    default:
      return 0;
  }
}

// Nothing where the text is no such time.
const char* read_time(const std::string& text, std::tm& parts) {
  if (const char* end = strptime(text.c_str(), "%Y-%m-%dT%H:%M:%S", &parts)) return end;
  parts = {};
  return strptime(text.c_str(), "%Y-%m-%d", &parts);
}

}  // namespace

Result<int64_t> parse_since(const std::string& text, int64_t now_ns) {
  const Error unknown{
      ErrorCode::usage,
      "--since " + text + ": expected 90s, 15m, 2h, 3d or a time such as 2026-11-21T06:50:12Z"};
  int64_t count = 0;
  const char* end = text.data() + text.size();
  const auto [number_end, failure] = std::from_chars(text.data(), end, count);
  constexpr int64_t kMaxCount = 100'000;  // in every unit within the range of times
  if (failure == std::errc() && number_end + 1 == end && seconds_of(*number_end) > 0) {
    if (count < 0 || count > kMaxCount) return unknown;
    return now_ns - count * seconds_of(*number_end) * kSecond;
  }
  std::tm parts{};
  const char* rest = read_time(text, parts);
  if (rest == nullptr || (*rest != '\0' && std::string(rest) != "Z")) return unknown;
  return static_cast<int64_t>(timegm(&parts)) * kSecond;
}

}  // namespace enginery
