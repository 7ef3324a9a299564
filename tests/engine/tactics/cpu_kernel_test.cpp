// The host side of our CPU kernels: what is offered for which problems, and in which formats.
#include <gtest/gtest.h>

#include <algorithm>

#include "engine/device/sku_table.h"
#include "engine/tactics/cpu/kernel/cpu_kernel_source.h"
#include "tests/support/problem_text.h"

namespace enginery {
namespace {

struct Offer {
  std::vector<Tactic> tactics;
  std::string refusal;  // why there is none
};

Offer offer(const std::string& text, const std::string& sku = "cpu-avx2", int threads = 1) {
  DeviceInfo info;
  info.sku = sku;
  info.threads = threads;
  auto source = make_cpu_kernel_source(info).value();
  auto problem = parse_problem(text);
  EXPECT_TRUE(problem.ok()) << text;
  auto tactics = source->offer(*problem, {Precision::fp32});
  if (tactics.ok()) return {*tactics, ""};
  EXPECT_EQ(tactics.error().code, ErrorCode::unsupported);
  return {{}, tactics.error().message};
}

std::vector<std::string> keys(const std::vector<Tactic>& tactics) {
  std::vector<std::string> out;
  for (const Tactic& t : tactics) out.push_back(tactic_key(t));
  return out;
}

const char* const kPointwiseConvolution =
    "conv strides=[1,1] dilations=[1,1] pads_begin=[0,0] pads_end=[0,0] | float32[1x32x7x7] "
    "w:float32[48x32x1x1] w:float32[48]";

std::string depthwise(const std::string& rest) {
  return "conv strides=[1,1] dilations=[1,1] pads_begin=[1,1] pads_end=[1,1] groups=32 | "
         "float32[1x32x9x9] w:float32[32x1x3x3]" +
         rest;
}

// The block of a layout is what the instruction set's registers hold.
TEST(CpuKernels, BlockChannelsByTheirVectors) {
  const std::string relu = "act kind=relu | float32[1x32x5x5]";
  EXPECT_EQ(keys(offer(relu, "cpu-avx2").tactics),
            (std::vector<std::string>{"kernel:pointwise(float32:nhwc->float32:nhwc)",
                                      "kernel:pointwise(float32:linear->float32:linear)",
                                      "kernel:pointwise(float32:nChw8c->float32:nChw8c)"}));
  EXPECT_EQ(keys(offer(relu, "cpu-avx512").tactics)[2],
            "kernel:pointwise(float32:nChw16c->float32:nChw16c)");
  EXPECT_EQ(offer("act kind=relu | float32[1x20x5x5]", "cpu-avx512").tactics.size(), 2u);
}

TEST(CpuKernels, BlockConvProductsOnlyWhereAVectorIsABlock) {
  EXPECT_EQ(offer(kPointwiseConvolution, "cpu-sse41").tactics.size(), 1u);
  EXPECT_EQ(offer(kPointwiseConvolution, "cpu-avx2").tactics.size(), 4u);
}

TEST(CpuKernels, AddAResidualInPlace) {
  const Offer with = offer(std::string(kPointwiseConvolution) + " | add float32[1x48x7x7]");
  ASSERT_FALSE(with.tactics.empty());
  for (const Tactic& t : with.tactics) {
    EXPECT_EQ(t.in_place_operand, 3);
    EXPECT_EQ(t.inputs[3].layout, t.outputs[0].layout) << "it takes over the output's storage";
  }
  EXPECT_EQ(offer(kPointwiseConvolution).tactics[0].in_place_operand, -1);
}

TEST(CpuKernels, NeedWorkspaceForEachThread) {
  const Tactic one = offer(kPointwiseConvolution, "cpu-avx2", 1).tactics[0];
  const Tactic four = offer(kPointwiseConvolution, "cpu-avx2", 4).tactics[0];
  EXPECT_GT(one.workspace_bytes, 0);
  EXPECT_EQ(four.workspace_bytes, 4 * one.workspace_bytes);
  EXPECT_LT(four.estimated_us, one.estimated_us);
}

// Bias, then activations: whatever else is fused, another source must take.
TEST(CpuKernels, TakeBiasAndActivationsAndNoMore) {
  EXPECT_EQ(offer(depthwise("")).tactics.size(), 1u);
  EXPECT_EQ(offer(depthwise(" | bias w:float32[32] | act kind=relu")).tactics.size(), 1u);
  EXPECT_EQ(offer(depthwise(" | act kind=clip alpha=0 beta=6")).tactics.size(), 1u);
  EXPECT_EQ(offer(depthwise(" | bias w:float32[32] | act kind=swish")).tactics.size(), 1u);
  EXPECT_EQ(offer(depthwise(" | act kind=relu | act kind=swish")).tactics.size(), 1u);
  EXPECT_NE(offer(depthwise(" | act kind=relu | bias w:float32[32]")).refusal, "");
  EXPECT_NE(offer(depthwise(" | bias float32[32]")).refusal, "") << "a bias known at run time";
  EXPECT_NE(offer(depthwise(" w:float32[32] | bias w:float32[32]")).refusal, "") << "two biases";
  const std::string sum = std::string(kPointwiseConvolution) + " | add float32[1x48x7x7]";
  EXPECT_EQ(offer(sum + " | act kind=relu").tactics.size(), 4u);
  EXPECT_NE(offer(sum + " | act kind=swish").refusal, "") << "an activation of a sum";
}

// What is between a block's products stays in registers: of activations they know the clip alone.
TEST(CpuKernels, RunBlocksWithNoActivationButAClip) {
  const auto block = [](const std::string& inner, const std::string& last) {
    return depthwise(" | then act(r0) kind=" + inner +
                     " | then conv(r1 w:float32[16x32x1x1]) strides=[1,1] dilations=[1,1] "
                     "pads_begin=[0,0] pads_end=[0,0] | then act(r2) kind=" +
                     last);
  };
  EXPECT_FALSE(offer(block("relu", "relu")).tactics.empty());
  EXPECT_NE(offer(block("swish", "relu")).refusal.find("more than"), std::string::npos);
  EXPECT_NE(offer(block("relu", "swish")).refusal.find("more than"), std::string::npos);
}

// A block reads its input again while it writes: another image may take over what is added, but not
// what the block begins with.
TEST(CpuKernels, KeepTheInputOfABlockThatAddsIt) {
  const auto block = [](const std::string& operands) {
    return "conv strides=[1,1] dilations=[1,1] pads_begin=[0,0] pads_end=[0,0] | "
           "float32[1x16x9x9] w:float32[32x16x1x1] | then conv(r0 w:float32[32x1x3x3]) "
           "strides=[1,1] dilations=[1,1] groups=32 pads_begin=[1,1] pads_end=[1,1] | then "
           "conv(r1 w:float32[16x32x1x1]) strides=[1,1] dilations=[1,1] pads_begin=[0,0] "
           "pads_end=[0,0] | then binary(" +
           operands + ") kind=add";
  };
  for (const Tactic& t : offer(block("0 r2")).tactics) {
    EXPECT_EQ(t.in_place_operand, -1);
    EXPECT_EQ(t.inputs[0], t.outputs[0]) << "what is added lies as the output";
    EXPECT_FALSE(t.reads_pitched);
  }
  const auto other = offer(block("r2 float32[1x16x9x9]")).tactics;
  ASSERT_FALSE(other.empty());
  for (const Tactic& t : other) EXPECT_EQ(t.in_place_operand, 4);
}

// They read floats of four bytes; what lies in others is widened first, or refused.
TEST(CpuKernels, RunRegionsOfPicturesInFloat32Alone) {
  const auto pooled = [](const std::string& type) {
    return "conv strides=[2,2] dilations=[1,1] pads_begin=[1,1] pads_end=[1,1] | " + type +
           "[1x3x12x12] w:" + type + "[16x3x3x3] | then pool(r0) kind=max kernel=[2,2] " +
           "strides=[2,2] dilations=[1,1] pads_begin=[0,0] pads_end=[0,0]";
  };
  const auto averaged = [](const std::string& type) {
    return "global_pool kind=average | " + type + "[1x16x5x5] | then flatten(r0) axis=1 | then " +
           "gemm(r1 w:" + type + "[16x8])";
  };
  EXPECT_FALSE(offer(pooled("float32")).tactics.empty());
  EXPECT_FALSE(offer(averaged("float32")).tactics.empty());
  for (const char* type : {"float16", "bfloat16", "float64"}) {
    EXPECT_TRUE(offer(pooled(type)).tactics.empty()) << type;
    EXPECT_TRUE(offer(averaged(type)).tactics.empty()) << type;
  }
}

TEST(CpuKernels, RunDepthwiseConvolutionsOnlyWithAVectorOfChannels) {
  const char* few =
      "conv strides=[1,1] dilations=[1,1] pads_begin=[1,1] pads_end=[1,1] groups=6 | "
      "float32[1x6x9x9] w:float32[6x1x3x3]";
  EXPECT_NE(offer(few, "cpu-avx2").refusal, "");
  EXPECT_EQ(offer(few, "cpu-sse41").tactics.size(), 1u);
  const char* grouped =
      "conv strides=[1,1] dilations=[1,1] pads_begin=[1,1] pads_end=[1,1] groups=2 | "
      "float32[1x32x9x9] w:float32[32x16x3x3]";
  EXPECT_NE(offer(grouped).refusal.find("not depthwise"), std::string::npos);
}

TEST(CpuKernels, TakeMatrixProductsOfFewRows) {
  EXPECT_EQ(offer("gemm transpose_b=true | float32[8x64] w:float32[33x64]").tactics.size(), 1u);
  EXPECT_NE(offer("matmul | float32[2x64] float32[64x8]").refusal, "");
}

TEST(CpuKernels, TakeMatrixProductsOfMoreRowsAsPixels) {
  const auto tactics = offer("gemm transpose_b=true | float32[9x64] w:float32[33x64]").tactics;
  ASSERT_EQ(tactics.size(), 1u);
  EXPECT_EQ(tactics[0].id, "row_product");
  EXPECT_NE(offer("matmul | float32[9x64] float32[64x8]").refusal, "");
}

TEST(CpuKernels, CutNoBlockInTwo) {
  const auto blocked = [](const char* text) {
    const std::vector<Tactic> tactics = offer(text).tactics;
    return std::ranges::any_of(
        tactics, [](const Tactic& t) { return t.outputs[0].layout.kind == LayoutKind::blocked; });
  };
  EXPECT_TRUE(blocked("concat axis=1 | float32[1x16x7x7] float32[1x8x7x7]"));
  EXPECT_FALSE(blocked("concat axis=1 | float32[1x20x7x7] float32[1x4x7x7]"));
  EXPECT_TRUE(blocked("concat axis=2 | float32[1x24x3x7] float32[1x24x4x7]"));
  EXPECT_FALSE(blocked("split axis=1 sizes=[4,20] | float32[1x24x7x7]"));
}

TEST(CpuKernels, OfferAViewBeforeACopy) {
  const std::vector<Tactic> tactics =
      offer("transpose permutation=[0,2,3,1] | float32[1x12x5x7]").tactics;
  ASSERT_GE(tactics.size(), 2u);
  EXPECT_EQ(tactics.front().view_of, 0);
  EXPECT_EQ(tactics.front().estimated_us, 0);
  EXPECT_EQ(tactics.back().view_of, -1);
  EXPECT_EQ(tactics.back().id, "copy");
}

TEST(CpuKernels, ReverseTheDimensionsWithoutAPermutation) {
  const std::vector<Tactic> tactics = offer("transpose | float32[3x4x5]").tactics;
  ASSERT_FALSE(tactics.empty());
  EXPECT_EQ(tactics.back().id, "copy");
}

TEST(CpuKernels, SayWhyTheyRefuse) {
  EXPECT_EQ(offer("shape | float32[3x7]").refusal, "kernel: shape has no kernel");
  EXPECT_EQ(offer("transpose permutation=[1,0] | w:float32[3x7]").refusal,
            "kernel: constants alone");
  EXPECT_EQ(offer("identity | w:float32[3x7]").refusal, "") << "an output that is a constant";
  EXPECT_NE(offer("act kind=relu | float32[0x7]").refusal.find("empty"), std::string::npos);
  EXPECT_NE(offer("binary kind=pow | int64[3] int64[3]").refusal.find("int64"), std::string::npos);
  EXPECT_NE(offer("reduce kind=mean axes=[0] | int32[2x3x4]").refusal, "") << "integers";
  EXPECT_NE(offer("layer_norm axis=-1 | float32[2x8] float32[1]").refusal, "")
      << "a run-time scale that repeats";
  EXPECT_NE(offer("lrn size=33 alpha=0.5 beta=0.75 bias=1 | float32[1x40x7x7]").refusal, "")
      << "more channels than the kernel's buffer holds";
  EXPECT_NE(offer("reformat | float32[1x3x9x9] | float32:linear -> float32:nChw8c").refusal, "")
      << "padding";
}

TEST(CpuKernels, RefuseIndicesOutsideOfTheirDimensions) {
  const std::string outside = "kernel: an index outside of its dimension";
  for (const std::string start :
       {"gather_nd | float32[3x7] int64[1x2]", "scatter_nd | float32[3x7] int64[1x2]"}) {
    const std::string end = start[0] == 's' ? " float32[1]" : "";
    EXPECT_EQ(offer(start + "={2,-7}" + end).refusal, "") << start;
    EXPECT_EQ(offer(start + "={2,7}" + end).refusal, outside) << start;
    EXPECT_EQ(offer(start + "={-4,6}" + end).refusal, outside) << start;
  }
  EXPECT_EQ(offer("scatter_elements axis=0 | float32[3x7] int64[1x1]={3} float32[1x1]").refusal,
            outside);
}

// As an engine file may ask for it.
TEST(CpuKernels, PrepareNothingForAProblemWithoutInputs) {
  DeviceInfo info;
  info.sku = "cpu-sse41";
  info.threads = 2;
  Problem p = *parse_problem("softmax axis=1 | float32[1x21x9x9]");
  p.inputs.clear();
  p.anchor_inputs = 0;
  Tactic tactic;
  tactic.outputs = {Format{}};
  EXPECT_FALSE(make_cpu_kernel_source(info).value()->prepare(p, tactic, {}).ok());
}

TEST(CpuKernels, PrepareWhatTheyOfferAndNothingElse) {
  DeviceInfo info;
  info.sku = "cpu-sse41";
  info.threads = 2;
  auto source = make_cpu_kernel_source(info).value();
  const Problem p = *parse_problem("softmax axis=1 | float32[1x21x9x9]");
  const std::vector<const Tensor*> no_weights(1, nullptr);
  auto tactics = source->offer(p, {Precision::fp32}).value();
  for (const Tactic& t : tactics) EXPECT_TRUE(source->prepare(p, t, no_weights).ok());
  Tactic other = tactics[0];
  other.id = "softmax_of_tomorrow";
  EXPECT_EQ(source->prepare(p, other, no_weights).error().code, ErrorCode::incompatible);
  other = tactics[0];
  other.outputs[0].layout = {LayoutKind::blocked, 8};
  EXPECT_EQ(source->prepare(p, other, no_weights).error().code, ErrorCode::incompatible);
}

}  // namespace
}  // namespace enginery
