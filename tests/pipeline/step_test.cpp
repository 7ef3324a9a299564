#include "pipeline/step.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

namespace enginery {
namespace {

using Names = std::vector<std::string>;

TEST(Steps, HaveTheNumbersThatAreOnDisk) {
  const std::map<std::string, int> numbers = {{"validate", 0},  {"tune", 1},    {"assemble", 2},
                                              {"verify", 3},    {"profile", 4}, {"sign", 5},
                                              {"calibrate", 6}, {"mix", 7}};
  EXPECT_EQ(steps().size(), numbers.size());
  for (const Step& step : steps()) {
    EXPECT_EQ(static_cast<int>(step.kind), numbers.at(step.name)) << step.name;
    EXPECT_EQ(step.name, to_string(step.kind));
    EXPECT_EQ(&step_of(step.kind), find_step(step.name));
  }
  EXPECT_STREQ(to_string(static_cast<StepKind>(77)), "unknown");
  EXPECT_EQ(find_step("dance"), nullptr);
}

TEST(Steps, ReadOnlyWhatTheModelAndEarlierStepsLeave) {
  std::set<std::string> left = {"model"};
  for (const Step& step : steps()) {
    for (const std::string& name : step.reads)
      EXPECT_TRUE(left.count(name) || name == "unsigned") << step.name;
    if (!step.leaves.empty()) left.insert(step.leaves);
    if (!step.leaves_untuned.empty()) left.insert(step.leaves_untuned);
  }
  EXPECT_EQ(steps().back().leaves, "engine");
}

TEST(Steps, OfATunedTargetFetchWhatTheyRead) {
  EXPECT_EQ(inputs_of(step_of(StepKind::validate), false), Names{"model"});
  EXPECT_EQ(inputs_of(step_of(StepKind::tune), false), Names{"model"});
  EXPECT_EQ(inputs_of(step_of(StepKind::assemble), false), (Names{"model", "choices"}));
  EXPECT_EQ(inputs_of(step_of(StepKind::verify), false), (Names{"model", "content"}));
  EXPECT_EQ(inputs_of(step_of(StepKind::profile), false), (Names{"model", "choices", "content"}));
  EXPECT_EQ(inputs_of(step_of(StepKind::sign), false), Names{"unsigned"});
}

TEST(Steps, TakeTheCalibrationAndWhatStaysInFloatWhereTheyMakeTheNetwork) {
  for (const Step& step : steps()) {
    const bool makes = reads_model(step) && step.kind != StepKind::calibrate;
    EXPECT_EQ(std::ranges::count(step.takes, "calibration"), makes) << step.name;
    EXPECT_EQ(std::ranges::count(step.takes, "float_layers"), makes && step.kind != StepKind::mix)
        << step.name;
    EXPECT_EQ(std::ranges::count(step.takes, "held_out"),
              step.kind == StepKind::mix || step.kind == StepKind::profile)
        << step.name;
  }
}

TEST(Steps, OfAProvisionalTargetKnowNoChoices) {
  EXPECT_EQ(inputs_of(step_of(StepKind::assemble), true), Names{"model"});
  EXPECT_EQ(inputs_of(step_of(StepKind::sign), true), Names{"unsigned"});
}

TEST(Steps, MustLeaveTheBlobThatTheNextOnesRead) {
  EXPECT_EQ(needed_output(step_of(StepKind::validate), false), "");
  EXPECT_EQ(needed_output(step_of(StepKind::tune), false), "choices");
  EXPECT_EQ(needed_output(step_of(StepKind::assemble), false), "content");
  EXPECT_EQ(needed_output(step_of(StepKind::assemble), true), "unsigned");
  EXPECT_EQ(needed_output(step_of(StepKind::verify), false), "");
  EXPECT_EQ(needed_output(step_of(StepKind::profile), false), "unsigned");
}

TEST(Steps, ThatMeasureHaveTheDeviceAlone) {
  Names measuring;
  for (const Step& step : steps())
    if (is_measuring(step.kind)) measuring.push_back(step.name);
  EXPECT_EQ(measuring, (Names{"tune", "profile"}));
}

TEST(Steps, AreNamedForPeople) {
  EXPECT_EQ(doing("tune"), "tuning");
  EXPECT_EQ(doing("verify"), "verifying");
  EXPECT_EQ(doing("something new"), "something new");
}

// Whoever sends a step to another process must know which ones may take it down.
TEST(Steps, ThatRunUntriedCodeMayCrash) {
  Names crashing;
  for (const Step& step : steps())
    if (may_crash(step)) crashing.push_back(step.name);
  EXPECT_EQ(crashing, (Names{"tune", "assemble", "verify", "profile"}));
}

TEST(Steps, OnlyTheSignatureIsTheCoordinatorsOwn) {
  for (const Step& step : steps())
    EXPECT_EQ(step.needs == Needs::signing_key, step.kind == StepKind::sign) << step.name;
}

TEST(Steps, OnlyTheTuningIsShared) {
  for (const Step& step : steps())
    EXPECT_EQ(is_shareable(step), step.kind == StepKind::tune) << step.name;
}

// The tuning runs what nobody had checked: no other step runs where it ran.
TEST(Steps, ThoseAfterTheTuningMayHaveOneRunner) {
  Names reusing, awaited;
  for (const Step& step : steps()) {
    if (can_reuse_runner(step)) reusing.push_back(step.name);
    if (can_reuse_runner(step) && is_runner_awaited(step)) awaited.push_back(step.name);
  }
  EXPECT_EQ(reusing, (Names{"assemble", "verify", "profile"}));
  EXPECT_EQ(awaited, (Names{"assemble", "verify"}));
}

}  // namespace
}  // namespace enginery
