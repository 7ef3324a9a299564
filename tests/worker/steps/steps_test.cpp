#include "worker/steps/step_functions.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "engine/format/engine_file.h"
#include "engine/graph/text.h"
#include "pipeline/result.h"
#include "tests/engine/import/model_builder.h"
#include "tests/worker/faulty_source.h"
#include "tests/worker/small_models.h"
#include "tests/worker/steps/step_fixture.h"

namespace enginery {
namespace {

using namespace test;

TEST(ValidateStep, GivesOneStructureToTwoTrainings) {
  BuildSession one(spec_of(test::convolutions(2, 1))), two(spec_of(test::convolutions(2, 2))),
      other(spec_of(test::convolutions(3, 1)));
  auto a = validate_step(step_in(one)), b = validate_step(step_in(two)),
       c = validate_step(step_in(other));
  ASSERT_TRUE(a.ok() && b.ok() && c.ok());
  EXPECT_EQ(a->facts[0].value, b->facts[0].value);
  EXPECT_NE(a->facts[0].value, c->facts[0].value);
}

TEST(ValidateStep, LogsWhatEachPassMadeOfTheNetwork) {
  BuildSession session(spec_of(test::convolutions(2, 1)));
  StepContext step = step_in(session);
  std::string log;
  step.hooks.log = [&](const std::string& line) { log += line + "\n"; };
  ASSERT_TRUE(validate_step(step).ok());
  for (const Pass& pass : pass_list())
    EXPECT_NE(log.find("after " + std::string(pass.name) + ": "), std::string::npos) << log;
  EXPECT_NE(log.find(" layers, "), std::string::npos) << log;
}

TEST(AssembleStep, GivesTheSameBytesForTheSameChoices) {
  MemoryTimingStore store;
  BuildSession session(spec_of(test::convolutions(2, 1)));
  auto tuned = tune_in(session, store);
  ASSERT_TRUE(tuned.ok()) << tuned.error().message;
  const StepInputs inputs = {{"choices", tuned->blobs["choices"]}};
  auto first = assemble_step(step_in(session, inputs));
  BuildSession fresh(spec_of(test::convolutions(2, 1)));
  auto second = assemble_step(step_in(fresh, inputs));
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(*first->blobs["content"], *second->blobs["content"]);
}

TEST(AssembleStep, RefusesChoicesOfAnotherNetwork) {
  MemoryTimingStore store;
  BuildSession session(spec_of(test::convolutions(2, 1))), other(spec_of(test::convolutions(3, 1)));
  auto tuned = tune_in(session, store);
  ASSERT_TRUE(tuned.ok());
  auto content = assemble_step(step_in(other, {{"choices", tuned->blobs["choices"]}}));
  ASSERT_FALSE(content.ok());
  EXPECT_EQ(content.error().code, ErrorCode::incompatible) << content.error().message;
}

// An engine of one training is right for that model and wrong for the other, which has the same
// structure.
void expect_content_of_one_training(const Bytes& model, const Bytes& retrained) {
  MemoryTimingStore store;
  BuildSession session(spec_of(model)), other(spec_of(retrained));
  auto tuned = tune_in(session, store);
  ASSERT_TRUE(tuned.ok()) << tuned.error().message;
  auto content = assemble_step(step_in(session, {{"choices", tuned->blobs["choices"]}}));
  ASSERT_TRUE(content.ok()) << content.error().message;
  const StepInputs inputs = {{"content", content->blobs["content"]}};
  auto right = verify_step(step_in(session, inputs));
  ASSERT_TRUE(right.ok()) << right.error().message;
  EXPECT_EQ(right->rejected, "");
  auto wrong = verify_step(step_in(other, inputs));
  ASSERT_TRUE(wrong.ok()) << wrong.error().message;
  EXPECT_NE(wrong->rejected, "");
}

TEST(VerifyStep, RejectsTheContentOfAnotherTraining) {
  expect_content_of_one_training(test::convolutions(2, 1), test::convolutions(2, 2));
}

// Rows of a table by index; `last` is the last row's value.
Bytes lookup(int rows, float last) {
  test::ModelBuilder model;
  std::vector<float> table(static_cast<size_t>(rows) * 4, 1.0f);
  std::fill(table.end() - 4, table.end(), last);
  model.input("x", {test::Size(3)}, test::kInt64).weights("table", {rows, 4}, table);
  model.node("Gather", {"table", "x"}, {"y"}).output("y");
  return model.bytes();
}

// Ones where the model has such an element, zeros where it does not: either way the last row of
// these tables is looked at.
TEST(VerifyStep, FeedsIntegersThatTheModelHas) {
  for (int rows : {1, 2}) {
    SCOPED_TRACE(rows);
    expect_content_of_one_training(lookup(rows, 5), lookup(rows, 6));
  }
}

// A build at level 0 with planted tactics, step by step in this process.
struct FaultyBuild {
  FaultyBuild(const char* fault, int seed) {
    setenv("ENGINERY_TEST_FAULT", fault, 1);
    BuildSessionSpec spec = spec_of(test::convolutions(2, seed));
    spec.open = test::open_with_faults;
    session.emplace(std::move(spec));
  }
  ~FaultyBuild() { unsetenv("ENGINERY_TEST_FAULT"); }

