#include "cli/local/engine_session.h"

#include <gtest/gtest.h>

#include "engine/base/parallel.h"

namespace enginery {
namespace {

EngineInfo info_of(std::vector<Dims> inputs) {
  EngineInfo info;
  for (Dims& dims : inputs)
    info.inputs.push_back(
        {"in" + std::to_string(info.inputs.size()), {DataType::float32, std::move(dims)}});
  info.outputs.push_back({"out", {DataType::float32, {2}}});
  return info;
}

TEST(LoadOptions, ThreadsAreTheOnesAskedElseTheAllowedCores) {
  EXPECT_EQ(load_options(3).threads, 3);
  EXPECT_EQ(load_options(std::nullopt).threads, allowed_core_count());
}

TEST(AsLocal, AMissingDriverIsNoMissingCoordinator) {
  EXPECT_EQ(as_local({ErrorCode::unavailable, "no driver"}).code, ErrorCode::incompatible);
  EXPECT_EQ(as_local({ErrorCode::unavailable, "no driver"}).message, "no driver");
  EXPECT_EQ(as_local({ErrorCode::storage, "full"}).code, ErrorCode::storage);
}

TEST(PrecisionText, NamesWhatIsAllowedBeyondFp32) {
  EXPECT_EQ(precision_text({}), "fp32");
  EXPECT_EQ(precision_text({"fp32"}), "fp32");
  EXPECT_EQ(precision_text({"fp32", "tf32", "fp16"}), "tf32,fp16");
}

TEST(BatchOf, IsTheFirstDimensionOfTheFirstInput) {
  EXPECT_EQ(batch_of(info_of({{8, 3}, {2, 3}})), 8);
  EXPECT_EQ(batch_of(info_of({{}})), 1);
  EXPECT_EQ(batch_of(info_of({})), 1);
}

TEST(Buffers, KeepEarlierOutputsAndTheAddressesOfInputs) {
  const EngineInfo info = info_of({{4}});
  Buffers buffers(info);
  Tensor ones(DataType::float32, {4});
  for (float& value : ones.mutable_data<float>()) value = 1;
  buffers.set_input(0, ones);
  ASSERT_EQ(buffers.inputs().size(), 1u);
  EXPECT_EQ(static_cast<const float*>(buffers.inputs()[0])[3], 1);

  static_cast<float*>(buffers.fresh_outputs()[0])[0] = 7;
  const std::vector<Dims> whole = {info.outputs[0].type.dims};
  const auto first = buffers.outputs(whole);
  static_cast<float*>(buffers.fresh_outputs()[0])[0] = 8;
  EXPECT_EQ(first.at("out").data<float>()[0], 7);
  EXPECT_EQ(buffers.outputs(whole).at("out").data<float>()[0], 8);
}

TEST(Buffers, GiveOutputsTheDimsOfTheRun) {
  const EngineInfo info = info_of({{4}});
  Buffers buffers(info);
  ASSERT_EQ(info.outputs[0].type.dims, Dims{2});
  static_cast<float*>(buffers.fresh_outputs()[0])[0] = 7;
  const auto outputs = buffers.outputs(std::vector<Dims>{{1}});
  EXPECT_EQ(outputs.at("out").dims(), Dims{1});
  EXPECT_EQ(outputs.at("out").data<float>()[0], 7);
}

}  // namespace
}  // namespace enginery
