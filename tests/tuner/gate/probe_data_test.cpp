// The numbers on which tactics are tried.
#include <cmath>

#include "engine/ops/operand.h"
#include "tests/tuner/gate/gate_support.h"
#include "tuner/gate/expectation.h"

namespace enginery {
namespace {

using test::problem_of;

constexpr ProbeKind kKinds[] = {ProbeKind::symmetric, ProbeKind::wide, ProbeKind::integers};

std::vector<float> drawn(const std::string& problem, size_t index, ProbeKind kind,
                         uint64_t seed = 5) {
  const Tensor t =
      convert(probe_input(problem_of(problem), index, {kind, seed}), DataType::float32);
  return {t.data<float>().begin(), t.data<float>().end()};
}

// Else a kernel that writes nothing, or NaN, could not be told from a right one.
TEST(ProbeData, StaysWhereOperatorsAreDefined) {
  std::vector<std::string> problems;
  for (const std::string_view word : enum_names(UnaryKind{})) {
    const bool integers = word == "logical_not" || word == "bitwise_not";
    if (!integers) problems.push_back("unary kind=" + std::string(word) + " | float32[300]");
  }
  for (const std::string_view word : enum_names(ActivationKind{}))
    problems.push_back("act kind=" + std::string(word) + " alpha=1 beta=2 | float32[300]");
  for (const char* word : {"add", "div", "pow", "mod", "fmod", "max"})
    problems.push_back("binary kind=" + std::string(word) + " | float32[300] float32[300]");
  for (const char* word : {"prod", "log_sum", "log_sum_exp", "l2"})
    problems.push_back("reduce kind=" + std::string(word) + " axes=[1] | float32[4x300]");
  for (const std::string& text : problems) {
    const Problem problem = problem_of(text);
    for (const ProbeKind kind : kKinds) {
      const ProbeData data(problem, {kind, 3});
      const auto expected = expected_outputs(problem, data, Resolution::full, {});
      ASSERT_TRUE(expected.ok()) << text << ": " << expected.error().message;
      EXPECT_EQ(expected->at(0).nans, 0) << text << ", " << to_string(kind);
    }
  }
}

TEST(ProbeData, HoldsPositionsWhereTheOperatorReadsThem) {
  const Tensor indices = probe_input(problem_of("gather axis=1 | float32[9x3] int64[500]"), 1, {});
  int64_t largest = 0;
  for (const int64_t i : to_int64s(indices)) {
    EXPECT_GE(i, 0);
    EXPECT_LT(i, 3);
    largest = std::max(largest, i);
  }
  EXPECT_EQ(largest, 2);
}

TEST(ProbeData, DividesByNoZero) {
  for (const ProbeKind kind : kKinds) {
    for (const float x : drawn("binary kind=div | int32[400] int32[400]", 1, kind)) EXPECT_NE(x, 0);
    for (const float x : drawn("binary kind=div | float32[400] float32[400]", 1, kind))
      EXPECT_GE(std::abs(x), 0.25f);
  }
}

TEST(ProbeData, IsNotNegativeAndWideInTheWideProbe) {
  const auto values = drawn("matmul | float32[4x900] float32[900x4]", 1, ProbeKind::wide);
  EXPECT_GT(*std::min_element(values.begin(), values.end()), 0);
  EXPECT_LT(*std::min_element(values.begin(), values.end()), 2e-3f);
  EXPECT_GT(*std::max_element(values.begin(), values.end()), 0.9f);
}

// None is 0, which would hide a product that is left out.
TEST(ProbeData, IsWholeNumbersInTheIntegersProbe) {
  for (const size_t input : {0, 1}) {
    for (const float x :
         drawn("matmul | float32[4x900] float32[900x4]", input, ProbeKind::integers)) {
      EXPECT_EQ(x, std::round(x));
      EXPECT_NE(x, 0);
    }
  }
}

TEST(ProbeData, IsAnotherForAnotherSeed) {
  const char* const problem = "act kind=relu | float32[64]";
  EXPECT_EQ(drawn(problem, 0, ProbeKind::symmetric, 1), drawn(problem, 0, ProbeKind::symmetric, 1));
  EXPECT_NE(drawn(problem, 0, ProbeKind::symmetric, 1), drawn(problem, 0, ProbeKind::symmetric, 2));
}

// What a tactic reads in half precision loses nothing by it.
TEST(ProbeData, HoldsWhatTheNarrowestTypeHolds) {
  const Problem problem = problem_of("act kind=tanh | float32[500]");
  const ProbeData data(problem, {});
  const struct {
    Resolution resolution;
    DataType type;
  } cases[] = {{Resolution::half, DataType::float16}, {Resolution::bfloat, DataType::bfloat16}};
  for (const auto& c : cases) {
    const Tensor& x = data.inputs(c.resolution)[0];
    const Tensor through = convert(convert(x, c.type), DataType::float32);
    EXPECT_TRUE(std::ranges::equal(x.data<float>(), through.data<float>()));
  }
  const Tensor& full = data.inputs(Resolution::full)[0];
  EXPECT_FALSE(
      std::ranges::equal(full.data<float>(), data.inputs(Resolution::half)[0].data<float>()));
}

}  // namespace
}  // namespace enginery
