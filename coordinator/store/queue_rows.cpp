#include "coordinator/store/queue_rows.h"

#include <charconv>

namespace enginery {

std::string job_id(uint64_t number) {
  return "j" + std::to_string(number);
}

std::optional<uint64_t> job_number(std::string_view id) {
  uint64_t number = 0;
  if (id.size() < 2 || id[0] != 'j') return std::nullopt;
  const auto [end, error] = std::from_chars(id.data() + 1, id.data() + id.size(), number);
  if (error != std::errc() || end != id.data() + id.size()) return std::nullopt;
  return number;
}

}  // namespace enginery
