// Matrix products computed from the strides that GemmShape names.
#include "engine/tactics/shapes/gemm_shape.h"

#include "engine/tactics/shapes/fully_connected.h"
#include "tests/engine/tactics/shapes/by_definition.h"
#include "tests/support/comparison.h"

namespace enginery {
namespace {

using test::element;
using test::Example;
using test::problem_of;

Tensor computed(const Example& example, const GemmShape& s) {
  Tensor y(DataType::float32, output_dims(example.problem));
  auto values = y.mutable_data<float>();
  const auto a = example.input(s.a), b = example.input(s.b);
  for (int64_t i = 0; i < y.size(); ++i) {
    const int64_t n = i % s.n, m = i / s.n % s.m, batch = i / (s.n * s.m);
    double sum = 0;
    for (int64_t k = 0; k < s.k; ++k) {
      sum += element(a, test::place(s.a_batch, batch) + m * s.a_stride_m + k * s.a_stride_k) *
             element(b, test::place(s.b_batch, batch) + k * s.b_stride_k + n * s.b_stride_n);
    }
    values[static_cast<size_t>(i)] = s.alpha * static_cast<float>(sum);
  }
  return y;
}

TEST(GemmShape, DescribesTheProductOfAnyTwoOperands) {
  for (const char* text :
       {"matmul | float32[3x4] float32[4x5]", "matmul | float32[4] float32[4x5]",
        "matmul | float32[3x4] float32[4]", "matmul | float32[2x3x4] float32[4]",
        "matmul | float32[4] float32[2x4x5]", "matmul | float32[2x3x4] float32[2x4x5]",
        "matmul | float32[2x3x4] float32[4x5]", "matmul | float32[3x4] float32[2x4x5]",
        "matmul | float32[2x1x3x4] float32[5x4x2]", "matmul | float32[2x3x1x4] float32[1x3x4x5]",
        "matmul | float32[1x3x4] float32[2x4x1]", "matmul | float32[2x3x1] float32[2x1x5]",
        "gemm | float32[3x4] float32[4x5]", "gemm transpose_a=true | float32[4x3] float32[4x5]",
        "gemm transpose_b=true | float32[3x4] float32[5x4]",
        "gemm transpose_a=true transpose_b=true | float32[4x3] float32[5x4]",
        "gemm alpha=0.25 transpose_a=true | float32[4x3] w:float32[4x5]"}) {
    const Example example(problem_of(text));
    const auto shape = gemm_shape(example.problem);
    ASSERT_TRUE(shape.ok()) << text << ": " << shape.error().message;
    SCOPED_TRACE(text);
    expect_close(computed(example, *shape), example.expected(), 1e-5);
    EXPECT_EQ(shape->batches * shape->m * shape->n, volume(output_dims(example.problem)));
  }
}

TEST(GemmShape, NamesTheAddendAndItsFactor) {
  const GemmShape s =
      gemm_shape(problem_of("gemm alpha=0.5 beta=3 | float32[3x4] float32[4x5] w:float32[5]"))
          .value();
  EXPECT_EQ(s.bias.input, 2);
  EXPECT_EQ(s.bias.scale, 3);
  EXPECT_EQ(s.alpha, 0.5f);
  EXPECT_EQ(gemm_shape(problem_of("gemm beta=3 | float32[3x4] float32[4x5]"))->bias.input, -1);
}

// Neighbouring batch dimensions that run on are one: kernels divide by each that is left.
TEST(GemmShape, JoinsBatchDimensionsThatRunOn) {
  const auto dims = [](const char* text) { return gemm_shape(problem_of(text))->b_batch.dims; };
  EXPECT_EQ(dims("matmul | float32[2x3x4x5x6] float32[2x3x4x6x7]"), (Dims{24}));
  EXPECT_EQ(dims("matmul | float32[2x3x4x5x6] float32[6x7]"), (Dims{24})) << "repeats throughout";
  EXPECT_EQ(dims("matmul | float32[2x3x4x5x6] float32[3x1x6x7]"), (Dims{2, 3, 4}));
  EXPECT_TRUE(dims("matmul | float32[1x1x5x6] float32[1x1x6x7]").empty());
}

TEST(GemmShape, SaysWhyAProblemIsNone) {
  const std::pair<const char*, const char*> rows[] = {
      {"matmul | int32[3x4] int32[4x5]", "a matrix product of integers"},
      {"matmul | float32[4] float32[4]", "no elements, or one alone"},
      {"matmul | float32[0x4] float32[4x5]", "no elements, or one alone"},
      {"matmul | float32[3x0] float32[0x5]", "no elements, or one alone"},
      {"softmax axis=1 | float32[3x4]", "no matrix product"}};
  for (const auto& [text, reason] : rows) {
    const auto shape = gemm_shape(problem_of(text));
    ASSERT_FALSE(shape.ok()) << text;
    EXPECT_EQ(shape.error().code, ErrorCode::unsupported);
    EXPECT_EQ(shape.error().message, reason) << text;
  }
}

// y = factor * x * W + addend, from the parts that sources pack.
Tensor computed(const Example& example, const FullyConnected& fc) {
  const Tensor weights = weights_of(fc, example.data.weights);
  const Tensor addend =
      fc.addend >= 0 ? addend_of(fc, example.data.weights) : Tensor(DataType::float32, {0});
  Tensor y(DataType::float32, {fc.m, fc.n});
  auto values = y.mutable_data<float>();
  for (int64_t i = 0; i < y.size(); ++i) {
    const int64_t m = i / fc.n, n = i % fc.n;
    float sum = fc.addend >= 0 ? element(addend.data<float>(), n) : 0;
    for (int64_t k = 0; k < fc.k; ++k)
      sum += element(example.input(0), m * fc.k + k) *
             element(weights.data<float>(), fc.weights_are_nk ? n * fc.k + k : k * fc.n + n);
    values[static_cast<size_t>(i)] = sum;
  }
  return y;
}

TEST(FullyConnected, GivesWhatTheReferenceGives) {
  for (const char* text :
       {"matmul | float32[3x4] w:float32[4x5]", "gemm | float32[3x4] w:float32[4x5] w:float32[5]",
        "gemm transpose_b=true | float32[3x4] w:float32[5x4] w:float32[1x5]",
        "gemm alpha=2 beta=0.5 transpose_b=true | float32[3x4] w:float32[5x4] w:float32[5]",
        "gemm beta=3 | float32[3x4] w:float32[4x5] w:float32[1]",
        "gemm alpha=-1 | float32[1x1] w:float32[1x1]"}) {
    const Example example(problem_of(text));
    const auto fc = read_fully_connected(example.problem);
    ASSERT_TRUE(fc) << text;
    SCOPED_TRACE(text);
    expect_close(computed(example, *fc), example.expected(), 1e-5);
  }
}

TEST(FullyConnected, IsNoneWhereASourceWouldReadItWrong) {
  for (const char* text :
       {"gemm | float32[3x4] w:float32[4x5] float32[5]",      // an addend known at run time
        "gemm | float32[3x4] w:float32[4x5] w:float32[3x1]",  // one value a row
        "gemm | float32[3x4] w:float32[4x5] w:float32[3x5]",  // a whole matrix
        "matmul | w:float32[3x4] w:float32[4x5]",             // nothing at run time
        "matmul | float32[3x4] w:float32[4]",                 // a vector
        "matmul | float32[2x3x4] w:float32[2x4x5]",           // one matrix a batch
        "act kind=relu | float32[3x4]"}) {
    EXPECT_FALSE(read_fully_connected(problem_of(text))) << text;
  }
}

}  // namespace
}  // namespace enginery
