#include "coordinator/server/control_server.h"

#include <gtest/gtest.h>

namespace enginery {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// After a stall the Syncs of more workers than fit a batch wait in the socket: none of them is
// silent. A flood of requests that never ends must not stop the clock.
TEST(ControlServer, TimersWaitForTheRequestsThatWaitButNotForEver) {
  EXPECT_TRUE(ControlServer::may_fire(false, milliseconds(0)));
  EXPECT_TRUE(ControlServer::may_fire(false, seconds(60)));
  EXPECT_FALSE(ControlServer::may_fire(true, milliseconds(0)));
  EXPECT_FALSE(ControlServer::may_fire(true, seconds(5)));
  EXPECT_TRUE(ControlServer::may_fire(true, seconds(6)));
}

}  // namespace
}  // namespace enginery
