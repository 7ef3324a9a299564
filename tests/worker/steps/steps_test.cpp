#include "worker/steps/step_functions.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "engine/format/engine_file.h"
#include "engine/graph/made_up_inputs.h"
#include "engine/graph/text.h"
#include "pipeline/result.h"
#include "tests/engine/import/model_builder.h"
#include "tests/worker/faulty_source.h"
#include "tests/worker/small_models.h"
#include "tuner/accuracy/held_out_rows.h"
#include "worker/steps/tuning.h"

namespace enginery {
namespace {

BuildSessionSpec spec_of(Bytes model) {
  BuildSessionSpec spec;
  spec.name = "net";
  spec.model_file = "net.onnx";
  spec.model = std::make_shared<const Bytes>(std::move(model));
  spec.model_digest = sha256(*spec.model);
  spec.sku = test::best_cpu_sku();
  spec.options.threads = 1;
  spec.options.level = 0;
  return spec;
}

StepContext step_in(BuildSession& session, StepInputs inputs = {}) {
  return {session, std::move(inputs), "tester", {}, {}};
}

Result<StepOutputs> tune_in(BuildSession& session, TimingStore& store) {
  StepContext step = step_in(session);
  step.tuning.timings = &store;
  return tune_step(step);
}

std::shared_ptr<const Bytes> shared(Bytes bytes) {
  return std::make_shared<const Bytes>(std::move(bytes));
}

TEST(ValidateStep, GivesOneStructureToTwoTrainings) {
  BuildSession one(spec_of(test::convolutions(2, 1))), two(spec_of(test::convolutions(2, 2))),
      other(spec_of(test::convolutions(3, 1)));
  auto a = validate_step(step_in(one)), b = validate_step(step_in(two)),
       c = validate_step(step_in(other));
  ASSERT_TRUE(a.ok() && b.ok() && c.ok());
  EXPECT_EQ(a->facts[0].value, b->facts[0].value);
  EXPECT_NE(a->facts[0].value, c->facts[0].value);
}

TEST(AssembleStep, GivesTheSameBytesForTheSameChoices) {
  MemoryTimingStore store;
  BuildSession session(spec_of(test::convolutions(2, 1)));
  auto tuned = tune_in(session, store);
  ASSERT_TRUE(tuned.ok()) << tuned.error().message;
  const StepInputs inputs = {{"choices", shared(tuned->blobs["choices"])}};
  auto first = assemble_step(step_in(session, inputs));
  BuildSession fresh(spec_of(test::convolutions(2, 1)));
  auto second = assemble_step(step_in(fresh, inputs));
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(first->blobs["content"], second->blobs["content"]);
}

TEST(AssembleStep, RefusesChoicesOfAnotherNetwork) {
  MemoryTimingStore store;
  BuildSession session(spec_of(test::convolutions(2, 1))), other(spec_of(test::convolutions(3, 1)));
  auto tuned = tune_in(session, store);
  ASSERT_TRUE(tuned.ok());
  auto content = assemble_step(step_in(other, {{"choices", shared(tuned->blobs["choices"])}}));
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
  auto content = assemble_step(step_in(session, {{"choices", shared(tuned->blobs["choices"])}}));
  ASSERT_TRUE(content.ok()) << content.error().message;
  const StepInputs inputs = {{"content", shared(content->blobs["content"])}};
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
    StepInputs inputs = {{"choices", shared(tuned->blobs["choices"])}};
    auto content = run(assemble_step, inputs);
    EXPECT_TRUE(content.ok()) << content.error().message;
    inputs["content"] = shared(content->blobs["content"]);
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

TEST(VerifyStep, ReplacesTheTacticOfALayerThatIsWrong) {
  FaultyBuild build("wrong", 1);
  const StepInputs inputs = build.assembled();
  EXPECT_EQ(FaultyBuild::planted_in(*inputs.at("content")), 2);
  auto verified = build.run(verify_step, inputs);
  ASSERT_TRUE(verified.ok()) << verified.error().message;
  EXPECT_EQ(verified->rejected, "");
  ASSERT_TRUE(verified->blobs.count("content") && verified->blobs.count("choices"));
  EXPECT_EQ(FaultyBuild::planted_in(verified->blobs["content"]), 1) << "the other one is right";
  const std::string said = text_named(verified->facts, "verify_notes");
  EXPECT_NE(said.find("faulty:bad"), std::string::npos) << said;
  EXPECT_NE(said.find("layer '"), std::string::npos) << said;
  EXPECT_EQ(text_named(verified->facts, "content_digest"),
            sha256(verified->blobs["content"]).text());
  EXPECT_LE(number_named(verified->metrics, "error"), number_named(verified->metrics, "bar"));

  // Every later step and build leaves it alone, whatever the earlier choices were.
  auto again = build.run(assemble_step, {{"choices", inputs.at("choices")}});
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(again->blobs["content"], verified->blobs["content"]);
  auto profiled = build.run(profile_step, inputs);
  ASSERT_TRUE(profiled.ok()) << profiled.error().message;
  EXPECT_EQ(profiled->blobs["content"], verified->blobs["content"]);
  EXPECT_TRUE(profiled->blobs["unsigned"].starts_with(verified->blobs["content"]));
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
  EXPECT_EQ(FaultyBuild::planted_in(verified->blobs.at("content")), 0);
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
  table.push_back({kCalibrate, "calibrate", "calibrating", {"model"}, "histograms"});
  const StepFunction functions[] = {
      {kCalibrate, [](const StepContext& step) -> Result<StepOutputs> {
         StepOutputs out;
         out.blobs["histograms"] = "by " + step.worker;
         return out;
       }}};
  BuildSession session(spec_of(test::convolutions(1, 1)));
  const auto done = run_step("calibrate", step_in(session), functions, table);
  ASSERT_TRUE(done.ok()) << done.error().message;
  EXPECT_EQ(done->blobs.at("histograms"), "by tester");
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

// A calibrated build at level 0, whose two networks are compared by their estimates.
BuildSessionSpec calibrated(Bytes model, const std::string& table) {
  BuildSessionSpec spec = spec_of(std::move(model));
  spec.options.precisions.insert(Precision::int8);
  spec.calibration = shared("TRT-8601-MinMaxCalibration\n" + table);
  spec.options.calibration = sha256(*spec.calibration).text();
  return spec;
}
const char* const kScalesOfTwo = "x: 3c010a14\nr0: 3c010a14\n";

TEST(CalibratedBuild, IsAboutTheQuantizedNetworkUntilFloatIsTaken) {
  BuildSession session(calibrated(test::convolutions(2, 1), kScalesOfTwo));
  const auto dequantizes = [&] {
    auto model = session.model();
    EXPECT_TRUE(model.ok()) << model.error().message;
    return to_text((*model)->imported).find("dequantize") != std::string::npos;
  };
  EXPECT_TRUE(dequantizes());
  session.take(Arithmetic::floating);
  EXPECT_FALSE(dequantizes());
  EXPECT_FALSE(session.options().precisions.contains(Precision::int8));
  session.take(Arithmetic::quantized);
  EXPECT_TRUE(dequantizes());
}

TEST(CalibratedBuild, VerifiesAndSaysWhatItWasCalibratedWith) {
  MemoryTimingStore store;
  BuildSession session(calibrated(test::convolutions(2, 1), kScalesOfTwo));
  auto tuned = tune_in(session, store);
  ASSERT_TRUE(tuned.ok()) << tuned.error().message;
  const bool in_float = session.arithmetic() == Arithmetic::floating;
  EXPECT_EQ(tuned->blobs["choices"].find("\"in_float\":true") != std::string::npos, in_float);
  StepInputs inputs = {{"choices", shared(tuned->blobs["choices"])}};
  BuildSession fresh(session.spec());
  auto content = assemble_step(step_in(fresh, inputs));
  ASSERT_TRUE(content.ok()) << content.error().message;
  inputs["content"] = shared(content->blobs["content"]);
  auto file = read_unsigned_engine(inputs["content"]);
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(std::ranges::count(file->manifest.precisions, "int8"), in_float ? 0 : 1);
  BuildSession again(session.spec());
  auto verified = verify_step(step_in(again, inputs));
  ASSERT_TRUE(verified.ok()) << verified.error().message;
  EXPECT_EQ(verified->rejected, "");
  EXPECT_EQ(again.arithmetic(), session.arithmetic());
  const Provenance made = make_provenance(step_in(again), sha256("content"), {});
  EXPECT_NE(std::ranges::find(made.facts, std::pair<std::string, std::string>(
                                              "calibration", session.spec().options.calibration)),
            made.facts.end());
}

// The engine of the calibrated network, whether it is the faster one or not.
StepInputs quantized_content(BuildSession& session, TimingStore& store) {
  StepContext step = step_in(session);
  step.tuning.timings = &store;
  auto network = session.network();
  auto target = session.target();
  EXPECT_TRUE(network.ok() && target.ok());
  auto tuned = choose_tactics(step, **network, **target);
  EXPECT_TRUE(tuned.ok()) << tuned.error().message;
  StepInputs inputs = {{"choices", shared(tuned->choices)}};
  auto content = assemble_step(step_in(session, inputs));
  EXPECT_TRUE(content.ok()) << content.error().message;
  inputs["content"] = shared(content->blobs["content"]);
  return inputs;
}

// A calibrated build that is held against the float model on four rows.
BuildSessionSpec held_out(const std::string& table, const Bytes& rows, const std::string& limit) {
  BuildSessionSpec spec = calibrated(test::convolutions(2, 1), table);
  spec.options.held_out = sha256(rows).text();
  spec.options.max_accuracy_drop = limit;
  return spec;
}
Bytes four_rows() {
  return encode_rows({{"x", made_up_input({DataType::float32, {4, 4, 12, 12}}, {-1, 1}, 3)}});
}

Result<StepOutputs> profile_held_out(const std::string& table, const std::string& limit,
                                     std::string& log) {
  MemoryTimingStore store;
  BuildSession session(held_out(table, four_rows(), limit));
  StepInputs inputs = quantized_content(session, store);
  inputs["held_out"] = shared(four_rows());
  StepContext step = step_in(session, inputs);
  step.hooks.log = [&](const std::string& line) { log += line + "\n"; };
  return profile_step(step);
}

TEST(HeldOutBuild, SaysHowNearTheEngineIsToTheFloatModel) {
  std::string log;
  auto done = profile_held_out(kScalesOfTwo, "20", log);
  ASSERT_TRUE(done.ok()) << done.error().message;
  const double sqnr = number_named(done->metrics, "sqnr_db");
  EXPECT_GT(sqnr, 20);
  EXPECT_LT(sqnr, 60) << "8 bits were not computed in";
  EXPECT_EQ(number_named(done->metrics, "accuracy_rows"), 4);
  EXPECT_NE(done->blobs["unsigned"].find("accuracy.sqnr_db"), std::string::npos);
  EXPECT_NE(done->blobs["unsigned"].find(sha256(four_rows()).text()), std::string::npos);
}

// Scales that clip nearly everything.
TEST(HeldOutBuild, IsRefusedWithItsLayersWhereItDropsTooMuch) {
  std::string log;
  const auto refused = profile_held_out("x: 3a03126f\nr0: 3c010a14\n", "1", log);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::unsupported);
  const std::string& said = refused.error().message;
  EXPECT_NE(said.find("more than the 1 % of --max-accuracy-drop"), std::string::npos) << said;
  EXPECT_NE(said.find("each alone in int8: "), std::string::npos) << said;
  EXPECT_EQ(std::ranges::count(log, '\n'), 1 + 2) << "one output, two layers\n" << log;
}

TEST(HeldOutBuild, NeedsItsRows) {
  MemoryTimingStore store;
  BuildSession session(held_out(kScalesOfTwo, four_rows(), ""));
  const auto refused = profile_step(step_in(session, quantized_content(session, store)));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::internal);
}

TEST(CalibratedBuild, OtherScalesGiveTheStructureOfTheFirst) {
  BuildSession one(calibrated(test::convolutions(2, 1), kScalesOfTwo)),
      other(calibrated(test::convolutions(2, 1), "x: 3f800000\nr0: 3f800000\n"));
  auto a = validate_step(step_in(one)), b = validate_step(step_in(other));
  ASSERT_TRUE(a.ok() && b.ok());
  EXPECT_EQ(a->facts[0].value, b->facts[0].value);
}

TEST(CalibratedBuild, NamesTheTensorThatHasNoScale) {
  BuildSession session(calibrated(test::convolutions(2, 1), "x: 3c010a14\n"));
  auto refused = validate_step(step_in(session));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument);
  EXPECT_NE(refused.error().message.find("'r0'"), std::string::npos) << refused.error().message;
}

TEST(CalibratedBuild, Int8WithoutScalesIsRefused) {
  BuildSessionSpec spec = spec_of(test::convolutions(2, 1));
  spec.options.precisions.insert(Precision::int8);
  BuildSession session(std::move(spec));
  auto refused = validate_step(step_in(session));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::unsupported);
  EXPECT_NE(refused.error().message.find("--calib"), std::string::npos);
}

}  // namespace
}  // namespace enginery
