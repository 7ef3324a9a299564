#include "pipeline/chain.h"

#include <gtest/gtest.h>

#include <limits>

#include "pipeline/keys.h"

namespace enginery {
namespace {

using Names = std::vector<std::string>;

Names chain(Way way, StepTable table = steps()) {
  Names names;
  std::optional<StepKind> done;
  while (const Step* step = next_step(done, way, table)) {
    names.push_back(step->name);
    done = step->kind;
  }
  return names;
}

TEST(Chain, GoesThroughEveryStepOfATunedTarget) {
  EXPECT_EQ(chain(false), (Names{"validate", "tune", "assemble", "verify", "profile", "sign"}));
}

TEST(Chain, NeedsNoDeviceForAProvisionalTarget) {
  EXPECT_EQ(chain(true), (Names{"validate", "assemble", "sign"}));
}

TEST(Chain, CalibratesAndChoosesWhatStaysInFloatBeforeTheModelIsValidated) {
  BuildOptions options;
  options.calib_data = sha256("rows").text();
  EXPECT_EQ(chain(way_of(options, true)), (Names{"calibrate", "validate", "assemble", "sign"}));
  options.held_out = sha256("others").text();
  EXPECT_EQ(chain(way_of(options, false)).size(), 7u) << "without a limit nothing is chosen";
  options.max_accuracy_drop = "0.5";
  EXPECT_EQ(chain(way_of(options, false)), (Names{"calibrate", "mix", "validate", "tune",
                                                  "assemble", "verify", "profile", "sign"}));
  options.calib_data.clear();
  EXPECT_EQ(chain(way_of(options, false)).front(), "validate") << "not calibrated at all";
  options.calibration = sha256("table").text();
  EXPECT_EQ(chain(way_of(options, false)).front(), "mix");
}

StepResult result_with(std::vector<NamedBlob> outputs, std::vector<NamedNumber> metrics = {},
                       std::vector<NamedText> facts = {}) {
  StepResult result;
  result.outputs = std::move(outputs);
  result.metrics = std::move(metrics);
  result.facts = std::move(facts);
  return result;
}

TEST(Chain, GathersByNameWhateverTheOrder) {
  const StepResult one =
      result_with({{"choices", sha256("a"), 1}}, {{"layers", 3}}, {{"notes", "n"}});
  const StepResult two =
      result_with({{"content", sha256("b"), 2}}, {{"bytes", 4}}, {{"facts", "f"}});
  Gathered forward, backward;
  absorb(forward, one);
  absorb(forward, two);
  absorb(backward, two);
  absorb(backward, one);
  EXPECT_EQ(forward, backward);
  ASSERT_EQ(forward.outputs.size(), 2u);
  EXPECT_EQ(forward.outputs[0].name, "choices");
  absorb(forward, result_with({{"choices", sha256("c"), 9}}));
  ASSERT_EQ(forward.outputs.size(), 2u);
  EXPECT_EQ(forward.outputs[0].digest, sha256("c"));
}

TEST(Chain, TakesNoSuccessWithoutTheBlobThatTheStepLeaves) {
  const Step& tune = step_of(StepKind::tune);
  EXPECT_TRUE(answers(result_with({{"choices", sha256("a"), 1}}), tune, false));
  EXPECT_FALSE(answers(result_with({{"content", sha256("a"), 1}}), tune, false));
  EXPECT_TRUE(answers(result_with({}), step_of(StepKind::verify), false));
  StepResult failure;
  failure.success = false;
  EXPECT_TRUE(answers(failure, tune, false));
}

Gathered finished() {
  Gathered out;
  absorb(out, result_with({{"engine", sha256("e"), 77}, {"content", sha256("c"), 50}},
                          {{"latency_ms", 1.5}, {"timings_measured", 4}, {"timings_reused", 2}},
                          {{"content_digest", sha256("d").text()}, {"precision", "fp32"}}));
  return out;
}

TEST(Chain, FinishesWithWhatTheStepsSaid) {
  const auto target = finished_target(finished(), {{StepKind::tune, {}, 1, 3, Source::built}});
  ASSERT_TRUE(target);
  EXPECT_EQ(target->engine.digest, sha256("e"));
  EXPECT_EQ(target->engine.size_bytes, 77u);
  EXPECT_EQ(target->content_digest, sha256("d"));
  EXPECT_EQ(target->precision, "fp32");
  EXPECT_EQ(target->latency_ms, 1.5);
  EXPECT_EQ(target->timings_measured, 4u);
  EXPECT_EQ(target->timings_reused, 2u);
  EXPECT_FALSE(finished_target({}, {}));
}

// A worker wrote it: one line of bounded length.
TEST(Chain, FinishesWithWhatItsStepsSayToPeople) {
  EXPECT_EQ(finished_target(finished(), {})->note, "");
  Gathered gathered = finished();
  gathered.facts.push_back({"tune_notes", "int8 is not faster here:\nin float"});
  EXPECT_EQ(finished_target(gathered, {})->note, "int8 is not faster here: in float");
  gathered.facts.push_back({"assemble_notes", "2 of 3 products in float"});
  EXPECT_EQ(finished_target(gathered, {})->note,
            "int8 is not faster here: in float; 2 of 3 products in float");
  gathered.facts.pop_back();
  gathered.facts.back().value = std::string(9000, 'n');
  EXPECT_EQ(finished_target(gathered, {})->note, std::string(300, 'n'));
}

TEST(Chain, CountsAsMeasuredOnlyWhatThisBuildMeasured) {
  for (const Source source : {Source::cache, Source::joined}) {
    const auto target = finished_target(finished(), {{StepKind::tune, {}, 1, 3, source}});
    ASSERT_TRUE(target);
    EXPECT_EQ(target->timings_measured, 0u);
    EXPECT_EQ(target->timings_reused, 6u);
  }
}

TEST(Chain, TakesTheContentsBlobWhereNoFactNamesItsDigest) {
  Gathered gathered = finished();
  gathered.facts.clear();
  const auto target = finished_target(gathered, {});
  ASSERT_TRUE(target);
  EXPECT_EQ(target->content_digest, sha256("c"));
}

TEST(Chain, SignsWithAllThatWasSaidAndTheContent) {
  Gathered gathered = finished();
  absorb(gathered, result_with({{"choices", sha256("x"), 1}}));
  const StepResult result = signed_result(gathered, {"engine", sha256("new"), 80});
  ASSERT_EQ(result.outputs.size(), 2u);
  EXPECT_EQ(result.outputs[0].digest, sha256("new"));
  EXPECT_EQ(result.outputs[1].name, "content");
  EXPECT_EQ(result.metrics, gathered.metrics);
  EXPECT_EQ(result.facts, gathered.facts);
}

TEST(Chain, IsBuiltWhereAnyStepWas) {
  const auto use = [](Source source) { return StepUse{StepKind::tune, {}, 1, 1, source}; };
  EXPECT_EQ(source_of({}), Source::cache);
  EXPECT_EQ(source_of({use(Source::cache), use(Source::cache)}), Source::cache);
  EXPECT_EQ(source_of({use(Source::cache), use(Source::joined)}), Source::joined);
  EXPECT_EQ(source_of({use(Source::joined), use(Source::built)}), Source::built);
}

TEST(Chain, TakesAStepThatATestAdds) {
  std::vector<Step> table(steps().begin(), steps().end());
  const Step calibrate = {static_cast<StepKind>(100),
                          "survey",
                          "surveying",
                          {"model"},
                          "histograms",
                          Needs::device,
                          KeyRule::chained,
                          InChain::tuned_only};
  table.insert(table.begin() + 3, calibrate);
  table[5].reads.push_back("histograms");
  EXPECT_EQ(chain(false, table),
            (Names{"validate", "survey", "tune", "assemble", "verify", "profile", "sign"}));
  EXPECT_EQ(chain(true, table), (Names{"validate", "assemble", "sign"}));
  EXPECT_EQ(inputs_of(table[5], false, table), (Names{"model", "choices", "histograms"}));
  EXPECT_EQ(inputs_of(table[5], true, table), Names{"model"});
  EXPECT_EQ(doing("survey", table), "surveying");
  EXPECT_EQ(needed_output(step_of(calibrate.kind, table), false), "histograms");
  const std::vector<NamedText> fields = {{"a", "b"}};
  const KeyFields of_target{fields, fields, fields};
  EXPECT_EQ(step_key_digest(table[3], key_digests(of_target, kTrustDomain, table), {}),
            step_key(table[3], of_target, {}).digest());
}

TEST(Chain, EndsBehindItsLastStep) {
  EXPECT_EQ(next_step(StepKind::sign, false), nullptr);
  EXPECT_EQ(next_step(StepKind::sign, true), nullptr);
  EXPECT_EQ(last_step().kind, StepKind::sign);
}

// A target that became provisional goes on behind a step that its chain lacks.
TEST(Chain, GoesOnBehindAStepThatTheChainLacks) {
  const Step* next = next_step(StepKind::tune, true);
  ASSERT_NE(next, nullptr);
  EXPECT_EQ(next->kind, StepKind::assemble);
}

TEST(Chain, KnowsNothingBehindAStepThatTheTableLacks) {
  EXPECT_EQ(next_step(static_cast<StepKind>(77), false), nullptr);
}

TEST(Chain, TheBlobThatAnswersDependsOnTheSortOfBuild) {
  const Step& assemble = step_of(StepKind::assemble);
  const StepResult content = result_with({{"content", sha256("c"), 1}});
  const StepResult unsigned_engine = result_with({{"unsigned", sha256("u"), 1}});
  EXPECT_TRUE(answers(content, assemble, false));
  EXPECT_FALSE(answers(content, assemble, true));
  EXPECT_TRUE(answers(unsigned_engine, assemble, true));
  EXPECT_FALSE(answers(unsigned_engine, assemble, false));
}

TEST(Chain, ALaterStepsValueReplacesAnEarlierOnes) {
  Gathered gathered;
  absorb(gathered, result_with({}, {{"latency_ms", 9}}, {{"precision", "fp32"}}));
  absorb(gathered, result_with({}, {{"latency_ms", 2}}, {{"precision", "fp16"}}));
  EXPECT_EQ(gathered.metrics, (std::vector<NamedNumber>{{"latency_ms", 2}}));
  EXPECT_EQ(gathered.facts, (std::vector<NamedText>{{"precision", "fp16"}}));
}

TEST(Chain, AProvisionalTargetHasNoLatency) {
  Gathered gathered;
  absorb(gathered, result_with({{"engine", sha256("e"), 1}}));
  const auto target = finished_target(gathered, {});
  ASSERT_TRUE(target);
  EXPECT_EQ(target->latency_ms, 0);
  EXPECT_EQ(target->timings_measured + target->timings_reused, 0u);
  EXPECT_FALSE(target->content_digest);
}

}  // namespace
}  // namespace enginery
