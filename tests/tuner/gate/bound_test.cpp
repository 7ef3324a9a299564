// The error bound: sums in float32 lie within, those in a narrower type outside, at any length.
#include "tuner/gate/bound.h"

#include <cmath>

#include "tests/tuner/gate/gate_support.h"
#include "tuner/gate/comparison.h"
#include "tuner/gate/magnitude.h"

namespace enginery {
namespace {

using test::problem_of;

float as_is(float v) {
  return v;
}
float half(float v) {
  return half_to_float(float_to_half(v));
}
// What tensor cores keep of a float32 factor that nobody rounded.
float tf32(float v) {
  return __builtin_bit_cast(float, __builtin_bit_cast(uint32_t, v) & 0xffffe000u);
}

struct Sums {
  float (*factor)(float);
  float (*partial)(float);
};

// A product [8 x k] x [k x 8], summed one term after another.
std::string error_of(int64_t k, ProbeKind kind, Precision promised, Sums how) {
  const std::string terms = std::to_string(k);
  const Problem problem = problem_of("matmul | float32[8x" + terms + "] float32[" + terms + "x8]");
  Tactic tactic;
  tactic.compute = promised;
  tactic.inputs = {{}, {}};
  const Resolution resolution = resolution_of(problem, tactic);
  const ProbeData data(problem, {kind, 11});
  const auto expected = expected_outputs(problem, data, resolution, {});
  const auto a = data.inputs(resolution)[0].data<float>(),
             b = data.inputs(resolution)[1].data<float>();
  Tensor y(DataType::float32, {8 * 8});
  for (size_t i = 0; i < 64; ++i) {
    float sum = 0;
    for (size_t j = 0; j < static_cast<size_t>(k); ++j)
      sum = how.partial(sum + how.factor(a[i / 8 * static_cast<size_t>(k) + j]) *
                                  how.factor(b[j * 8 + i % 8]));
    y.mutable_data<float>()[i] = sum;
  }
  return compare(y, expected->at(0), arithmetic_of(problem), tactic).wrong;
}

constexpr int64_t kLengths[] = {1, 27, 576, 4608, 9216, 25088};

// 64 updates of 16 rows, the last ones first, without the first `left_out` ones.
std::string error_of_scattered_sums(uint64_t seed, size_t left_out) {
  const Problem problem =
      problem_of("scatter_nd kind=add | float32[16x4] int64[64x1] float32[64x4]");
  Tactic tactic;
  tactic.inputs = {{}, {}, {}};
  const Resolution resolution = resolution_of(problem, tactic);
  const ProbeData data(problem, {ProbeKind::symmetric, seed});
  const auto expected = expected_outputs(problem, data, resolution, {});
  const std::vector<Tensor> in = data.inputs(resolution);
  Tensor y = in[0];
  for (size_t i = 64; i-- > left_out;) {
    const auto row = static_cast<size_t>((in[1].data<int64_t>()[i] + 16) % 16);
    for (size_t j = 0; j < 4; ++j)
      y.mutable_data<float>()[row * 4 + j] += in[2].data<float>()[i * 4 + j];
  }
  return compare(y, expected->at(0), arithmetic_of(problem), tactic).wrong;
}

// Cosines and sums of float64, each result made by `rounded`.
std::string error_of_float64(const std::string& text, double (*result)(double, double),
                             double (*rounded)(double)) {
  const Problem problem = problem_of(text);
  Tactic tactic;
  for (size_t i = 0; i < problem.inputs.size(); ++i) tactic.inputs.push_back({DataType::float64});
  tactic.outputs = {{DataType::float64}};
  const Resolution resolution = resolution_of(problem, tactic);
  const ProbeData data(problem, {ProbeKind::symmetric, 5});
  const auto expected = expected_outputs(problem, data, resolution, {});
  const std::vector<Tensor> in = data.inputs(resolution);
  Tensor y = in[0];
  for (size_t i = 0; i < static_cast<size_t>(y.size()); ++i)
    y.mutable_data<double>()[i] =
        rounded(result(in.front().data<double>()[i], in.back().data<double>()[i]));
  return compare(y, expected->at(0), arithmetic_of(problem), tactic).wrong;
}

TEST(ErrorBound, HoldsFloat64ToItsOwnPlaces) {
  const auto as_double = [](double v) { return v; };
  const auto as_float = [](double v) { return static_cast<double>(static_cast<float>(v)); };
  const auto cosine = [](double x, double) { return std::cos(x); };
  const auto sum = [](double x, double y) { return x + y; };
  EXPECT_EQ(error_of_float64("unary kind=cos | float64[500]", cosine, as_double), "");
  EXPECT_NE(error_of_float64("unary kind=cos | float64[500]", cosine, as_float), "");
  const std::string added = "binary kind=add | float64[500] float64[500]";
  EXPECT_EQ(error_of_float64(added, sum, as_double), "");
  EXPECT_NE(error_of_float64(added, sum, as_float), "");
}

// What cancels in a sum leaves the error of its terms.
TEST(ErrorBound, HoldsForScatteredSumsInAnyOrder) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    EXPECT_EQ(error_of_scattered_sums(seed, 0), "") << seed;
    EXPECT_NE(error_of_scattered_sums(seed, 1), "") << seed;
  }
}

