#include "coordinator/client/descriptor_limit.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

namespace enginery {
namespace {

TEST(DescriptorLimit, IsRaisedToWhatTheSystemGrants) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit low{before.rlim_cur / 2, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &low), 0);
  EXPECT_EQ(allow_many_descriptors(), before.rlim_max);
  rlimit after{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &after), 0);
  EXPECT_EQ(after.rlim_cur, before.rlim_max);
}

}  // namespace
}  // namespace enginery
