// Whose word counts: what the coordinator knows by itself is not asked of a worker, and a client's
// keys are held against what it submits.
#include "tests/coordinator/core/core_harness.h"

namespace enginery {
namespace {

// Finishes the steps that the worker is given until one of the kind comes, which it returns.
RunStep work_up_to(CoreHarness& farm, const std::string& worker, const std::string& kind) {
  std::optional<SyncReply> reply = farm.sync(worker, "x", Idle{});
  for (int i = 0; i < 20; ++i) {
    if (!reply) {
      farm.pass(std::chrono::milliseconds(10));
      reply = farm.heard(worker);
    }
    if (reply && std::holds_alternative<BeIdle>(reply->desired)) {
      reply = farm.sync(worker, "x", Idle{});
      continue;
    }
    const RunStep run = run_of(reply);
    if (run.kind == kind || run.kind.empty()) return run;
    reply = farm.finish(worker, "x", run);
  }
  ADD_FAILURE() << "no step '" << kind << "' came";
  return {};
}

Digest blob_of(const RunStep& run, const std::string& name) {
  const NamedBlob* blob = blob_named(run.inputs, name);
  return blob == nullptr ? Digest{} : blob->digest;
}

TEST(Trust, WhatIsSignedIsWhatWasAssembledWhateverTheWorkerSaysOfIt) {
  CoreHarness farm;
  const SubmitRequest submit = make_submit("m", {"x"});
  farm.submit(submit);
  const RunStep profile = work_up_to(farm, "w", "profile");
  Outcome outcome = outcome_of(farm.store, profile);
  outcome.facts = {{"worker.profile", "somebody else"}, {"worker.assemble", "somebody else"}};
  farm.sync("w", "x", Finished{profile.ref, outcome});
  ASSERT_EQ(farm.to_sign().size(), 1u);
  const UnsignedEngine& engine = farm.to_sign()[0].engine;
  EXPECT_EQ(engine.blob, outcome.outputs.at(0).digest);
  EXPECT_EQ(engine.content, blob_of(profile, "content"));
  EXPECT_EQ(engine.model, submit.model);
  EXPECT_EQ(engine.key, profile.engine_key);
  EXPECT_EQ(engine.sku, "x");
  EXPECT_EQ(engine.worker, "w");
}

TEST(Trust, WhatWasAskedForIsSignedWhateverTheNetworkComputesIn) {
  CoreHarness farm;
  farm.store.add_blob(sha256("table"), 0, 0);
  BuildOptions options;
  options.precisions.insert(Precision::int8);
  options.calibration = sha256("table").text();
  SubmitRequest submit = make_submit("m", {"x"});
  submit.options = to_text(options);
  submit.inputs = {{"calibration", sha256("table"), 5}};
  submit.validate_key.push_back({"calibration", options.calibration});
  submit.targets[0].engine_key.push_back({"calibration", options.calibration});
  farm.submit(submit);
  farm.finish("w", "x", work_up_to(farm, "w", "profile"));
  ASSERT_EQ(farm.to_sign().size(), 1u);
  EXPECT_EQ(farm.to_sign()[0].engine.facts,
            (std::vector<NamedText>{{"requested.precisions", "fp32,int8"}}));
}

TEST(Trust, TheWorkerOfAnEarlierBuildIsKnownFromTheCatalog) {
  CoreHarness farm;
  const JobView first = farm.submit(make_submit("m", {"x"}));
  farm.finish("w", "x", work_up_to(farm, "w", "profile"));
  farm.sign();
  farm.store.remove_blob(engine_of(farm.show(first.id)));
  farm.restart();
  farm.submit(make_submit("m", {"x"}));
  ASSERT_EQ(farm.to_sign().size(), 1u);
  EXPECT_EQ(farm.to_sign()[0].engine.worker, "w");
}

// A later step may leave the content again, and says so: then that is what the signature is for.
TEST(Trust, WhatIsSignedIsTheContentThatWasLeftLast) {
  CoreHarness farm;
  farm.submit(make_submit("m", {"x"}));
  const RunStep profile = work_up_to(farm, "w", "profile");
  Outcome outcome = outcome_of(farm.store, profile);
  farm.store.add_blob(sha256("another content"), 0, 0);
  outcome.outputs.push_back({"content", sha256("another content"), 1});
  farm.sync("w", "x", Finished{profile.ref, outcome});
  ASSERT_EQ(farm.to_sign().size(), 1u);
  EXPECT_EQ(farm.to_sign()[0].engine.content, sha256("another content"));
}

TEST(Trust, NoWorkerLeavesASignedEngine) {
  CoreHarness farm;
  const JobView job = farm.submit(make_submit("m", {"x"}));
  const RunStep profile = work_up_to(farm, "w", "profile");
  Outcome outcome = outcome_of(farm.store, profile);
  farm.store.add_blob(sha256("a signed engine"), 0, 0);
  outcome.outputs.push_back({"engine", sha256("a signed engine"), 1});
  farm.sync("w", "x", Finished{profile.ref, outcome});
  EXPECT_TRUE(farm.to_sign().empty());
  const StepView step = step_of(farm.show(job.id), 4);
  ASSERT_EQ(step.attempts.size(), 1u);
  EXPECT_EQ(step.attempts[0].message,
            "worker w reported the output 'engine', which only the coordinator leaves");
}

// Model B under the keys of model A: the honest submit of A would be answered with B's engine.
TEST(Trust, AModelUnderAnothersKeysIsRefused) {
  CoreHarness farm;
  SubmitRequest lie = make_submit("honest", {"x"});
  lie.model = sha256("poison");
  lie.wait_for_workers = true;
  farm.store.add_blob(lie.model, 0, 0);
  const ErrorReply refused = body_of<ErrorReply>(farm.ask(lie));
  EXPECT_EQ(refused.fault.code, ErrorCode::usage);
  EXPECT_NE(refused.fault.message.find("says model"), std::string::npos) << refused.fault.message;
}

// The model is the key's, but not the structure: the honest models of that structure would be built
// from choices that were made for another one.
TEST(Trust, AStructureThatValidationDidNotFindIsNotTuned) {
  CoreHarness farm;
  SubmitRequest lie = make_submit("m", {"x"}, "net");
  lie.targets[0].tune_key[0].value = "another net";
  const JobView job = farm.submit(lie);
  const RunStep validate = run_of(farm.sync("w", "x", Idle{}));
  ASSERT_EQ(validate.kind, "validate");
  farm.finish("w", "x", validate);
  const Fault fault = fault_of(farm.show(job.id));
  EXPECT_EQ(fault.code, ErrorCode::invalid_argument);
  EXPECT_NE(fault.message.find("another net"), std::string::npos) << fault.message;
  EXPECT_EQ(farm.show(job.id).steps.size(), 1u) << "nothing was tuned";
  // The same from the catalog's answer, and the honest client is not hurt.
  EXPECT_EQ(farm.show(farm.submit(lie).id).state, JobState::failed);
  const JobView honest = farm.submit(make_submit("m", {"x"}, "net"));
  farm.finish("w", "x", work_up_to(farm, "w", "profile"));
  farm.sign();
  EXPECT_EQ(farm.show(honest.id).state, JobState::done);
}

}  // namespace
}  // namespace enginery
