#include "cli/process/up_lock.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/cli/temporary_home.h"

namespace enginery {
namespace {

using std::chrono::milliseconds;

TEST(UpLock, ASecondOneIsRefusedAndToldWhoHoldsIt) {
  const TemporaryHome home;
  const auto first = UpLock::acquire();
  ASSERT_TRUE(first.ok()) << first.error().message;
  const auto second = UpLock::acquire();
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().code, ErrorCode::storage);
  EXPECT_NE(second.error().message.find("pid " + std::to_string(getpid())), std::string::npos);
  const auto pid = running_up();
  ASSERT_TRUE(pid.ok());
  EXPECT_EQ(*pid, getpid());
  EXPECT_FALSE(wait_for_end_of_up(milliseconds(50)));
}

TEST(UpLock, IsReleasedWithItsOwner) {
  const TemporaryHome home;
  EXPECT_EQ(running_up().error().code, ErrorCode::not_found);
  { ASSERT_TRUE(UpLock::acquire().ok()); }
  EXPECT_EQ(running_up().error().code, ErrorCode::not_found);
  EXPECT_TRUE(wait_for_end_of_up(milliseconds(0)));
  EXPECT_TRUE(UpLock::acquire().ok());
}

}  // namespace
}  // namespace enginery
