// References spread over cores: a large tensor's result is that of its rows, each too small to be
// divided.
#include <cstring>

#include "engine/ops/activation.h"
#include "engine/ops/elementwise.h"
#include "engine/ops/normalization.h"
#include "engine/ops/pooling.h"
#include "engine/ops/reduction.h"
#include "engine/ops/shaping.h"
#include "tests/engine/ops/ops_support.h"

namespace enginery {
namespace {

constexpr int64_t kRows = 37, kPlanes = 3, kSize = 1201;  // a row has 3603 elements, all 133311

// Numbers without a pattern in [-2, 2].
Tensor spread(Dims dims, uint32_t seed = 1) {
  Tensor t(DataType::float32, std::move(dims));
  for (float& value : t.mutable_data<float>()) {
    seed = seed * 1664525 + 1013904223;
    value = static_cast<float>(seed >> 8) / (1 << 22) - 2;
  }
  return t;
}

Tensor row_of(const Tensor& t, int64_t row) {
  Dims dims = t.dims();
  const int64_t bytes = t.bytes() / dims[0];
  dims[0] = 1;
  Tensor out(t.type(), dims);
  std::memcpy(out.mutable_bytes(), static_cast<const char*>(t.raw()) + row * bytes,
              static_cast<size_t>(bytes));
  return out;
}

// Inputs of kRows are taken row by row, others as they are.
void expect_rows(const Op& op, const std::vector<Tensor>& inputs) {
  const Tensor whole = run(op, inputs);
  ASSERT_EQ(whole.dims()[0], kRows) << op_name(op);
  for (int64_t r = 0; r < kRows; ++r) {
    std::vector<Tensor> in;
    for (const Tensor& t : inputs)
      in.push_back(t.rank() > 1 && t.dims()[0] == kRows ? row_of(t, r) : t);
    const Tensor expected = run(op, in), got = row_of(whole, r);
    ASSERT_EQ(got.bytes(), expected.bytes()) << op_name(op);
    ASSERT_EQ(std::memcmp(got.raw(), expected.raw(), static_cast<size_t>(got.bytes())), 0)
        << op_name(op) << ", row " << r;
  }
}

TEST(LargeReferences, ElementsAreThoseOfTheirRows) {
  const Tensor x = spread({kRows, kPlanes, kSize}), y = spread(x.dims(), 2);
  const Tensor plane = spread({kPlanes, 1}, 3), lane = spread({kSize}, 4);
  for (const auto kind : {BinaryKind::add, BinaryKind::pow, BinaryKind::less}) {
    for (const Tensor& other : {y, plane, lane}) expect_rows(Binary{.kind = kind}, {x, other});
  }
  expect_rows(Activation{.kind = ActivationKind::relu}, {x});
  expect_rows(Unary{.kind = UnaryKind::exp}, {x});
  expect_rows(PRelu{}, {x, plane});
  const Tensor positive = run(Binary{.kind = BinaryKind::less}, {plane, x});
  expect_rows(Where{}, {positive, x, lane});
  expect_rows(Transpose{.permutation = {0, 2, 1}}, {x});
}

TEST(LargeReferences, RowsAreNormalisedApart) {
  const Tensor x = spread({kRows, kPlanes, kSize}), scale = spread({kSize}, 2),
               bias = spread({kSize}, 3);
  expect_rows(LayerNorm{}, {x, scale, bias});
  expect_rows(RmsNorm{}, {x, scale});
  expect_rows(Softmax{.axis = 1}, {x});
}

TEST(LargeReferences, PlanesArePooledApart) {
  const Tensor x = spread({kRows, kPlanes, kSize});
  for (const auto kind : {PoolKind::max, PoolKind::average}) {
    expect_rows(Pooling{.kind = kind,
                        .kernel = {3},
                        .strides = {2},
                        .dilations = {1},
                        .pads_begin = {1},
                        .pads_end = {0}},
                {x});
    expect_rows(GlobalPooling{.kind = kind}, {x});
  }
  expect_rows(Lrn{.size = 2}, {x});
}

TEST(LargeReferences, ReductionsOfKeptRowsAreApart) {
  const Tensor x = spread({kRows, kPlanes, kSize});
  const Tensor whole = ([&] {
    Tensor t(DataType::int64, x.dims());
    int64_t next = -60'000;
    for (int64_t& value : t.mutable_data<int64_t>()) value = next++;
    return t;
  })();
  for (const std::vector<int64_t>& axes : {std::vector<int64_t>{1}, {2}, {1, 2}}) {
    expect_rows(Reduce{.kind = ReduceKind::mean, .axes = axes}, {x});
    expect_rows(Reduce{.kind = ReduceKind::log_sum_exp, .axes = axes}, {x});
    expect_rows(Reduce{.kind = ReduceKind::sum, .axes = axes}, {whole});
  }
  // Without a kept row in front, every output takes from everywhere.
  const Tensor sums = run(Reduce{.kind = ReduceKind::sum, .axes = {0, 2}}, {whole});
  int64_t expected[kPlanes] = {};
  for (int64_t i = 0; i < whole.size(); ++i)
    expected[i / kSize % kPlanes] += whole.data<int64_t>()[static_cast<size_t>(i)];
  EXPECT_EQ(values<int64_t>(sums), std::vector<int64_t>(expected, expected + kPlanes));
}

TEST(LargeReferences, AZeroAmongTheLastDivisorsIsFound) {
  Tensor x(DataType::int64, {100'000}), y(DataType::int64, {100'000});
  for (int64_t& value : y.mutable_data<int64_t>()) value = 1;
  y.mutable_data<int64_t>().back() = 0;
  EXPECT_REFUSED(try_run(Binary{.kind = BinaryKind::div}, {x, y}), "divided by zero");
}

}  // namespace
}  // namespace enginery
