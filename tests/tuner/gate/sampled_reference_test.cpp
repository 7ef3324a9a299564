// Single elements in double against the operator's whole reference.
#include "tuner/gate/sampled_reference.h"

#include <cmath>

#include "engine/tactics/cpu/reference/reference_source.h"
#include "tests/tuner/gate/gate_support.h"
#include "tuner/gate/expectation.h"

namespace enginery {
namespace {

using test::problem_of;

class SampledReference : public testing::TestWithParam<const char*> {};

TEST_P(SampledReference, IsTheReferencesElement) {
  const Problem problem = problem_of(GetParam());
  ASSERT_TRUE(is_sampled(problem));
  const ProbeData data(problem, {ProbeKind::symmetric, 2});
  const auto inputs = data.values(Resolution::full);
  const auto whole = run_problem_reference(problem, inputs);
  ASSERT_TRUE(whole.ok()) << whole.error().message;
  const auto sampled = expected_outputs(problem, data, Resolution::full, {});
  ASSERT_TRUE(sampled.ok()) << sampled.error().message;
  const ExpectedOutput& expected = sampled->at(0);
  ASSERT_EQ(static_cast<int64_t>(expected.elements.size()), whole->at(0).size());
  for (size_t i = 0; i < expected.elements.size(); ++i) {
    const double r = whole->at(0).data<float>()[i], v = expected.values.data<double>()[i];
    EXPECT_NEAR(v, r, 1e-5 * (1 + std::abs(r))) << "element " << i;
    EXPECT_GE(expected.magnitudes[i], std::abs(v) * (1 - 1e-6));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Products, SampledReference,
    testing::Values(
        "conv strides=[2,1] dilations=[1,2] pads_begin=[1,2] pads_end=[0,2] groups=2 | "
        "float32[2x4x7x8] w:float32[6x2x3x3] w:float32[6] | act kind=relu",
        "conv strides=[1,1] dilations=[1,1] pads_begin=[0,0] pads_end=[0,0] | float32[1x8x5x5] "
        "w:float32[4x8x1x1] | bias w:float32[4] | add float32[1x4x5x5] | act kind=swish",
        "deconv strides=[2,3] dilations=[1,2] pads_begin=[1,0] pads_end=[0,1] "
        "output_padding=[1,0] groups=2 | float32[2x4x4x5] w:float32[4x3x3x2] w:float32[6]",
        "gemm alpha=0.5 beta=2 transpose_a=true transpose_b=true | float32[7x3] float32[5x7] "
        "float32[5]",
        "gemm | float32[3x7] float32[7x5] | multiply float32[5]",
        "matmul | float32[2x1x3x7] float32[4x7x5]", "matmul | float32[7] float32[2x7x5]",
        "matmul | float32[2x3x7] float32[7]",
        "attention batch=[2,3] queries=4 keys=5 depth=6 width=7 q=[0,72,6,18,1] k=[0,0,0,1,5] "
        "v=[3,105,7,21,1] y=[0,84,7,21,1] output=[2,4,21] scale=-0.4 causal=true blank=-2 "
        "addend=[0,5,0,0,1] choice=[0,0,0,5,1] hides=true | float32[2x4x18] float32[6x5] "
        "float32[220] float32[2x5] boolean[4x5]"));

TEST(SampleElements, HasCornersAndTheLastOnes) {
  const Dims dims{3, 100, 100};
  const auto elements = sample_elements(dims, 500, 1);
  const auto has = [&](int64_t e) {
    return std::binary_search(elements.begin(), elements.end(), e);
  };
  EXPECT_TRUE(has(0) && has(99) && has(9900) && has(20000) && has(29999) && has(29950));
  EXPECT_EQ(sample_elements({3, 5}, 500, 1).size(), 15u);
}

}  // namespace
}  // namespace enginery
