// What is said of the tactics that a tuning considered: each offered one, with its time or a
// reason.
#include "tuner/explain/considered.h"

#include "tests/tuner/fake_tactics.h"

namespace enginery {
namespace {

using test::Behaviour;
using test::Tuning;

// A source that has nothing for any problem.
class Refusing final : public TacticSource {
 public:
  explicit Refusing(ErrorCode code) : code_(code) {}
  SourceTraits traits() const override { return {"refusing", Trust::may_be_wrong}; }
  Result<std::vector<Tactic>> offer(const Problem&, const std::set<Precision>&) const override {
    return Error{code_, "too few channels"};
  }
  Result<std::shared_ptr<const PreparedTactic>> prepare(const Problem&, const Tactic&,
                                                        Weights) const override {
    return Error{ErrorCode::internal, "never offered"};
  }

 private:
  const ErrorCode code_;
};

struct Considering : Tuning {
  using Tuning::Tuning;
  Result<ConsideredProblem> consider_first(int level, std::optional<int64_t> most = {}) {
    const Problem& problem = network.nodes[0].problem;
    const auto timings = store.find(device_key(device.info()), problem.key());
    return consider(problem, sources, {Precision::fp32}, level, *timings, most);
  }
};

std::string line(const ConsideredTactic& t) {
  return t.tactic.substr(5, t.tactic.find('(') - 5) + " " + std::string(to_string(t.what));
}

TEST(Consider, HasTheTimeOfEachTacticTheFastestFirstAndThenTheFailedOnes) {
  Considering tuning({{"slow", 110}, {"wrong", 50, Behaviour::wrong}, {"fast", 100}});
  ASSERT_TRUE(tuning.select().ok());
  const auto considered = tuning.consider_first(kDefaultLevel);
  ASSERT_TRUE(considered.ok()) << considered.error().message;
  ASSERT_EQ(considered->tactics.size(), 3u);
  EXPECT_EQ(line(considered->tactics[0]), "fast measured");
  EXPECT_NEAR(considered->tactics[0].us, 100, 1);
  EXPECT_EQ(considered->tactics[0].reason, "");
  EXPECT_EQ(line(considered->tactics[1]), "slow measured");
  EXPECT_NEAR(considered->tactics[1].us, 110, 1);
  EXPECT_EQ(line(considered->tactics[2]), "wrong failed");
  EXPECT_TRUE(considered->tactics[2].reason.starts_with("wrong_result: "))
      << considered->tactics[2].reason;
  EXPECT_EQ(considered->problem, tuning.network.nodes[0].problem.key());
}

TEST(Consider, SaysWhyATacticWasNotMeasured) {
  Considering tuning({{"a", 100}, {"b", 100}, {"c", 100}, {"d", 100}});
  TunerOptions options;
  options.level = 2;
  ASSERT_TRUE(tuning.select(nullptr, options).ok());
  const auto at_two = tuning.consider_first(2);
  ASSERT_TRUE(at_two.ok());
  EXPECT_EQ(line(at_two->tactics[3]), "d unmeasured");
  EXPECT_EQ(at_two->tactics[3].reason, "behind the first 3; level 3 measures it");
  Considering untuned({{"a", 100}});
  const auto at_none = untuned.consider_first(0);
  ASSERT_TRUE(at_none.ok());
  EXPECT_EQ(at_none->tactics[0].reason, "level 0 measures nothing");
  EXPECT_NE(untuned.consider_first(3)->tactics[0].reason.find("no timing"), std::string::npos);
}

TEST(Consider, SaysWhichTacticsNeedMoreMemoryThanTheyMay) {
  Considering tuning({{"large", 50, Behaviour::right, 0, 4097}, {"small", 100}});
  const auto considered = tuning.consider_first(0, 4096);
  ASSERT_TRUE(considered.ok());
  ASSERT_EQ(considered->tactics.size(), 2u);
  EXPECT_EQ(line(considered->tactics[0]), "large unmeasured");
  EXPECT_EQ(considered->tactics[0].reason, "needs 4097 bytes of scratch memory, the limit is 4096");
  EXPECT_EQ(considered->tactics[1].reason, "level 0 measures nothing");
  const auto wider = tuning.consider_first(0, 4097);
  ASSERT_TRUE(wider.ok());
  for (const ConsideredTactic& tactic : wider->tactics)
    EXPECT_EQ(tactic.reason, "level 0 measures nothing");
}

TEST(Consider, NamesTheSourcesThatRefuseWithTheirReasons) {
  Considering tuning({{"a", 100}});
  tuning.sources.push_back(std::make_unique<Refusing>(ErrorCode::unsupported));
  const auto considered = tuning.consider_first(0);
  ASSERT_TRUE(considered.ok());
  ASSERT_EQ(considered->refusals.size(), 1u);
  EXPECT_EQ(considered->refusals[0].source, "refusing");
  EXPECT_EQ(considered->refusals[0].reason, "too few channels");
}

TEST(Consider, FailsWhereASourceFails) {
  Considering tuning({{"a", 100}});
  tuning.sources.push_back(std::make_unique<Refusing>(ErrorCode::internal));
  const auto considered = tuning.consider_first(0);
  ASSERT_FALSE(considered.ok());
  EXPECT_EQ(considered.error().message, "too few channels");
}

}  // namespace
}  // namespace enginery