// 1 - 1 is as far off as 1 + 1.
TEST(ErrorBound, OfScatteredSumsGrowsWithTheirTerms) {
  for (const std::string op :
       {"scatter_nd kind=add | float32[1] int64[1x1] float32[1]",
        "scatter_elements kind=add axis=0 | float32[1] int64[1] float32[1]"}) {
    const Problem problem = problem_of(op);
    const Tensor one = Tensor::of<float>({1}, {1}), less = Tensor::of<float>({1}, {-1}),
                 first = Tensor::of<int64_t>(problem.inputs[1].type.dims, {0}),
                 none = Tensor::of<float>({1}, {0});
    const Tensor* inputs[] = {&one, &first, &less};
    EXPECT_EQ(magnitudes_of(problem, inputs, none)->at(0, 0), 2) << op;
  }
}

TEST(ErrorBound, HoldsForSumsInFloat) {
  for (const int64_t k : kLengths) {
    for (const ProbeKind kind : {ProbeKind::symmetric, ProbeKind::wide, ProbeKind::integers}) {
      for (const Precision promised : {Precision::fp32, Precision::tf32, Precision::fp16})
        EXPECT_EQ(error_of(k, kind, promised, {as_is, as_is}), "") << k << " " << to_string(kind);
    }
  }
}

TEST(ErrorBound, ExcludesSumsInHalf) {
  for (const int64_t k : {27, 576, 4608, 9216, 25088})
    EXPECT_NE(error_of(k, ProbeKind::wide, Precision::fp16, {as_is, half}), "") << k;
}

TEST(ErrorBound, ExcludesTf32WhereFloatIsPromised) {
  for (const int64_t k : kLengths)
    EXPECT_NE(error_of(k, ProbeKind::wide, Precision::fp32, {tf32, as_is}), "") << k;
}

// The bar itself, so that nobody widens it unseen.
TEST(ErrorBound, IsThis) {
  Tactic direct, transformed, tensor_cores;
  transformed.algorithm = Algorithm::winograd;
  tensor_cores.compute = Precision::fp16;
  const Arithmetic sum{100, false}, functions{1, true};
  const auto growth = [](const Arithmetic& a, const Tactic& t) {
    return error_bound(a, t, DataType::float32).growth / 0x1p-24;
  };
  EXPECT_EQ(growth(sum, direct), 84);
  EXPECT_EQ(growth(sum, tensor_cores), 184);
  EXPECT_EQ(growth(sum, transformed), 84 * 4);
  EXPECT_EQ(growth(functions, direct), 76);
  EXPECT_EQ(growth(functions, tensor_cores), 4096 + 13);
  Tactic bfloats;
  bfloats.compute = Precision::bf16;
  EXPECT_EQ(growth(functions, bfloats), 8 * 4096 + 13);
  EXPECT_TRUE(error_bound(sum, transformed, DataType::float32).of_largest);
  EXPECT_EQ(error_bound(sum, direct, DataType::float32).rounding, 0x1p-23);
  EXPECT_EQ(error_bound(sum, tensor_cores, DataType::float16).rounding, 0x1p-10);
  EXPECT_EQ(error_bound(sum, tensor_cores, DataType::bfloat16).rounding, 0x1p-7);
}

}  // namespace
}  // namespace enginery
