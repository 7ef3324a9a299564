// Functions of float64: every one of the list gives what the reference gives, for numbers that
// float32 does not hold, ends and what is no number, on every instruction set of this machine.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "engine/device/cpu/cpu_device.h"
#include "engine/device/sku_table.h"
#include "engine/ops/op.h"
#include "engine/tactics/cpu/kernel/cpu_kernel_source.h"
#include "engine/tactics/shapes/float64_call.h"
#include "tests/support/tactic_harness.h"

namespace enginery {
namespace {

constexpr double kInfiniteDouble = std::numeric_limits<double>::infinity();
constexpr double kDoubles[] = {0,
                               -0.0,
                               0.5,
                               -0.5,
                               1.5,
                               2.5,
                               -2.5,
                               1,
                               -1,
                               0.1,
                               -0.1,
                               3,
                               -3,
                               6.25,
                               1e-30,
                               -1e-30,
                               1 + 0x1p-40,
                               700,
                               -700,
                               16777217.0,
                               1e17,
                               1e300,
                               -1e300,
                               kInfiniteDouble,
                               -kInfiniteDouble,
                               NAN};

// Both operands go through all pairs of edges where they are of one size; a row repeats else.
Tensor doubles(const Dims& dims, size_t step) {
  Tensor out(DataType::float64, dims);
  auto values = out.mutable_data<double>();
  for (size_t i = 0; i < values.size(); ++i) values[i] = kDoubles[i / step % std::size(kDoubles)];
  return out;
}

Problem float64_problem(Op op, const std::vector<Tensor>& inputs, const Dims& out) {
  Problem p;
  p.op = std::move(op);
  p.anchor_inputs = static_cast<int>(inputs.size());
  for (const Tensor& t : inputs) p.inputs.push_back({.type = {t.type(), t.dims()}});
  p.outputs.push_back({.type = {DataType::float64, out}});
  return p;
}

// Within a few units in the last place; sines of huge numbers are libm's on both sides.
void expect_close(const Tensor& actual, const Tensor& expected, const std::vector<Tensor>& inputs) {
  const auto y = actual.data<double>(), r = expected.data<double>();
  ASSERT_EQ(y.size(), r.size());
  for (size_t i = 0; i < y.size(); ++i) {
    if (y[i] == r[i] || (std::isnan(y[i]) && std::isnan(r[i]))) continue;
    const double x = inputs[0].data<double>()[i % static_cast<size_t>(inputs[0].size())];
    ASSERT_LE(std::abs(y[i] - r[i]), 8 * 0x1p-52 * std::abs(r[i]))
        << "element " << i << " of x = " << x << " is " << y[i] << ", expected " << r[i];
  }
}

void expect_reference(const Op& op, const std::vector<Tensor>& inputs, const Dims& out) {
  const Problem problem = float64_problem(op, inputs, out);
  ProblemData data;
  data.tensors = inputs;
  std::vector<const Tensor*> given;
  for (const Tensor& t : data.tensors) given.push_back(&t);
  data.inputs = given;
  data.weights.resize(inputs.size(), nullptr);
  const auto expected = run_reference(op, given);
  ASSERT_TRUE(expected.ok()) << expected.error().message;
  for (const LocalSku& sku : local_skus()) {
    if (sku.kind != DeviceKind::cpu) continue;
    SCOPED_TRACE(sku.name);
    const auto device = open_device(sku.name, {}).value();
    const auto stream = device->create_stream().value();
    const auto source = make_cpu_kernel_source(device->info()).value();
    const auto tactics = source->offer(problem, {Precision::fp32});
    ASSERT_TRUE(tactics.ok()) << tactics.error().message;
    TacticRun run(*device, *stream);
    ASSERT_TRUE(run.prepare(*source, problem, tactics->front(), data, OperandPlace::separate).ok());
    ASSERT_TRUE(run.launch().ok());
    const auto outputs = run.collect();
    ASSERT_TRUE(outputs.ok()) << outputs.error().message;
    expect_close((*outputs)[0], (*expected)[0], inputs);
  }
}

constexpr int64_t kMany = 1300;  // more than two stretches
constexpr size_t kAll = std::size(kDoubles);

TEST(Float64, ComputesEveryActivation) {
  const Tensor x = doubles({kMany}, 1);
#define ENGINERY_EXPECT(name, expression) \
  expect_reference(Activation{ActivationKind::name, 0.3f, 0.7f}, {x}, x.dims());
  ENGINERY_FLOAT64_FUNCTIONS(ENGINERY_EXPECT, ENGINERY_NO_FUNCTION, ENGINERY_NO_FUNCTION)
#undef ENGINERY_EXPECT
  expect_reference(Activation{ActivationKind::clip, 2, -1}, {x}, x.dims());
}

TEST(Float64, ComputesEveryUnaryFunction) {
  const Tensor x = doubles({kMany}, 1);
#define ENGINERY_EXPECT(name, expression) expect_reference(Unary{UnaryKind::name}, {x}, x.dims());
  ENGINERY_FLOAT64_FUNCTIONS(ENGINERY_NO_FUNCTION, ENGINERY_EXPECT, ENGINERY_NO_FUNCTION)
#undef ENGINERY_EXPECT
}

TEST(Float64, ComputesEveryBinaryFunctionOfEveryPair) {
  const Dims dims{static_cast<int64_t>(kAll * kAll)};
  const Tensor a = doubles(dims, 1), b = doubles(dims, kAll);
#define ENGINERY_EXPECT(name, expression) expect_reference(Binary{BinaryKind::name}, {a, b}, dims);
  ENGINERY_FLOAT64_FUNCTIONS(ENGINERY_NO_FUNCTION, ENGINERY_NO_FUNCTION, ENGINERY_EXPECT)
#undef ENGINERY_EXPECT
}

TEST(Float64, RepeatsEitherOperand) {
  const Tensor column = doubles({23, 1}, 1), row = doubles({kMany}, 1), one = doubles({1}, 1),
               planes = doubles({3, 1, kMany}, 1);
  expect_reference(Binary{BinaryKind::sub}, {column, row}, {23, kMany});
  expect_reference(Binary{BinaryKind::sub}, {row, column}, {23, kMany});
  expect_reference(Binary{BinaryKind::sub}, {row, one}, {kMany});
  expect_reference(Binary{BinaryKind::max}, {planes, column}, {3, 23, kMany});
}

TEST(Float64, RefusesAFusedChainAndOtherOperands) {
  Problem chained = float64_problem(Unary{UnaryKind::cos}, {doubles({4}, 1)}, {4});
  ASSERT_TRUE(float64_call(chained).ok());
  chained.epilogue.push_back({.kind = EpilogueKind::activation});
  EXPECT_FALSE(float64_call(chained).ok());
  const Tensor x = doubles({4}, 1);
  EXPECT_FALSE(float64_call(float64_problem(Binary{BinaryKind::pow},
                                            {x, convert(x, DataType::float32)}, {4}))
                   .ok());
}

}  // namespace
}  // namespace enginery
