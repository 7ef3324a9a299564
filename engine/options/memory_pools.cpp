#include "engine/options/memory_pools.h"

#include <algorithm>
#include <cctype>
#include <charconv>

namespace enginery {
namespace {

constexpr std::string_view kWorkspace = "workspace";
constexpr std::string_view kUnits = "BKMG";
constexpr double kMostBytes = 1LL << 50;  // far above what any machine has

// "64", "64M", "0.5G" in bytes; none for anything else.
std::optional<int64_t> bytes_of_size(std::string_view text) {
  double size = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, size, std::chars_format::fixed);
  if (text.empty() || !std::isdigit(static_cast<unsigned char>(text[0])) || error != std::errc())
    return {};
  size_t unit = kUnits.find('M');
  if (rest != end)
    unit = kUnits.find(static_cast<char>(std::toupper(static_cast<unsigned char>(*rest))));
  if (unit == std::string_view::npos || end - rest > 1) return {};
  for (; unit > 0; --unit) size *= 1024;
  if (!(size <= kMostBytes)) return {};
  return static_cast<int64_t>(size);
}

}  // namespace

Result<MemoryPools> parse_memory_pools(std::string_view text) {
  MemoryPools out;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(','));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    const size_t colon = word.find(':');
    const bool is_named = colon != std::string_view::npos;
    if (is_named && word.substr(0, colon) != kWorkspace)
      return Error{ErrorCode::usage, "memory pool '" + std::string(word.substr(0, colon)) +
                                         "': the only one that there is is workspace"};
    out.workspace = bytes_of_size(is_named ? word.substr(colon + 1) : word);
    if (!out.workspace)
      return Error{ErrorCode::usage, "memory pool '" + std::string(word) +
                                         "': expected workspace:SIZE, in MiB or with one of the "
                                         "units B, K, M and G"};
  }
  return out;
}

std::string to_text(const MemoryPools& pools) {
  if (!pools.workspace) return "";
  return std::string(kWorkspace) + ":" + std::to_string(*pools.workspace) + "B";
}

}  // namespace enginery
