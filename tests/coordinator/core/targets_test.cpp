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
  result.facts = {{"structure", "net"}};
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
    if (!is_in_chain(step, false)) continue;
    const Lookup lookup = asked();
    EXPECT_EQ(lookup.token.kind, step.kind);
    walked.push_back(step.name);
    answer(lookup, leaves(step.leaves));
  }
  EXPECT_EQ(walked.size(), 6u) << "without those of a calibration";
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

// --- what a step's end means

StepCommitted committed(const Queue& queue, uint64_t step, const StepResult& result) {
  const StepRow& row = queue.step(step).row;
  return {row.kind, row.key, row.generation, row.id, row.job, result, {}};
}

struct WaitingTargetTest : TargetsTest {
  // The target of job 1 waits for its validation; the queue forgets the step as it does at an end.
  uint64_t wait_for_validation(uint64_t job = 1) {
    begin(job, make_submit("m", {"x"}));
    answer(asked());
    if (target(job).step == 0) answer(asked());
    return target(job).step;
  }
  Change end(uint64_t step, uint64_t job, const StepResult& result) {
    const StepCommitted event = committed(queue, step, result);
    effects = {};
    Turn t({std::chrono::seconds(1), std::chrono::seconds(1)}, effects);
    return targets.use({job, 0}, event, t);
  }
};

TEST_F(WaitingTargetTest, ItsOwnStepIsBuiltAndAnothersIsJoined) {
  const uint64_t step = wait_for_validation(1);
  EXPECT_EQ(wait_for_validation(2), step);
  EXPECT_EQ(end(step, 1, leaves("")), Change::none);  // looks the next step up
  EXPECT_EQ(target(1).row.uses.at(0).source, Source::built);
  end(step, 2, leaves(""));
  EXPECT_EQ(target(2).row.uses.at(0).source, Source::joined);
  EXPECT_EQ(target(2).row.uses.at(0).step, step);
}

TEST_F(WaitingTargetTest, AFailureEndsItWithTheStepsFault) {
  const uint64_t step = wait_for_validation();
  StepResult failure;
  failure.success = false;
  failure.fault = {ErrorCode::unsupported, "no such operator"};
  EXPECT_EQ(end(step, 1, failure), Change::ended);
  EXPECT_EQ(target(1).row.state, TargetState::failed);
  ASSERT_TRUE(target(1).row.fault);
  EXPECT_EQ(target(1).row.fault->message, "no such operator");
  EXPECT_EQ(target(1).step, 0u);
}

TEST_F(WaitingTargetTest, AStepThatWasGivenUpEndsIt) {
  wait_for_validation();
  effects = {};
  Turn t({std::chrono::seconds(1), std::chrono::seconds(1)}, effects);
  EXPECT_EQ(targets.give_up({1, 0}, {{ErrorCode::unavailable, "three died"}, false, {}}, t),
            Change::ended);
  EXPECT_EQ(target(1).row.fault->message, "three died");
}

TEST_F(WaitingTargetTest, ACancelledTargetIsCancelledOnce) {
  wait_for_validation();
  const auto cancel = [&] {
    effects = {};
    Turn t({std::chrono::seconds(1), std::chrono::seconds(1)}, effects);
    return targets.cancel({1, 0}, t);
  };
  EXPECT_EQ(cancel(), Change::ended);
  EXPECT_EQ(target(1).row.fault->code, ErrorCode::cancelled);
  EXPECT_EQ(cancel(), Change::none);
  EXPECT_TRUE(effects.rows.empty());
}

TEST_F(WaitingTargetTest, AWorkerGetsEverythingThatTheStepNeeds) {
  SubmitRequest request = make_submit("m", {"x"});
  request.inputs = {{"weights", sha256("w"), 7}};
  request.options = "level=4\n";
  begin(1, request);
  answer(asked());
  answer(asked(), leaves(""));  // validated before
  answer(asked());              // the tuning is made
  const uint64_t step = target(1).step;
  ASSERT_NE(step, 0u);
  const RunStep run = targets.run_message(queue.step(step));
  EXPECT_EQ(run.kind, "tune");
  EXPECT_EQ(run.key, queue.step(step).row.key);
  EXPECT_EQ(run.model, request.model);
  EXPECT_EQ(run.engine_key, target(1).keys.engine);
  EXPECT_EQ(run.options, "level=4\n");
  ASSERT_EQ(run.inputs.size(), 1u);
  EXPECT_EQ(run.inputs[0].name, "weights");
  EXPECT_EQ(text_named(run.facts, "key.sku"), "x");
}

