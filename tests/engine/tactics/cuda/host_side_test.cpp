// The host side of our GPU kernels: what is read out of a problem, divisors, packed weights,
// variants, split-K.
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "engine/tactics/cuda/kernel/conv_launch.h"
#include "engine/tactics/cuda/kernel/conv_mma/variants.h"
#include "engine/tactics/cuda/kernel/conv_mma/wgmma_text.h"
#include "engine/tactics/shapes/gemm_shape.h"
#include "tests/support/problem_text.h"

namespace enginery {
namespace {

constexpr const char* kConv =
    "conv strides=[2,1] dilations=[1,2] pads_begin=[1,2] pads_end=[0,3] | float32[2x5x9x11] "
    "w:float32[7x5x3x3] "
    "w:float32[7] | act kind=relu";

uint64_t divided(uint64_t x, const gpu::Divisor& d) {
  return d.divisor == 1 ? x : (x * d.multiplier >> 32) >> d.shift;
}

TEST(Divisor, DividesEveryNumberBelow2To31) {
  std::mt19937_64 random(7);
  for (int64_t divisor : {1, 2, 3, 5, 7, 31, 32, 33, 49, 196, 641, 1000, 65535, 65537, 1 << 20,
                          715827883, 0x7ffffffe, 0x7fffffff}) {
    const gpu::Divisor d = make_divisor(divisor);
    const auto check = [&](uint64_t x) {
      ASSERT_EQ(divided(x, d), x / static_cast<uint64_t>(divisor)) << x << " / " << divisor;
    };
    for (uint64_t x : {uint64_t{0}, uint64_t{1}, uint64_t{0x7fffffff}}) check(x);
    for (int i = 0; i < 1000; ++i) {
      const uint64_t x = random() % 0x80000000u,
                     multiple = x / static_cast<uint64_t>(divisor) * static_cast<uint64_t>(divisor);
      check(x);
      check(multiple);
      if (multiple) check(multiple - 1);
    }
  }
}

TEST(ConvShape, ReadsSizesStridesPadsAndBias) {
  const ConvShape s = conv_shape(parse_problem(kConv).value()).value();
  EXPECT_EQ(s.n, 2);
  EXPECT_EQ(s.h * 100 + s.w, 911);
  EXPECT_EQ(s.c * 100 + s.k, 507);
  EXPECT_EQ(s.r * 10 + s.s, 33);
  EXPECT_EQ(s.stride_h * 10 + s.stride_w, 21);
  EXPECT_EQ(s.dilation_h * 10 + s.dilation_w, 12);
  EXPECT_EQ(s.pad_h * 1000 + s.pad_w * 100 + s.pad_h_end * 10 + s.pad_w_end, 1203);
  EXPECT_EQ(s.p, (9 + 1 + 0 - 3) / 2 + 1);
  EXPECT_EQ(s.q, 11 + 2 + 3 - 5 + 1);
  EXPECT_EQ(s.bias.input, 2);
  EXPECT_FALSE(s.gemm);
  EXPECT_FALSE(s.pointwise());
  EXPECT_EQ(s.c_pitch(), 8);
  EXPECT_EQ(s.k_pitch(), 8);
  EXPECT_TRUE(s.flat(16));
  EXPECT_FALSE(s.flat(8));
}

TEST(ConvShape, ReadsAGemmWithItsFactors) {
  const ConvShape s =
      conv_shape(parse_problem("gemm alpha=0.5 beta=2 transpose_b=true | float32[3x20] "
                               "w:float32[6x20] w:float32[6]")
                     .value())
          .value();
  EXPECT_TRUE(s.gemm);
  EXPECT_TRUE(s.weights_are_kc);
  EXPECT_EQ(s.m(), 3);
  EXPECT_EQ(s.c, 20);
  EXPECT_EQ(s.k, 6);
  EXPECT_EQ(s.k_pitch(), 6);
  EXPECT_EQ(s.alpha, 0.5f);
  EXPECT_EQ(s.bias.input, 2);
  EXPECT_EQ(s.bias.scale, 2);
  Tensor weights(DataType::float32, {6, 20});
  for (int64_t i = 0; i < 120; ++i)
    weights.mutable_data<float>()[static_cast<size_t>(i)] = static_cast<float>(i);
  EXPECT_EQ(filter_krsc(s, weights)[21], 0.5f * 21);
}

TEST(ConvShape, RefusesWhatIsNoConvolutionByConstants) {
  for (const char* text : {"conv strides=[1,1,1] dilations=[1,1,1] pads_begin=[0,0,0] "
                           "pads_end=[0,0,0] | float32[1x2x3x3x3] w:float32[2x2x2x2x2]",
                           "conv strides=[1,1] dilations=[1,1] pads_begin=[0,0] pads_end=[0,0] | "
                           "float32[1x2x3x3] float32[2x2x1x1]",
                           "gemm transpose_a=true | float32[4x3] w:float32[4x5]",
                           "act kind=relu | float32[1x2x3x3]"}) {
    const auto shape = conv_shape(parse_problem(text).value());
    ASSERT_FALSE(shape.ok()) << text;
    EXPECT_EQ(shape.error().code, ErrorCode::unsupported) << text;
  }
}

TEST(GemmShape, AMatrixByAVectorIsTheRowOfTheTransposedProduct) {
  const GemmShape s =
      gemm_shape(parse_problem("matmul | float32[7x16] float32[16]").value()).value();
  EXPECT_EQ(s.a, 1);
  EXPECT_EQ(s.b, 0);
  EXPECT_EQ(s.m, 1);
  EXPECT_EQ(s.n, 7);
  EXPECT_EQ(s.k, 16);
  EXPECT_EQ(s.b_stride_n, 16);
  EXPECT_EQ(s.b_stride_k, 1);
}

TEST(GemmShape, ABatchThatRepeatsHasStrideZero) {
  const GemmShape s =
      gemm_shape(parse_problem("matmul | float32[3x1x5x16] float32[2x16x8]").value()).value();
  EXPECT_EQ(s.batches, 6);
  EXPECT_EQ(s.a_batch.dims, (std::vector<int64_t>{3, 2}));
  EXPECT_EQ(s.a_batch.strides, (std::vector<int64_t>{80, 0}));
  EXPECT_EQ(s.b_batch.strides, (std::vector<int64_t>{0, 128}));
}

TEST(BroadcastStrides, JoinsNeighboursThatRunOnAndSkipsOnes) {
  BroadcastStrides s;
  for (auto [size, stride] : {std::pair<int64_t, int64_t>{2, 60}, {1, 7}, {3, 20}, {4, 0}, {5, 0}})
    s.append(size, stride);
  EXPECT_EQ(s.dims, (std::vector<int64_t>{6, 20}));
  EXPECT_EQ(s.strides, (std::vector<int64_t>{20, 0}));
}

TEST(LoweredEpilogue, KeepsTheOrderOfStepsAndTheirOperands) {
  const Problem problem =
      parse_problem(
          "conv strides=[1,1] dilations=[1,1] pads_begin=[0,0] pads_end=[0,0] | float32[2x8x4x4] "
          "w:float32[5x8x1x1] w:float32[5] | add float32[2x5x4x4] | act kind=relu | "
          "multiply float32[2x5x1x1]")
          .value();
  const ConvShape shape = conv_shape(problem).value();
  const LoweredEpilogue e = lower_conv_epilogue(problem, shape, DataType::float16).value();
  ASSERT_EQ(e.code.steps.size(), 4u);
  EXPECT_EQ(e.code.steps[0].access, OperandAccess::channel);
  EXPECT_EQ(e.code.steps[1].access, OperandAccess::same);
  EXPECT_EQ(e.code.steps[2].kind, FusedStepKind::activation);
  EXPECT_EQ(e.code.steps[3].kind, FusedStepKind::multiply);
  EXPECT_EQ(e.code.steps[3].access, OperandAccess::image_channel);
  EXPECT_TRUE(e.code.zero_padding) << "5 channels in rows of 8";
  EXPECT_TRUE(e.sources[0].constant);
  EXPECT_EQ(e.sources[1].input, 3);
}

TEST(PackOperand, FillsABiasUpToThePadding) {
  const EpilogueSource bias{OperandAccess::channel, 1, true, 3, {}};
  const EpilogueFrame frame{{1, 3, 2, 2}, 1, 8, {DataType::float16, {}}, false};
  Tensor values(DataType::float32, {3});
  for (size_t i = 0; i < 3; ++i) values.mutable_data<float>()[i] = static_cast<float>(i + 1);
  const std::vector<const Tensor*> weights{nullptr, &values};
  EXPECT_EQ(pack_operand(bias, frame)(weights),
            bytes_of_values(std::vector<float>{3, 6, 9, 0, 0, 0, 0, 0}));
}

TEST(MmaVariants, HaveNamesOfTheirOwnAndFitTheirSm) {
  std::set<std::string> names;
  for (const MmaVariant& v : mma_variants()) {
    EXPECT_TRUE(names.insert(name_of(v)).second) << name_of(v);
    EXPECT_TRUE(v.cluster == 1 || (v.split_k == 1 && v.min_sm >= 90)) << name_of(v);
    EXPECT_LE(threads_of(v), 256) << name_of(v);
    EXPECT_LE(shared_bytes_of(v), (v.wgmma ? 227 : v.min_sm >= 80 ? 163 : 64) * 1024) << name_of(v);
    EXPECT_GE(shared_bytes_of(v), v.stages * (v.bm + v.bn) * v.row_bytes) << name_of(v);
    if (v.cluster > 1) {
      EXPECT_GE(shared_bytes_of(v), v.bm * (v.bn + 8) * 4) << name_of(v);
    }
  }
  // Of few stages the tile of sums decides: a cluster's blocks read one another's, so all of it.
  EXPECT_EQ(shared_bytes_of({64, 256, 64, 1, 32, 64, 2, 1, 90}), 64 * (256 + 8) * 4);
  EXPECT_EQ(name_of({128, 128, 64, 4, 64, 32, 1, 1, 80}), "128x128x64b_s4_w8");
  EXPECT_EQ(name_of({64, 64, 128, 4, 32, 32, 4, 1, 90}), "64x64x128b_s4_c4");
  EXPECT_EQ(name_of({32, 64, 128, 4, 16, 32, 1, 8, 80}), "32x64x128b_s4_k8");
  EXPECT_EQ(name_of({128, 64, 64, 4, 64, 64, 1, 1, 90, true}), "128x64x64b_s4_g2");
}

// A warpgroup has 64 rows at a time and as many columns as wgmma has numbers for.
TEST(MmaVariants, OfWarpgroupsAreTilesThatWgmmaHas) {
  int count = 0;
  for (const MmaVariant& v : mma_variants()) {
    if (!v.wgmma) continue;
    ++count;
    EXPECT_EQ(v.wm % 64, 0) << name_of(v);
    EXPECT_EQ(v.wn, v.bn) << name_of(v);
    EXPECT_TRUE(v.bn % 16 == 0 && v.bn <= 256) << name_of(v);
    EXPECT_TRUE(v.row_bytes == 64 || v.row_bytes == 128) << name_of(v);
    EXPECT_EQ(v.parts(), 1) << name_of(v);
    EXPECT_EQ(threads_of(v), v.bm / v.wm * 128) << name_of(v);
  }
  EXPECT_GT(count, 0);
}

// Of few steps along K a block asks for no more stages than it fills, and one that its last step
// may look into.
TEST(MmaVariants, AskForTheStagesThatTheirStepsFill) {
  const MmaVariant v{128, 64, 64, 4, 64, 32, 1, 1, 80};
  const int stage = (128 + 64) * 64;
  EXPECT_EQ(shared_bytes_of(v, 1), 2 * stage);
  EXPECT_EQ(shared_bytes_of(v, 2), 3 * stage);
  EXPECT_EQ(shared_bytes_of(v, 3), 4 * stage);
  EXPECT_EQ(shared_bytes_of(v, 100), 4 * stage);
}

TEST(WgmmaText, NamesTheSumsAndTheTypes) {
  const std::string halves = wgmma_text(DataType::float16, 64, 128);
  EXPECT_NE(halves.find("m64n64k16.f32.f16.f16 {%0,%1,"), std::string::npos) << halves;
  EXPECT_NE(halves.find("%31}, %32, %33, p, 1, 1, 0, 0;"), std::string::npos) << halves;
  EXPECT_NE(halves.find("\"+f\"(d[7][3])"), std::string::npos) << halves;
  const std::string bytes = wgmma_text(DataType::uint8, 128, 64);
  EXPECT_NE(bytes.find("m64n128k32.s32.u8.s8"), std::string::npos) << bytes;
  EXPECT_NE(bytes.find("%63}, %64, %65, p;"), std::string::npos) << bytes;
  EXPECT_NE(bytes.find("matrix_descriptor<64>(a)"), std::string::npos) << bytes;
}

TEST(SplitK, AddsALaunchThatSumsThePartsInTheWorkspace) {
  ConvShape shape;
  shape.n = 3;
  shape.p = 5;
  shape.q = 5;
  shape.k = 40;
  EXPECT_EQ(partial_sum_bytes(shape, 1, 64), 0);
  EXPECT_EQ(partial_sum_bytes(shape, 4, 64), 4 * 4 * 75 * 64);
  KernelPlan plan;
  KernelLaunch launch;
  launch.shared_bytes = 1000;
  launch.grid = {7, 1, 4};
  add_split_k(shape, 76800, 8, plan, launch);
  EXPECT_EQ(plan.workspace_bytes, 76800);
  ASSERT_EQ(plan.launches.size(), 1u);
  EXPECT_EQ(plan.launches[0].grid[2], 4u);
  EXPECT_EQ(launch.entry, "reduce_parts");
  EXPECT_EQ(launch.grid[0], 2u) << "75 pixels of 5 vectors in blocks of 256";
  EXPECT_EQ(launch.shared_bytes, 0u);
  EXPECT_EQ(launch.slots.back().source, PointerSource::workspace);
}

TEST(PackFilter, PutsChunksOfChannelsOutsideOfFilterPlaces) {
  const ConvShape shape =
      conv_shape(
          parse_problem("conv strides=[1,1] dilations=[1,1] pads_begin=[0,0] pads_end=[0,0] | "
                        "float32[1x16x4x4] w:float32[2x16x1x2]")
              .value())
          .value();
  Tensor weights(DataType::float32, {2, 16, 1, 2});
  for (int64_t i = 0; i < 64; ++i)
    weights.mutable_data<float>()[static_cast<size_t>(i)] = static_cast<float>(i);
  const std::vector<const Tensor*> inputs{nullptr, &weights};
  EXPECT_EQ(filter_steps(shape, 8), 4);
  const Bytes packed = pack_filter(shape, DataType::float32, 8, 4, false)(inputs);
  ASSERT_EQ(packed.size(), 4u * 4 * 4 * 8) << "rows of k padded to 4";
  const auto at = [&](size_t k, size_t chunk, size_t s, size_t c) {
    float v;
    std::memcpy(&v, packed.data() + 4 * (k * 32 + (chunk * 2 + s) * 8 + c), 4);
    return v;
  };
  EXPECT_EQ(at(1, 1, 1, 3), 32.0f + (8 + 3) * 2 + 1);
  EXPECT_EQ(at(2, 0, 0, 0), 0.0f);
}

}  // namespace
}  // namespace enginery
