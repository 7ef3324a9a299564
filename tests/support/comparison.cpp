#include "tests/support/comparison.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <random>

#include "tests/support/tactic_harness.h"

namespace enginery {

double tolerance(const Tactic& tactic) {
  // Sums of float32 in another order; what tensor cores and float16 storage round away; Winograd's
  // transforms, which multiply rounding errors (RMS 1.5 to 2.2 times that of direct convolution).
  constexpr double kFull = 1e-4, kReduced = 1e-2, kWinograd = 1e-3;
  if (tactic.compute != Precision::fp32) return kReduced;
  return tactic.id.find("wino") != std::string::npos ? kWinograd : kFull;
}

void expect_close(const Tensor& actual, const Tensor& expected, double bar) {
  ASSERT_EQ(actual.dims(), expected.dims());
  if (!is_floating(expected.type())) {
    EXPECT_EQ(to_int64s(actual), to_int64s(expected));
    return;
  }
  EXPECT_LE(
      relative_error(convert(actual, DataType::float32), convert(expected, DataType::float32)),
      bar);
}

namespace {

// How many of so many numbers may lie on the other side of a step's edge. What is read in bfloat16
// is off by up to 1/512 of itself: a quarter of a step where it is 128 of them.
size_t may_be_a_step_off(const Tactic& tactic, size_t count) {
  const auto is_narrow = [](const Format& f) { return f.type == DataType::bfloat16; };
  return 1 + count / (std::ranges::any_of(tactic.inputs, is_narrow) ? 10 : 100);
}

void expect_within_a_step(const Tactic& tactic, const Tensor& actual, const Tensor& expected) {
  ASSERT_EQ(actual.dims(), expected.dims());
  const std::vector<int64_t> y = to_int64s(actual), r = to_int64s(expected);
  size_t other = 0;
  for (size_t i = 0; i < r.size(); ++i) {
    ASSERT_LE(std::abs(y[i] - r[i]), 1) << "element " << i << " is " << y[i] << ", not " << r[i];
    if (y[i] != r[i]) ++other;
  }
  EXPECT_LE(other, may_be_a_step_off(tactic, r.size())) << "of " << r.size() << " elements";
}

// Whether the last operator quantises, or one does whose results are pooled.
bool rounds_to_steps(const Problem& problem) {
  if (!is_region(problem)) return is_one_of<Quantize>(problem);
  const auto& rest = problem.rest;
  const bool pools = std::holds_alternative<Pooling>(rest.back().op) && rest.size() > 1;
  return std::holds_alternative<Quantize>(pools ? rest[rest.size() - 2].op : rest.back().op);
}

}  // namespace

void expect_result(const Problem& problem, const Tactic& tactic, const std::vector<Tensor>& actual,
                   const std::vector<Tensor>& expected) {
  const bool exact = !is_region(problem) && tactic.compute == Precision::fp32;
  if (rounds_to_steps(problem) && !exact)
    expect_within_a_step(tactic, actual[0], expected[0]);
  else
    expect_close(actual, expected, tolerance(tactic));
}

void expect_close(const std::vector<Tensor>& actual, const std::vector<Tensor>& expected,
                  double bar) {
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < actual.size(); ++i) {
    SCOPED_TRACE("output " + std::to_string(i));
    expect_close(actual[i], expected[i], bar);
  }
}

std::string test_variable(const char* name, const std::string& otherwise) {
  const char* value = std::getenv(name);
  return value && *value ? value : otherwise;
}

uint64_t test_seed() {
  static const uint64_t value =
      std::stoull(test_variable("ENGINERY_TEST_SEED", std::to_string(std::random_device{}())));
  return value;
}

}  // namespace enginery
