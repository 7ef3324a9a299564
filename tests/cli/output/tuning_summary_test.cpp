#include "cli/output/tuning_summary.h"

#include <gtest/gtest.h>

namespace enginery {
namespace {

TEST(TuningSummary, SaysWhatTheGateCosts) {
  EXPECT_EQ(tuning_summary({{"validate", 1},
                            {"tune", 48.2},
                            {"assemble", 2},
                            {"tune_preparing", 21},
                            {"tune_checking", 9.14},
                            {"tune_racing", 14},
                            {"tune_networks", 3}}),
            "tuned in 48 s: 21 s preparing, 9.1 s checking (19 %), 14 s racing, 3.0 s networks");
}

TEST(TuningSummary, SaysNothingWhereNothingWasTuned) {
  EXPECT_EQ(tuning_summary({{"validate", 1}, {"assemble", 2}}), "");
  EXPECT_EQ(tuning_summary({}), "");
}

}  // namespace
}  // namespace enginery
