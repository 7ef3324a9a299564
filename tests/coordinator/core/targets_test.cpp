#include "coordinator/core/targets.h"

#include <gtest/gtest.h>

#include "tests/coordinator/farm_fixture.h"

namespace enginery {
namespace {

// Targets over a queue without workers; the test answers the lookups.
struct TargetsTest : testing::Test {
  CoreOptions options;
  Queue queue{options};
  Targets targets{queue, options};
  Effects effects;  // of the latest turn

  template <typename Event>
  auto turn(Event event) {
    effects = {};
    const Nanoseconds now = std::chrono::seconds(1);
    Turn turn({now, now}, effects);
    auto result = event(turn);
    EXPECT_EQ(queue.check(), "");
    EXPECT_EQ(targets.check(), "");
    return result;
  }
  Change begin(uint64_t job, const SubmitRequest& request) {
    return turn([&](Turn& t) {
      targets.add(job, request, std::vector<TargetRow>(request.targets.size()));
      return targets.begin({job, 0}, t);
    });
  }
  // The lookup that the latest turn asked for.
  Lookup asked() const {
    EXPECT_EQ(effects.lookups.size(), 1u);
    return effects.lookups.empty() ? Lookup{} : effects.lookups[0];
  }
  std::optional<Change> answer(const Lookup& lookup, std::optional<StepResult> result = {}) {
    return turn([&](Turn& t) {
      return targets.looked_up({lookup.token, lookup.key, std::move(result), 1}, t);
    });
  }
  const LiveTarget& target(uint64_t job) const { return targets.target({job, 0}); }
};

StepResult leaves(const std::string& name) {
  StepResult result;
  if (!name.empty()) result.outputs = {{name, sha256(name), 1}};
  return result;
}

TEST_F(TargetsTest, AsksForTheWholeEngineFirst) {
  EXPECT_EQ(begin(1, make_submit("m", {"x"})), Change::none);
  EXPECT_EQ(asked().key, target(1).keys.engine);
  EXPECT_EQ(answer(asked(), leaves("engine")), Change::ended);
  EXPECT_EQ(target(1).row.state, TargetState::done);
  EXPECT_EQ(target(1).row.source, Source::cache);
}

TEST_F(TargetsTest, WalksTheChainOverFinishedResults) {
  begin(1, make_submit("m", {"x"}));
  answer(asked());
  std::vector<std::string> walked;
  for (const Step& step : steps()) {
    const Lookup lookup = asked();
    EXPECT_EQ(lookup.token.kind, step.kind);
    walked.push_back(step.name);
    answer(lookup, leaves(step.leaves));
  }
  EXPECT_EQ(walked.size(), steps().size());
  EXPECT_EQ(target(1).row.state, TargetState::done);
}

TEST_F(TargetsTest, AProvisionalTargetLeavesTheTunedStepsOut) {
  SubmitRequest request = make_submit("m", {"x"});
  request.targets[0].provisional = true;
  request.targets[0].tune_key.clear();
  begin(1, request);
  answer(asked());
  EXPECT_EQ(asked().token.kind, StepKind::validate);
  answer(asked(), leaves(""));
  EXPECT_EQ(asked().token.kind, StepKind::assemble);
  answer(asked(), leaves("unsigned"));
  EXPECT_EQ(asked().token.kind, StepKind::sign);
}

TEST_F(TargetsTest, MakesAStepWhereNothingAnswers) {
  begin(1, make_submit("m", {"x"}));
  answer(asked());
  EXPECT_EQ(answer(asked()), Change::moved);
  ASSERT_NE(target(1).step, 0u);
  EXPECT_EQ(queue.step(target(1).step).row.kind, StepKind::validate);
}

TEST_F(TargetsTest, JoinsAStepThatIsInFlight) {
  for (const uint64_t job : {1, 2}) {
    begin(job, make_submit("m", {"x"}));
    answer(asked());
    if (job == 1) answer(asked());
  }
  EXPECT_NE(target(1).step, 0u);
  EXPECT_EQ(target(2).step, target(1).step);
  ASSERT_FALSE(target(2).row.uses.empty());
  EXPECT_EQ(target(2).row.uses[0].source, Source::joined);
}

TEST_F(TargetsTest, JoinsAStepThatWasMadeWhileItAsked) {
  std::vector<Lookup> lookups;
  for (const uint64_t job : {1, 2}) {
    begin(job, make_submit("m", {"x"}));
    answer(asked());
    lookups.push_back(asked());
  }
  for (const Lookup& lookup : lookups) answer(lookup);
  EXPECT_NE(target(1).step, 0u);
  EXPECT_EQ(target(2).step, target(1).step);
}

TEST_F(TargetsTest, AFailureAnswersAStepButNotTheWholeEngine) {
  StepResult failure;
  failure.success = false;
  failure.fault = {ErrorCode::unsupported, "no such operator"};
  begin(1, make_submit("m", {"x"}));
  EXPECT_EQ(answer(asked(), failure), Change::none);  // goes on with the first step
  EXPECT_EQ(answer(asked(), failure), Change::ended);
  EXPECT_EQ(target(1).row.state, TargetState::failed);
}

TEST_F(TargetsTest, ARebuildReadsNoResultOfAnEarlierBuild) {
  SubmitRequest request = make_submit("m", {"x"});
  request.rebuild = true;
  begin(1, request);
  EXPECT_EQ(asked().token.kind, StepKind::validate);
  EXPECT_EQ(answer(asked(), leaves("")), Change::moved);  // a step was made all the same
  EXPECT_NE(target(1).step, 0u);
}

TEST_F(TargetsTest, IgnoresAnAnswerThatComesTooLate) {
  begin(1, make_submit("m", {"x"}));
  const Lookup first = asked();
  answer(first);
  EXPECT_FALSE(answer(first, leaves("engine")));
  turn([&](Turn& t) { return targets.cancel({1, 0}, t); });
  EXPECT_FALSE(answer(first, leaves("engine")));
  EXPECT_FALSE(answer({{9, 0, StepKind::sign, 0}, first.key}));
  EXPECT_EQ(target(1).row.state, TargetState::cancelled);
}

TEST_F(TargetsTest, BlobsThatDisappearAgainAndAgainEndTheTarget) {
  begin(1, make_submit("m", {"x"}));
  StepGaveUp gone;
  gone.inputs_gone = true;
  const auto again = [&] {
    return turn([&](Turn& t) { return targets.give_up({1, 0}, gone, t); });
  };
  EXPECT_EQ(again(), Change::none);
  EXPECT_EQ(again(), Change::none);
  EXPECT_EQ(again(), Change::ended);
  EXPECT_EQ(target(1).row.fault->code, ErrorCode::corrupt_data);
}

}  // namespace
}  // namespace enginery
