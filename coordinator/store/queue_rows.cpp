#include "coordinator/store/queue_rows.h"

#include <charconv>

namespace enginery {

const char* to_string(StepKind kind) {
  switch (kind) {
    case StepKind::validate:
      return "validate";
    case StepKind::tune:
      return "tune";
    case StepKind::assemble:
      return "assemble";
    case StepKind::verify:
      return "verify";
    case StepKind::profile:
      return "profile";
    case StepKind::sign:
      return "sign";
  }
  return "unknown";
}

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