  Result<StepOutputs> run(Result<StepOutputs> (*step)(const StepContext&), StepInputs inputs) {
    StepContext context = step_in(*session, std::move(inputs));
    context.tuning.timings = &store;
    context.hooks.log = [this](const std::string& line) { log += line + "\n"; };
    return step(context);
  }
  // The content as assembled from the analytic choice.
  StepInputs assembled() {
    auto tuned = run(tune_step, {});
    EXPECT_TRUE(tuned.ok()) << tuned.error().message;
    StepInputs inputs = {{"choices", tuned->blobs["choices"]}};
    auto content = run(assemble_step, inputs);
    EXPECT_TRUE(content.ok()) << content.error().message;
    inputs["content"] = content->blobs["content"];
    return inputs;
  }
  static int planted_in(const Bytes& content) {
    auto file = read_unsigned_engine(shared(content));
    EXPECT_TRUE(file.ok()) << file.error().message;
    return static_cast<int>(
        std::count_if(file->plan.steps.begin(), file->plan.steps.end(), [](const PlanStep& s) {
          return s.tactic.source == "faulty" && s.tactic.id.starts_with("bad");
        }));
  }

  MemoryTimingStore store;
  std::optional<BuildSession> session;
  std::string log;
};

// A small error has digits, too: in a fixed form it would read 0.000000.
TEST(VerifyStep, LogsItsErrorInSignificantDigits) {
  MemoryTimingStore store;
  BuildSession session(spec_of(test::convolutions(2, 1)));
  auto tuned = tune_in(session, store);
  ASSERT_TRUE(tuned.ok()) << tuned.error().message;
  auto content = assemble_step(step_in(session, {{"choices", tuned->blobs["choices"]}}));
  ASSERT_TRUE(content.ok()) << content.error().message;
  StepContext context = step_in(session, {{"content", content->blobs["content"]}});
  std::string log;
  context.hooks.log = [&](const std::string& line) { log += line + "\n"; };
  const auto verified = verify_step(context);
  ASSERT_TRUE(verified.ok()) << verified.error().message;
  const double error = number_named(verified->metrics, "error");
  ASSERT_GT(error, 0) << "the engine is exact: the test shows nothing";
  ASSERT_LT(error, 1e-5) << "six decimals would show it, too";
  const std::string begin = "relative error against the reference ";
  const size_t at = log.find(begin);
  ASSERT_NE(at, std::string::npos) << log;
  EXPECT_NEAR(std::stod(log.substr(at + begin.size())), error, error / 100) << log;
}

TEST(VerifyStep, ReplacesTheTacticOfALayerThatIsWrong) {
  FaultyBuild build("wrong", 1);
  const StepInputs inputs = build.assembled();
  EXPECT_EQ(FaultyBuild::planted_in(*inputs.at("content")), 2);
  auto verified = build.run(verify_step, inputs);
  ASSERT_TRUE(verified.ok()) << verified.error().message;
  EXPECT_EQ(verified->rejected, "");
  ASSERT_TRUE(verified->blobs.count("content") && verified->blobs.count("choices"));
  EXPECT_EQ(FaultyBuild::planted_in(*verified->blobs["content"]), 1) << "the other one is right";
  const std::string said = text_named(verified->facts, "verify_notes");
  EXPECT_NE(said.find("faulty:bad"), std::string::npos) << said;
  EXPECT_NE(said.find("layer '"), std::string::npos) << said;
  EXPECT_EQ(text_named(verified->facts, "content_digest"),
            sha256(*verified->blobs["content"]).text());
  EXPECT_LE(number_named(verified->metrics, "error"), number_named(verified->metrics, "bar"));

  // Every later step and build leaves it alone, whatever the earlier choices were.
  auto again = build.run(assemble_step, {{"choices", inputs.at("choices")}});
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(*again->blobs["content"], *verified->blobs["content"]);
  auto profiled = build.run(profile_step, inputs);
  ASSERT_TRUE(profiled.ok()) << profiled.error().message;
  EXPECT_EQ(*profiled->blobs["content"], *verified->blobs["content"]);
  EXPECT_TRUE(profiled->blobs["unsigned"]->starts_with(*verified->blobs["content"]));
  EXPECT_EQ(FaultyBuild::planted_in(*build.assembled().at("content")), 1);
}

TEST(VerifyStep, NamesLayerAndTacticWhereItGivesUp) {
  FaultyBuild build("hopeless", 1);
  const auto verified = build.run(verify_step, build.assembled());
  ASSERT_TRUE(verified.ok()) << verified.error().message;
  EXPECT_NE(verified->rejected.find("at fault: layer '"), std::string::npos) << verified->rejected;
  EXPECT_NE(verified->rejected.find("faulty:bad7"), std::string::npos) << verified->rejected;
  EXPECT_NE(verified->rejected.find("so were 7 other choices"), std::string::npos)
      << verified->rejected;
  EXPECT_TRUE(verified->blobs.empty());
}

// It says that it fails: no process is needed to find that out.
TEST(VerifyStep, ReplacesATacticThatFails) {
  FaultyBuild build("error", 1);
  const auto verified = build.run(verify_step, build.assembled());
  ASSERT_TRUE(verified.ok()) << verified.error().message;
  EXPECT_EQ(verified->rejected, "");
  EXPECT_EQ(FaultyBuild::planted_in(*verified->blobs.at("content")), 0);
  EXPECT_NE(build.log.find("this one does not run"), std::string::npos) << build.log;
}

// Without a store nothing may be kept against a tactic: the answer is what it always was.
TEST(VerifyStep, RejectsAWrongEngineWhereNothingIsKept) {
  FaultyBuild build("wrong", 1);
  const StepInputs inputs = build.assembled();
  const auto verified = verify_step(step_in(*build.session, inputs));
  ASSERT_TRUE(verified.ok()) << verified.error().message;
  EXPECT_NE(verified->rejected.find("differ from the reference's"), std::string::npos);
  EXPECT_NE(verified->rejected.find("faulty:bad"), std::string::npos) << verified->rejected;
}

TEST(Steps, MissAnInputWithItsName) {
  BuildSession session(spec_of(test::convolutions(1, 1)));
  auto content = assemble_step(step_in(session));
  ASSERT_FALSE(content.ok());
  EXPECT_NE(content.error().message.find("'choices'"), std::string::npos)
      << content.error().message;
}

TEST(RunStep, FindsTheFunctionByTheStepsRow) {
  std::vector<Step> table(steps().begin(), steps().end());
  constexpr StepKind kCalibrate = static_cast<StepKind>(100);
  table.push_back({kCalibrate, "survey", "surveying", {"model"}, "histograms"});
  const StepFunction functions[] = {
      {kCalibrate, [](const StepContext& step) -> Result<StepOutputs> {
         StepOutputs out;
         out.blobs["histograms"] = to_blob("by " + step.worker);
         return out;
       }}};
  BuildSession session(spec_of(test::convolutions(1, 1)));
  const auto done = run_step("survey", step_in(session), functions, table);
  ASSERT_TRUE(done.ok()) << done.error().message;
  EXPECT_EQ(*done->blobs.at("histograms"), "by tester");
  for (const char* unknown : {"validate", "dance"}) {
    const auto refused = run_step(unknown, step_in(session), functions, table);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, ErrorCode::unsupported);
  }
}

TEST(RunStep, HasAFunctionForEveryStepOfAWorker) {
  for (const Step& step : steps()) {
    int found = 0;
    for (const StepFunction& function : step_functions()) found += function.kind == step.kind;
    EXPECT_EQ(found, step.needs == Needs::signing_key ? 0 : 1) << step.name;
  }
}

}  // namespace
}  // namespace enginery
