#include "worker/steps/build_eta.h"

#include <gtest/gtest.h>

namespace enginery {
namespace {

TEST(BuildEta, IsUnknownUntilSomethingIsDone) {
  BuildEta eta;
  EXPECT_EQ(eta.seconds_left("code", 0, 100, 0), 0);
  EXPECT_EQ(eta.seconds_left("code", 0, 100, 5), 0);
}

// A phase's own time would say 10 s here: what follows it counts too.
TEST(BuildEta, CoversWhatFollowsThePhase) {
  BuildEta eta;
  eta.seconds_left("tune", 0, 100, 0);
  const double left = eta.seconds_left("tune", 50, 100, 10);
  EXPECT_GT(left, 15);
  EXPECT_LT(left, 40);
}

TEST(BuildEta, AtTheEndOfTheTuningTheStepsBehindItAreLeft) {
  BuildEta eta;
  eta.seconds_left("tune", 0, 10, 0);
  const double left = eta.seconds_left("network", 4, 4, 60);
  EXPECT_GT(left, 1);
  EXPECT_LT(left, 15);
}

// The tuner comes back to problems while it searches layouts, and their number grows.
TEST(BuildEta, APhaseThatComesBackTakesNothingBack) {
  BuildEta eta;
  eta.seconds_left("tune", 0, 28, 0);
  const double before = eta.seconds_left("layouts", 1, 2, 30);
  EXPECT_EQ(eta.seconds_left("tune", 28, 68, 30), before);
}

}  // namespace
}  // namespace enginery
