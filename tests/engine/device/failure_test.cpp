#include "engine/device/failure.h"

#include <gtest/gtest.h>

namespace enginery {
namespace {

TEST(FailureKind, IsReadBackFromItsWord) {
  for (int i = 0; i <= static_cast<int>(FailureKind::crash); ++i) {
    const auto kind = static_cast<FailureKind>(i);
    EXPECT_EQ(parse_failure_kind(to_string(kind)), kind) << to_string(kind);
  }
  EXPECT_EQ(to_string(FailureKind::wrong_result), "wrong_result");
  EXPECT_EQ(to_string(FailureKind::red_zone), "red_zone");
  EXPECT_EQ(parse_failure_kind("of another version"), FailureKind::unknown);
  EXPECT_EQ(parse_failure_kind(""), FailureKind::unknown);
}

TEST(FailureKind, TellsLostMemoryAndLostDevicesFromTheirStage) {
  EXPECT_EQ(failure_kind({ErrorCode::internal, ""}, FailureKind::launch), FailureKind::launch);
  EXPECT_EQ(failure_kind({ErrorCode::out_of_memory, ""}, FailureKind::compile),
            FailureKind::out_of_memory);
  EXPECT_EQ(failure_kind({ErrorCode::device_lost, ""}, FailureKind::launch), FailureKind::fault);
}

}  // namespace
}  // namespace enginery
