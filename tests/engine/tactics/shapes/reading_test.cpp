// Conditions and sizes that every reader of problems shares.
#include "engine/tactics/shapes/reading.h"

#include "engine/device/format_convert.h"
#include "tests/engine/tactics/shapes/by_definition.h"

namespace enginery {
namespace {

Problem of_dims(const Dims& dims) {
  Problem problem;
  problem.inputs = problem.outputs = {TensorDesc{{DataType::float32, dims}}};
  return problem;
}

// Kernels count elements, and a grid's last block beyond them, in 31 bits.
TEST(RequireStatic, LeavesRoomForALastBlockBelow2To31) {
  EXPECT_TRUE(require_static(of_dims({int64_t{INT32_MAX} - 65536})).ok());
  const Status status = require_static(of_dims({int64_t{INT32_MAX} - 65535}));
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::unsupported);
  EXPECT_NE(status.error().message.find("more than 2^31 elements"), std::string::npos);
  EXPECT_FALSE(require_static(of_dims({1 << 16, 1 << 16})).ok());
}

TEST(RequireStatic, LooksAtEveryPresentTensor) {
  Problem problem = of_dims({2, 3});
  problem.inputs.push_back({{DataType::float32, {kDynamic, 3}}});
  EXPECT_NE(require_static(problem).error().message.find("run-time sizes"), std::string::npos);
  problem.inputs[1].present = false;
  EXPECT_TRUE(require_static(problem).ok());
  problem.outputs[0].type.dims[1] = kDynamic;
  EXPECT_FALSE(require_static(problem).ok());
}

TEST(LayoutStrides, AreThoseOfTheStorage) {
  const Layout layouts[] = {{}, {LayoutKind::channels_last, 0}, {LayoutKind::channels_last, 8}};
  for (const Dims& dims :
       {Dims{2, 5, 7}, Dims{2, 5, 3, 4}, Dims{1, 8, 1, 6}, Dims{3, 1, 2, 2, 5}}) {
    for (const Layout& layout : layouts) {
      const Placement placement(dims, layout);
      const Dims strides = layout_strides(dims, layout), logical = strides_of(dims);
      for (size_t d = 0; d < dims.size(); ++d) {
        if (dims[d] == 1) continue;
        EXPECT_EQ(strides[d], placement.offset(logical[d]))
            << to_string(dims) << " " << to_string(layout) << " dimension " << d;
      }
    }
  }
}

TEST(ChannelsLastFormat, PadsOnlyChannelsThatNeedIt) {
  EXPECT_EQ(to_string(channels_last_format(DataType::float16, 16)), "float16:nhwc");
  EXPECT_EQ(to_string(channels_last_format(DataType::float16, 17)), "float16:nhwc8");
  for (int64_t channels = 1; channels <= 24; ++channels) {
    const Format format = channels_last_format(DataType::float32, channels);
    EXPECT_EQ(padded_channels({1, channels, 2, 2}, format.layout), padded_to_8(channels));
  }
}

TEST(Sizes, AreRoundedUpAndAxesWrapped) {
  EXPECT_EQ(divide_up(0, 8), 0);
  EXPECT_EQ(divide_up(8, 8), 1);
  EXPECT_EQ(divide_up(9, 8), 2);
  EXPECT_EQ(round_up(17, 16), 32);
  EXPECT_EQ(round_up(32, 16), 32);
  EXPECT_EQ(wrapped(-1, 4), 3);
  EXPECT_EQ(wrapped(-4, 4), 0);
  EXPECT_EQ(wrapped(3, 4), 3);
}

TEST(PrecisionOfStorage, IsThatOfTheNarrowTypes) {
  for (const Precision p : {Precision::fp16, Precision::bf16, Precision::fp32})
    EXPECT_EQ(precision_of_storage(storage_of_precision(p)), p);
  EXPECT_EQ(storage_of_precision(Precision::tf32), DataType::float32);
  for (DataType type : {DataType::float32, DataType::int32, DataType::boolean})
    EXPECT_EQ(precision_of_storage(type), Precision::fp32);
}

TEST(PrecisionOfStorage, OfTwoTypesIsTheLessPreciseOne) {
  using enum DataType;
  EXPECT_EQ(precision_of_storage(float32, float16), Precision::fp16);
  EXPECT_EQ(precision_of_storage(float16, float32), Precision::fp16);
  EXPECT_EQ(precision_of_storage(float16, bfloat16), Precision::bf16);
  EXPECT_EQ(precision_of_storage(bfloat16, float32), Precision::bf16);
  EXPECT_EQ(precision_of_storage(float32, float32), Precision::fp32);
}

}  // namespace
}  // namespace enginery
