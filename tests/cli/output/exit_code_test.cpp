#include "cli/output/exit_code.h"

#include <gtest/gtest.h>

namespace enginery {
namespace {

TEST(ExitCode, IsTheContractsNumberForEveryKindOfFailure) {
  const std::pair<ErrorCode, int> rows[] = {
      {ErrorCode::internal, 1},     {ErrorCode::out_of_memory, 1}, {ErrorCode::usage, 2},
      {ErrorCode::not_found, 3},    {ErrorCode::unavailable, 4},   {ErrorCode::untrusted, 5},
      {ErrorCode::corrupt_data, 5}, {ErrorCode::timed_out, 6},     {ErrorCode::cancelled, 6},
      {ErrorCode::incompatible, 7}, {ErrorCode::unsupported, 9},   {ErrorCode::invalid_argument, 9},
      {ErrorCode::storage, 10},     {ErrorCode::device_lost, 1},
  };
  for (const auto& [code, expected] : rows)
    EXPECT_EQ(static_cast<int>(exit_code(code)), expected) << to_string(code);
  EXPECT_EQ(static_cast<int>(ExitCode::partial), 8);
  EXPECT_EQ(static_cast<int>(ExitCode::ok), 0);
}

}  // namespace
}  // namespace enginery
