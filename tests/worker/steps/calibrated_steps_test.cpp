// Steps of builds in 8 bits: the calibration, what stays in float, and how near the engine comes.
#include <gtest/gtest.h>

#include <algorithm>

#include "engine/format/engine_file.h"
#include "engine/graph/made_up_inputs.h"
#include "engine/graph/text.h"
#include "pipeline/result.h"
#include "tests/engine/import/model_builder.h"
#include "tests/worker/steps/step_fixture.h"
#include "tuner/accuracy/held_out_rows.h"
#include "tuner/calibrate/table.h"
#include "worker/steps/tuning.h"

namespace enginery {
namespace {

using namespace test;

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
  session.take(NetworkArithmetic::floating);
  EXPECT_FALSE(dequantizes());
  EXPECT_FALSE(session.options().precisions.contains(Precision::int8));
  session.take(NetworkArithmetic::quantized);
  EXPECT_TRUE(dequantizes());
}

TEST(CalibratedBuild, VerifiesAndSaysWhatItWasCalibratedWith) {
  MemoryTimingStore store;
  BuildSession session(calibrated(test::convolutions(2, 1), kScalesOfTwo));
  auto tuned = tune_in(session, store);
  ASSERT_TRUE(tuned.ok()) << tuned.error().message;
  const bool in_float = session.arithmetic() == NetworkArithmetic::floating;
  EXPECT_EQ(tuned->blobs["choices"]->find("\"in_float\":true") != std::string::npos, in_float);
  StepInputs inputs = {{"choices", tuned->blobs["choices"]}};
  BuildSession fresh(session.spec());
  auto content = assemble_step(step_in(fresh, inputs));
  ASSERT_TRUE(content.ok()) << content.error().message;
  inputs["content"] = content->blobs["content"];
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
  inputs["content"] = content->blobs["content"];
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
  EXPECT_NE(done->blobs["unsigned"]->find("accuracy.sqnr_db"), std::string::npos);
  EXPECT_NE(done->blobs["unsigned"]->find(sha256(four_rows()).text()), std::string::npos);
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

// The farm's own calibration of the rows; `spec` names them.
Result<StepOutputs> calibrate_in(BuildSession& session, const Bytes& rows) {
  return calibrate_step(step_in(session, {{"calib_data", shared(rows)}}));
}

BuildSessionSpec calibrating(const Bytes& rows) {
  BuildSessionSpec spec = spec_of(test::convolutions(2, 1));
  spec.options.precisions.insert(Precision::int8);
  spec.options.calib_data = sha256(rows).text();
  spec.options.calibrator = "minmax";
  return spec;
}

TEST(CalibrateStep, LeavesTheHistogramsThatTheBuildIsQuantizedWith) {
  BuildSession session(calibrating(four_rows()));
  auto done = calibrate_in(session, four_rows());
  ASSERT_TRUE(done.ok()) << done.error().message;
  const Bytes& histograms = *done->blobs.at("calibration");
  EXPECT_EQ(text_named(done->facts, "calibration"), sha256(histograms).text());
  EXPECT_EQ(number_named(done->metrics, "calibration_rows"), 4);
  BuildSessionSpec spec = calibrating(four_rows());
  spec.calibration = shared(histograms);
  BuildSession quantized(spec);
  const auto model = quantized.model();
  ASSERT_TRUE(model.ok()) << model.error().message;
  EXPECT_NE(to_text((*model)->imported).find("dequantize"), std::string::npos);
  EXPECT_FALSE(BuildSession(calibrating(four_rows())).model().ok()) << "the scales are missing";
}

TEST(CalibrateStep, KeepsMeansWhereBiasesAreToBeCorrected) {
  BuildSessionSpec spec = calibrating(four_rows());
  spec.options.bias_correction = true;
  BuildSession session(spec), plain(calibrating(four_rows()));
  auto done = calibrate_in(session, four_rows()), without = calibrate_in(plain, four_rows());
  ASSERT_TRUE(done.ok()) << done.error().message;
  ASSERT_TRUE(without.ok()) << without.error().message;
  EXPECT_TRUE(holds_channel_means(*done->blobs.at("calibration")));
  EXPECT_FALSE(holds_channel_means(*without->blobs.at("calibration")));
  spec.calibration = done->blobs.at("calibration");
  BuildSession corrected(spec);
  const auto validated = validate_step(step_in(corrected));
  ASSERT_TRUE(validated.ok()) << validated.error().message;
  EXPECT_EQ(text_named(validated->facts, "bias_correction"), "true");
  const Provenance made = make_provenance(step_in(corrected), sha256("content"), {});
  EXPECT_EQ(std::ranges::count(made.facts,
                               std::pair<std::string, std::string>("bias_correction", "true")),
            1);
}

TEST(CalibrateStep, RefusesRowsOfAnotherModelAndNamesTheLayerOfAnInfinity) {
  BuildSession session(calibrating(four_rows()));
  const Bytes narrow =
      encode_rows({{"x", made_up_input({DataType::float32, {4, 3, 12, 12}}, {-1, 1}, 3)}});
  EXPECT_EQ(calibrate_in(session, narrow).error().code, ErrorCode::invalid_argument);
  Tensor huge(DataType::float32, {1, 4, 12, 12});
  std::ranges::fill(huge.mutable_data<float>(), 3e38f);
  const auto refused = calibrate_in(session, encode_rows({{"x", huge}}));
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find("layer '"), std::string::npos) << refused.error().message;
}

TEST(MixStep, LeavesTheNamesOfTheLayersThatStayInFloat) {
  const auto mixed = [](const std::string& table, const std::string& limit) {
    BuildSession session(held_out(table, four_rows(), limit));
    return mix_step(step_in(session, {{"held_out", shared(four_rows())}}));
  };
  auto none = mixed(kScalesOfTwo, "20");
  ASSERT_TRUE(none.ok()) << none.error().message;
  EXPECT_EQ(*none->blobs.at("float_layers"), "[]");
  EXPECT_EQ(number_named(none->metrics, "int8_layers"), 2);
  // The second layer's scale clips nearly everything.
  auto second = mixed("x: 3c010a14\nr0: 37000000\n", "20");
  ASSERT_TRUE(second.ok()) << second.error().message;
  EXPECT_EQ(number_named(second->metrics, "float_layers"), 1);
  BuildSessionSpec spec = held_out(kScalesOfTwo, four_rows(), "20");
  const auto structure = [](const BuildSessionSpec& of) {
    BuildSession session(of);
    const auto model = session.model();
    EXPECT_TRUE(model.ok()) << model.error().message;
    return model.ok() ? (*model)->structure_digest : Digest();
  };
  const Digest whole = structure(spec);
  spec.float_layers = second->blobs.at("float_layers");
  EXPECT_NE(structure(spec), whole) << "the layer is quantised all the same";
  const auto refused = mixed("x: 37000000\nr0: 37000000\n", "0");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::unsupported);
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
