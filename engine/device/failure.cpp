#include "engine/device/failure.h"

#include <algorithm>
#include <array>

namespace enginery {
namespace {

constexpr std::array<std::string_view, 9> kWords{"unknown",      "compile",  "launch",
                                                 "wrong_result", "red_zone", "out_of_memory",
                                                 "timed_out",    "fault",    "crash"};

}  // namespace

std::string_view to_string(FailureKind kind) {
  return kWords[static_cast<size_t>(kind)];
}

FailureKind parse_failure_kind(std::string_view word) {
  const auto found = std::find(kWords.begin(), kWords.end(), word);
  return found == kWords.end() ? FailureKind::unknown
                               : static_cast<FailureKind>(found - kWords.begin());
}

FailureKind failure_kind(const Error& error, FailureKind stage) {
  switch (error.code) {
    case ErrorCode::out_of_memory:
      return FailureKind::out_of_memory;
    case ErrorCode::device_lost:
      return FailureKind::fault;
    default:
      return stage;
  }
}

}  // namespace enginery
