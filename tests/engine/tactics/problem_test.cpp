#include "engine/tactics/problem.h"

#include <gtest/gtest.h>

#include "engine/tactics/cpu/reference/reference_source.h"
#include "engine/tactics/shapes/fully_connected.h"
#include "tests/support/problem_text.h"

namespace enginery {
namespace {

constexpr const char* kConvolution =
    "conv strides=[1,1] dilations=[1,1] pads_begin=[1,1] pads_end=[1,1] | float32[1x8x5x5] "
    "w:float32[4x8x3x3] | bias "
    "w:float32[4] | add float32[1x4x5x5] | act kind=relu";

Problem parsed(const std::string& text) {
  auto p = parse_problem(text);
  EXPECT_TRUE(p.ok()) << p.error().message;
  return *p;
}

TEST(ProblemKey, SaysEverythingThatSelectsATactic) {
  EXPECT_EQ(parsed(kConvolution).key(),
            "conv strides=[1,1] dilations=[1,1] pads_begin=[1,1] pads_end=[1,1] groups=1 | "
            "float32[1x8x5x5] "
            "w:float32[4x8x3x3] w:float32[4] float32[1x4x5x5] -> float32[1x4x5x5] | bias 2 | add 3 "
            "| act kind=relu alpha=0 "
            "beta=0");
}

TEST(ProblemKey, HoldsIntegerConstantsButNoWeights) {
  std::string a = parsed("slice | float32[4x4] int64[1]={0} int64[1]={2}").key();
  std::string b = parsed("slice | float32[4x4] int64[1]={1} int64[1]={3}").key();
  EXPECT_NE(a, b);
  EXPECT_NE(a.find("w:int64[1]=[0]"), std::string::npos) << a;
}

TEST(ProblemKey, TellsReformatsApart) {
  TensorType type{DataType::float32, {1, 3, 4, 4}};
  Format linear{}, last{DataType::float32, {LayoutKind::channels_last, 0}};
  EXPECT_NE(reformat_problem(type, linear, last).key(), reformat_problem(type, last, linear).key());
  EXPECT_TRUE(is_reformat(reformat_problem(type, linear, last)));
  EXPECT_FALSE(is_reformat(parsed("identity | float32[1x3x4x4]")));
}

TEST(FlopCount, CountsMultiplicationsAndAdditions) {
  // 25 pixels x 4 channels x (2 x 72 + three epilogue steps).
  EXPECT_EQ(flop_count(parsed(kConvolution)), 25 * 4 * (2 * 72 + 3));
  EXPECT_EQ(flop_count(parsed("gemm transpose_b=true | float32[3x7] w:float32[5x7]")),
            2 * 3 * 5 * 7);
  EXPECT_EQ(flop_count(parsed("lrn size=5 alpha=1 beta=1 bias=1 | float32[1x3x2x2]")), 12 * 18);
  EXPECT_EQ(
      flop_count(parsed("lrn size=4611686018427387904 alpha=1 beta=1 bias=1 | float32[1x1x1x1]")),
      0x1p63);
  EXPECT_EQ(flop_count(parsed("conv strides=[1,1] dilations=[1,1] pads_begin=[1,1] pads_end=[1,1] "
                              "groups=8 | float32[1x8x5x5] "
                              "w:float32[8x1x3x3]")),
            25 * 8 * 2 * 9);
}

TEST(LeastBytes, CountsEveryTensorOnce) {
  EXPECT_EQ(least_bytes(parsed(kConvolution)), 4 * (200 + 288 + 4 + 100 + 100));
}

TEST(Problem, SaysWhatSourcesOfACpuCannotTake) {
  EXPECT_TRUE(require_elements(parsed(kConvolution)).ok());
  Problem p = parsed("act kind=relu | float32[2x3]");
  p.inputs[0].type.dims[0] = kDynamic;
  EXPECT_NE(require_elements(p).error().message.find("run-time sizes"), std::string::npos);
  EXPECT_FALSE(require_elements(parsed("act kind=relu | float32[0x3]")).ok());
  p = parsed("act kind=relu | float32[2x3]");
  p.inputs.clear();
  EXPECT_EQ(require_elements(p).error().code, ErrorCode::unsupported);
  // An absent input has no size that could be wrong.
  p = parsed("resize mode=nearest coordinates=asymmetric | float32[1x8x4x4] _ int64[4]={1,8,8,8}");
  p.inputs[1].type.dims = {0};
  EXPECT_TRUE(require_elements(p).ok());
}

TEST(Problem, IsOneOfItsOperators) {
  const Problem p = parsed("softmax axis=1 | float32[2x3]");
  EXPECT_TRUE(is_one_of<Softmax>(p));
  EXPECT_TRUE((is_one_of<Gemm, Softmax>(p)));
  EXPECT_FALSE((is_one_of<Gemm, MatMul>(p)));
  EXPECT_EQ(input_dims(p, 0), (Dims{2, 3}));
  EXPECT_EQ(output_dims(p), (Dims{2, 3}));
}

TEST(ProblemKey, HoldsTheDigestOfManyValuesAndTheFloatsOfFew) {
  Problem p = parsed("pad mode=constant | float32[2x3] int64[4]={0,1,0,1} w:float32[1]");
  p.inputs[2].value = Tensor::of<float>({1}, {0.5f});
  EXPECT_NE(p.key().find("=[0.5]"), std::string::npos) << p.key();
  Tensor many = Tensor::of<int64_t>({65}, std::vector<int64_t>(65, 0));
  p.inputs[1].value = many;
  const std::string zeros = p.key();
  many.mutable_data<int64_t>()[64] = 1;
  p.inputs[1].value = many;
  EXPECT_NE(p.key(), zeros);
  EXPECT_LT(p.key().size(), 250u) << "a digest stands for many values";
}

TEST(TacticKey, NamesSourceIdAndFormats) {
  Tactic tactic;
  tactic.source = "onednn";
  tactic.id = "brgconv:avx512_core";
  Format last{DataType::float32, {LayoutKind::channels_last, 0}};
  tactic.inputs = {last, {}, {}};
  tactic.outputs = {last};
  EXPECT_EQ(tactic_key(tactic), "onednn:brgconv:avx512_core(float32:nhwc->float32:nhwc)");
  tactic.inputs[2] = last;
  EXPECT_EQ(tactic_key(tactic),
            "onednn:brgconv:avx512_core(float32:nhwc,float32:linear,float32:nhwc->float32:nhwc)");
}

TEST(FullyConnected, IsReadFromGemmAndMatMul) {
  auto fc = read_fully_connected(
      parsed("gemm alpha=0.5 beta=2 transpose_b=true | float32[2x3] w:float32[4x3] w:float32[4]"));
  ASSERT_TRUE(fc);
  EXPECT_EQ(fc->m, 2);
  EXPECT_EQ(fc->n, 4);
  EXPECT_EQ(fc->k, 3);
  EXPECT_TRUE(fc->weights_are_nk);
  EXPECT_EQ(fc->addend, 2);
  Tensor x, w = Tensor::of<float>({4, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}),
            c = Tensor::of<float>({4}, {1, 2, 3, 4});
  std::vector<const Tensor*> weights{nullptr, &w, &c};
  EXPECT_EQ(weights_of(*fc, weights).data<float>()[3], 2.0f);
  EXPECT_EQ(addend_of(*fc, weights).data<float>()[3], 8.0f);
  EXPECT_TRUE(read_fully_connected(parsed("matmul | float32[2x3] w:float32[3x4]")));
  EXPECT_FALSE(read_fully_connected(parsed("matmul | float32[2x3] float32[3x4]")));
  EXPECT_FALSE(read_fully_connected(parsed("matmul | float32[1x2x3] w:float32[3x4]")));
  EXPECT_FALSE(read_fully_connected(parsed("gemm transpose_a=true | float32[3x2] w:float32[3x4]")));
}

TEST(ReferenceEpilogue, AppliesItsStepsInOrder) {
  Problem p = parsed(
      "act kind=relu | float32[1x2x1x2] | bias w:float32[2] | multiply float32[1x1x1x2] | add "
      "float32[1x2x1x2] | "
      "act kind=clip alpha=0 beta=10");
  Tensor x = Tensor::of<float>({1, 2, 1, 2}, {-1, 2, 3, -4}),
         bias = Tensor::of<float>({2}, {1, -1});
  Tensor factor = Tensor::of<float>({1, 1, 1, 2}, {2, 3}),
         addend = Tensor::of<float>({1, 2, 1, 2}, {0, 0, 100, 1});
  std::vector<const Tensor*> inputs{&x, &bias, &factor, &addend};
  auto out = run_problem_reference(p, inputs);
  ASSERT_TRUE(out.ok()) << out.error().message;
  // relu {0,2,3,0}; + bias {1,3,2,-1}; * {2,9,4,-3}; + {2,9,104,-2}; clip.
  auto values = (*out)[0].data<float>();
  EXPECT_EQ(std::vector<float>(values.begin(), values.end()), (std::vector<float>{2, 9, 10, 0}));
}

// The roofline of a strided layer counts what it reads: a projection of stride 2 reads a quarter of
// its pixels.
TEST(ShareRead, IsWhatStridesLeave) {
  const auto share = [](const std::string& kernel, int stride, const std::string& dims,
                        bool whole_rows) {
    const std::string s = std::to_string(stride);
    return share_read(parsed("conv strides=[" + s + "," + s +
                             "] dilations=[1,1] pads_begin=[0,0] pads_end=[0,0] | float32[" + dims +
                             "] w:float32[8x8x" + kernel + "]"),
                      whole_rows);
  };
  EXPECT_DOUBLE_EQ(share("1x1", 1, "1x8x56x56", false), 1);
  EXPECT_DOUBLE_EQ(share("1x1", 2, "1x8x56x56", false), 0.25);
  EXPECT_DOUBLE_EQ(share("1x1", 2, "1x8x56x56", true),
                   0.5);  // rows are skipped, pixels of a row are not
  EXPECT_DOUBLE_EQ(share("1x1", 2, "1x8x7x7", false), 16.0 / 49);
  EXPECT_DOUBLE_EQ(share("3x3", 2, "1x8x57x57", false), 1);
  EXPECT_DOUBLE_EQ(share("2x2", 4, "1x8x16x16", false), 0.25);
  EXPECT_DOUBLE_EQ(share_read(parsed("act kind=relu | float32[1x8x5x5]"), false), 1);
}

TEST(RequireRunTimeData, RefusesConstantsAlone) {
  const auto served = [](const std::string& text) {
    return require_run_time_data(parsed(text)).ok();
  };
  EXPECT_TRUE(served("act kind=relu | float32[1x8x5x5]"));
  EXPECT_FALSE(served("act kind=relu | w:float32[1x8x5x5]"));
  EXPECT_FALSE(served("matmul | w:float32[4x8] w:float32[8x4]"));
  EXPECT_TRUE(served("binary kind=sub | w:float32[4] float32[4]"));
  EXPECT_FALSE(served("binary kind=sub | w:float32[4] w:float32[4]"));
}

TEST(RequireSafeDivision, RefusesWhatMayDivideByZero) {
  const auto served = [](const std::string& text) {
    return require_safe_division(parsed(text)).ok();
  };
  EXPECT_TRUE(served("binary kind=div | int64[3x2] int64[2]={-1,3}"));
  EXPECT_FALSE(served("binary kind=div | int64[3x2] int64[2]={3,0}"));
  EXPECT_FALSE(served("binary kind=mod | int64[3x2] int64[2]={3,0}"));
  EXPECT_FALSE(served("binary kind=fmod | int64[3x2] int64[2]={3,0}"));
  EXPECT_FALSE(served("binary kind=div | int64[4] int64[4]"));
  EXPECT_TRUE(served("binary kind=div | float32[4] float32[4]"));
  EXPECT_TRUE(served("binary kind=add | int64[4] int64[4]"));
}

TEST(GivesAConstant, IsTheIdentityOfAWeightOrAKnownValue) {
  EXPECT_TRUE(gives_a_constant(parsed("identity | w:float32[3]")));
  EXPECT_TRUE(gives_a_constant(parsed("identity | int64[2]={2,3}")));
  EXPECT_FALSE(gives_a_constant(parsed("identity | float32[3]")));
}

}  // namespace
}  // namespace enginery
