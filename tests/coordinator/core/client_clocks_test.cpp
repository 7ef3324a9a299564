#include "coordinator/core/client_clocks.h"

#include <gtest/gtest.h>

namespace enginery {
namespace {

using std::chrono::hours;
using std::chrono::minutes;

constexpr Nanoseconds kNow = hours(1);

// The client has run something for that long, alone.
void use(ClientClocks& clocks, const std::string& client, double took_s, Nanoseconds now = kNow) {
  clocks.step_ready(client);
  clocks.step_left(client);
  clocks.step_begins(client);
  clocks.charge(client, took_s, now);
  clocks.step_ends(client);
}

TEST(ClientClocks, WhoHasUsedLeastGoesFirst) {
  ClientClocks clocks;
  use(clocks, "much", 20);
  use(clocks, "little", 10);
  EXPECT_LT(clocks.claim_of("little"), clocks.claim_of("much"));
  EXPECT_LT(clocks.claim_of("nothing"), clocks.claim_of("little"));
}

TEST(ClientClocks, AmongEqualsWhoWasServedLongestAgo) {
  ClientClocks clocks;
  use(clocks, "first", 0);
  use(clocks, "second", 0);
  EXPECT_LT(clocks.claim_of("first"), clocks.claim_of("second"));
  use(clocks, "first", 0);
  EXPECT_LT(clocks.claim_of("second"), clocks.claim_of("first"));
}

TEST(ClientClocks, ARestEarnsNothing) {
  ClientClocks clocks;
  clocks.step_begins("busy");
  clocks.charge("busy", 1000, kNow);
  clocks.step_begins("busier");
  clocks.charge("busier", 5000, kNow);
  clocks.step_ready("new");
  EXPECT_EQ(clocks.claim_of("new").used, clocks.claim_of("busy").used);
  // Who is at work is not lifted again.
  clocks.step_ends("busy");
  clocks.step_ready("new");
  EXPECT_EQ(clocks.claim_of("new").used, clocks.claim_of("busy").used);
}

TEST(ClientClocks, AGuessThatIsTakenBackLeavesNothing) {
  ClientClocks clocks;
  clocks.charge("a", 10, kNow);
  clocks.charge("a", -10, kNow);
  EXPECT_EQ(clocks.claim_of("a").used, 0);
  clocks.charge("a", -10, kNow);
  EXPECT_EQ(clocks.claim_of("a").used, 0);
}

TEST(ClientClocks, UseFadesByHalfInAnHour) {
  ClientClocks clocks;
  use(clocks, "earlier", 100, kNow);
  use(clocks, "now", 49, kNow + hours(1));
  EXPECT_LT(clocks.claim_of("now").used, clocks.claim_of("earlier").used);
  use(clocks, "now", 2, kNow + hours(1));
  EXPECT_GT(clocks.claim_of("now").used, clocks.claim_of("earlier").used);
}

TEST(ClientClocks, TheOrderStaysOverWeeks) {
  ClientClocks clocks;
  for (int day = 0; day < 60; ++day) {
    const Nanoseconds now = hours(24 * day);
    use(clocks, "much", 30, now);
    use(clocks, "little", 10, now);
    EXPECT_LT(clocks.claim_of("little"), clocks.claim_of("much")) << "day " << day;
  }
}

}  // namespace
}  // namespace enginery