TEST_F(WaitingTargetTest, TheNextStepGetsWhatTheEarlierOnesLeft) {
  begin(1, make_submit("m", {"x"}));
  answer(asked());
  answer(asked(), leaves(""));
  StepResult tuned = leaves("choices");
  tuned.facts = {{"notes", "n"}};
  answer(asked(), tuned);
  answer(asked());
  const RunStep run = targets.run_message(queue.step(target(1).step));
  EXPECT_EQ(run.kind, "assemble");
  ASSERT_NE(blob_named(run.inputs, "choices"), nullptr);
  EXPECT_EQ(text_named(run.facts, "notes"), "n");
}

TEST_F(TargetsTest, TakesNoStoredSuccessWithoutTheBlobThatTheStepLeaves) {
  begin(1, make_submit("m", {"x"}));
  answer(asked());
  answer(asked(), leaves(""));
  ASSERT_EQ(asked().token.kind, StepKind::tune);
  EXPECT_EQ(answer(asked(), leaves("another blob")), Change::moved);
  EXPECT_NE(target(1).step, 0u);  // tuned again
}

TEST_F(TargetsTest, AFinishedTargetHasWhatTheStepsMeasured) {
  begin(1, make_submit("m", {"x"}));
  StepResult engine = leaves("engine");
  engine.metrics = {{"latency_ms", 1.5}, {"timings_measured", 4}, {"timings_reused", 2}};
  engine.facts = {{"precision", "fp16"}, {"tune_notes", "int8 is not faster here"}};
  ASSERT_EQ(answer(asked(), engine), Change::ended);
  const TargetRow& row = target(1).row;
  EXPECT_EQ(row.engine, sha256("engine"));
  EXPECT_EQ(row.latency_ms, 1.5);
  EXPECT_EQ(row.timings_measured, 0u);  // an earlier build's
  EXPECT_EQ(row.timings_reused, 6u);
  EXPECT_EQ(row.note, "int8 is not faster here");
  bool added = false;
  for (const RowChange& change : effects.rows)
    if (const auto* add = std::get_if<AddEngine>(&change))
      added = add->engine.precision == "fp16" && add->engine.sku == "x";
  EXPECT_TRUE(added);
}

TEST_F(TargetsTest, ARebuildTakesItsOwnResultsAfterARestart) {
  SubmitRequest request = make_submit("m", {"x"});
  request.rebuild = true;
  TargetRow row;
  const KeyDigests keys = key_digests(
      {request.validate_key, request.targets[0].tune_key, request.targets[0].engine_key});
  row.uses = {{StepKind::validate, step_key_digest(step_of(StepKind::validate), keys, {}), 2, 5,
               Source::built}};
  turn([&](Turn& t) {
    targets.add(1, request, {row});
    return targets.begin({1, 0}, t);
  });
  StepResult earlier = leaves("");
  earlier.generation = 1;  // before the rebuild
  const Lookup lookup = asked();
  ASSERT_EQ(lookup.token.kind, StepKind::validate);
  EXPECT_EQ(answer(lookup, earlier), Change::moved);  // made again
  EXPECT_NE(target(1).step, 0u);

  turn([&](Turn& t) {
    targets.add(2, request, {row});
    return targets.begin({2, 0}, t);
  });
  EXPECT_NE(target(2).step, 0u);  // in flight by now

  SubmitRequest alone = request;
  alone.validate_key[0].value = "another model";
  const KeyDigests its_keys =
      key_digests({alone.validate_key, alone.targets[0].tune_key, alone.targets[0].engine_key});
  row.uses[0].key = step_key_digest(step_of(StepKind::validate), its_keys, {});
  turn([&](Turn& t) {
    targets.add(3, alone, {row});
    return targets.begin({3, 0}, t);
  });
  StepResult own = leaves("");
  own.generation = 2;
  EXPECT_EQ(answer(asked(), own), Change::none);  // goes on to the next step
  EXPECT_EQ(target(3).row.uses.at(0).source, Source::built);
}

TEST_F(TargetsTest, SaysWhatItWaitsFor) {
  const Now now{std::chrono::seconds(1), std::chrono::seconds(1)};
  begin(1, make_submit("m", {"x"}));
  EXPECT_EQ(targets.why_waiting(target(1), now), "asks the catalog");
  answer(asked());
  answer(asked());
  EXPECT_TRUE(targets.why_waiting(target(1), now).starts_with("waits for any worker"));
  turn([&](Turn& t) {
    queue.leave(target(1).step, {1, 0});
    return targets.cancel({1, 0}, t);
  });
  EXPECT_EQ(targets.why_waiting(target(1), now), "");
}

}  // namespace
}  // namespace enginery
