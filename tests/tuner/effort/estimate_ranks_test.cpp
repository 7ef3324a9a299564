#include "tuner/effort/estimate_ranks.h"

#include <gtest/gtest.h>

#include <limits>

namespace enginery {
namespace {

constexpr double kFailed = std::numeric_limits<double>::infinity();

Tactic ranked(const std::string& id, double estimated_us) {
  Tactic t;
  t.source = "test";
  t.id = id;
  t.trust = Trust::may_be_wrong;
  t.estimated_us = estimated_us;
  return t;
}

TEST(EstimateRanks, SayWhatPruningByEstimatesCosts) {
  const std::vector<Tactic> tactics{ranked("wide/a", 2), ranked("wide/b", 3), ranked("narrow/c", 1),
                                    ranked("wide/d", 2.5)};
  EXPECT_EQ(ranks_text("PROBLEM", 0.0123, tactics, {12, 10, 16, 11}),
            "ranks: 10.00 us (1.23 % of the network), estimate 3.00: test:wide/b(->); 3 of 3 of "
            "its kind, 1.50 times its least estimate, 3.00 times all's; the first 1, 2, 4, 8 of "
            "each kind: 1.20 1.10 1.00 1.00; PROBLEM");
}

TEST(EstimateRanks, CountOnlyWhatHasBothFigures) {
  const std::vector<Tactic> tactics{ranked("wide/a", 2), ranked("wide/b", 3), ranked("wide/c", 0)};
  const std::string text = ranks_text("P", -1, tactics, {kFailed, 10, 1});
  EXPECT_EQ(text.substr(0, 54), "ranks: 10.00 us, estimate 3.00: test:wide/b(->); 1 of ");
  EXPECT_EQ(ranks_text("P", -1, tactics, {kFailed, kFailed, 1}),
            "ranks: no time beside an estimate; P");
}

}  // namespace
}  // namespace enginery
