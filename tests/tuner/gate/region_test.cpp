// What the gate lets pass of a region: whatever computes its operators in the precision that it
// promises, and nothing that leaves one out, rounds more or misses a term.
#include "engine/tactics/region.h"

#include <algorithm>
#include <numeric>

#include "tests/support/problem_list.h"
#include "tests/tuner/gate/gate_support.h"
#include "tuner/gate/comparison.h"
#include "tuner/gate/region_result.h"
#include "tuner/gate/sampled_region.h"
#include "tuner/gate/shrink.h"

namespace enginery {
namespace {

using test::problem_of;

constexpr ProbeKind kRegionKinds[] = {ProbeKind::symmetric, ProbeKind::wide, ProbeKind::integers};

// What is made of the result of operator k before the next one reads it.
using Passing = std::function<void(size_t k, Tensor&)>;

// The region in float32, one operator after the other.
Tensor computed(const Problem& p, std::vector<const Tensor*> inputs, const Passing& pass) {
  const std::vector<RegionPart> parts = operators_of(p);
  std::vector<Tensor> wide(inputs.size()), results(parts.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i] || !is_floating(inputs[i]->type())) continue;
    wide[i] = convert(*inputs[i], DataType::float32);
    inputs[i] = &wide[i];
  }
  for (size_t k = 0; k < parts.size(); ++k) {
    std::vector<const Tensor*> in;
    for (const int at : parts[k].operands)
      in.push_back(at < 0 ? nullptr : inputs[static_cast<size_t>(at)]);
    results[k] = run_reference(parts[k].problem.op, in)->at(0);
    pass(k, results[k]);
    inputs.push_back(&results[k]);
  }
  return results.back();
}

void as_it_is(size_t, Tensor&) {}
void in_half(size_t, Tensor& t) {
  t = convert(convert(t, DataType::float16), DataType::float32);
}

// What is wrong with it, as the gate says; empty: nothing.
std::string fault_of(const Problem& p, ProbeKind kind, Precision promised, const Passing& pass) {
  Tactic tactic;
  tactic.compute = promised;
  for (const TensorDesc& d : p.inputs) tactic.inputs.push_back({d.type.type, {}});
  const Resolution resolution = resolution_of(p, tactic);
  const ProbeData data(p, {kind, 5});
  const auto expected = expected_outputs(p, data, resolution, {});
  if (!expected.ok()) return expected.error().message;
  const Tensor y = convert(computed(p, data.values(resolution), pass), p.outputs[0].type.type);
  const Tensor flat = y.reshaped({y.size()});
  return compare(flat, expected->at(0), arithmetic_of(p), tactic).wrong;
}

class GateOfRegions : public testing::TestWithParam<ProblemRow> {};

TEST_P(GateOfRegions, LetsFloatsPass) {
  const Problem p = problem_of(std::string(GetParam().text));
  for (const ProbeKind kind : kRegionKinds) {
    for (const Precision promised : {Precision::fp32, Precision::fp16, Precision::bf16})
      EXPECT_EQ(fault_of(p, kind, promised, as_it_is), "") << to_string(kind);
  }
}

// As where a kernel keeps what it hands on in shared memory.
TEST_P(GateOfRegions, LetsHalvesPassWhereTheyArePromised) {
  const Problem p = problem_of(std::string(GetParam().text));
  if (!is_floating(p.outputs[0].type.type)) GTEST_SKIP() << "a rounding may choose another element";
  for (const ProbeKind kind : kRegionKinds)
    EXPECT_EQ(fault_of(p, kind, Precision::fp16, in_half), "") << to_string(kind);
}

TEST_P(GateOfRegions, StopsOneWrongElement) {
  const Problem p = problem_of(std::string(GetParam().text));
  const size_t last = p.rest.size();
  const auto wrong = [last](size_t k, Tensor& t) {
    if (k != last) return;
    if (is_floating(t.type())) {
      const auto values = t.mutable_data<float>();
      const float largest = *std::max_element(values.begin(), values.end());
      values.back() = values.back() == 0 ? largest : values.back() * 1.5f;  // 0: a relu's
    } else if (t.type() == DataType::int8)
      t.mutable_data<int8_t>().back() ^= 64;
    else if (t.type() == DataType::uint8)
      t.mutable_data<uint8_t>().back() ^= 64;
    else
      t.mutable_data<int64_t>().back() += 1;
  };
  for (const ProbeKind kind : {ProbeKind::symmetric, ProbeKind::wide})
    EXPECT_NE(fault_of(p, kind, Precision::fp16, wrong), "") << to_string(kind);
}

INSTANTIATE_TEST_SUITE_P(List, GateOfRegions, testing::ValuesIn(conformance_regions()),
                         [](const auto& row) { return std::string(row.param.name); });

// Half of all draws give it negative bases alone, and no number then.
TEST(GateOfARegion, DrawsAgainWhereNoResultWouldBeANumber) {
  const Problem p = problem_of(
      "unary kind=acos | float32[12x24x24] | then binary(r0 w:float32[]) kind=div | then "
      "binary(w:float32[] r1) kind=sub | then binary(r2 w:float32[]) kind=pow | then binary(r3 "
      "float32[12x24x1]) kind=mul | then binary(r4 float32[12x1x24]) kind=mul");
  const auto is_usable = [&](ProbeSpec spec) {
    const ProbeData data(p, spec);
    return !is_mostly_nan(expected_outputs(p, data, Resolution::full, {})->at(0));
  };
  int as_they_were = 0;
  for (const ProbeKind kind : {ProbeKind::symmetric, ProbeKind::wide}) {
    for (uint64_t seed = 0; seed < 20; ++seed) {
      const ProbeSpec spec{kind, seed}, drawn = usable_draw(p, spec, {});
      EXPECT_TRUE(is_usable(drawn)) << to_string(kind) << " " << seed;
      as_they_were += is_usable(spec);
      EXPECT_EQ(drawn.seed == seed, is_usable(spec)) << "only where it must";
    }
  }
  EXPECT_GT(as_they_were, 0);
  EXPECT_LT(as_they_were, 40);
}

constexpr const char* kTwo =
    "conv strides=[1,1] dilations=[1,1] pads_begin=[1,1] pads_end=[1,1] | float32[1x16x9x9] "
    "w:float32[16x16x3x3] | then act(r0) kind=relu | then conv(r1 w:float32[24x16x1x1]) "
    "strides=[1,1] dilations=[1,1] pads_begin=[0,0] pads_end=[0,0]";

TEST(GateOfARegion, StopsHalvesWhereFloatsArePromised) {
  EXPECT_NE(fault_of(problem_of(kTwo), ProbeKind::symmetric, Precision::fp32, in_half), "");
}

// Only the anchor's result, where nothing was done to it.
TEST(GateOfARegion, StopsAnOperatorThatIsLeftOut) {
  Problem p = problem_of(kTwo);
  std::vector<Tensor> kept(1);
  const auto without_relu = [&](size_t k, Tensor& t) {
    if (k == 0) kept[0] = t;
    if (k == 1) t = kept[0];
  };
  for (const ProbeKind kind : {ProbeKind::symmetric, ProbeKind::integers})
    EXPECT_NE(fault_of(p, kind, Precision::fp16, without_relu), "") << to_string(kind);
}

constexpr const char* kQuantized =
    "dequantize | int8[1x16x9x9] w:float32[] | then dequantize(w:int8[24x16x3x3] w:float32[24]) "
    "axis=0 | then conv(r0 r1 w:float32[24]) strides=[1,1] dilations=[1,1] pads_begin=[1,1] "
    "pads_end=[1,1] | then act(r2) kind=relu | then quantize(r3 w:float32[]) to=int8";

// A step up of every result is wrong wherever what was rounded was no tie: the sums are exact.
TEST(GateOfARegion, AllowsQuantizedResultsNoStepThatTheirSumsDoNot) {
  const Problem p = problem_of(kQuantized);
  const auto a_step_up = [](size_t k, Tensor& t) {
    if (k != 4) return;
    for (int8_t& v : t.mutable_data<int8_t>()) v = static_cast<int8_t>(v < 127 ? v + 1 : v);
  };
  for (const ProbeKind kind : kRegionKinds) {
    EXPECT_EQ(fault_of(p, kind, Precision::fp32, as_it_is), "") << to_string(kind);
    EXPECT_NE(fault_of(p, kind, Precision::fp32, a_step_up), "") << to_string(kind);
  }
}

TEST(GateOfARegion, StopsABiasThatIsLeftOutBeforeARounding) {
  Problem p = problem_of(kQuantized);
  const ProbeData data(p, {ProbeKind::symmetric, 5});
  const auto expected = expected_outputs(p, data, Resolution::full, {});
  ASSERT_TRUE(expected.ok()) << expected.error().message;
  std::vector<const Tensor*> inputs = data.values(Resolution::full);
  const Tensor none(DataType::float32, {24});
  inputs[4] = &none;
  const Tensor y = computed(p, inputs, as_it_is);
  const Tensor flat = y.reshaped({y.size()});
  EXPECT_NE(compare(flat, expected->at(0), arithmetic_of(p), Tactic()).wrong, "");
}

// Most results are within the type's bounds, so that a wrong one shows.
TEST(GateOfARegion, QuantizesByAScaleInProportionToTheSums) {
  for (const char* text : {kQuantized,
                           "dequantize | uint8[4x2048] w:float32[] | then "
                           "dequantize(w:int8[2048x64] w:float32[1]) axis=1 | then matmul(r0 r1) | "
                           "then quantize(r2 w:float32[]) to=int8"}) {
    const Problem p = problem_of(text);
    const ProbeData data(p, {ProbeKind::symmetric, 5});
    const Tensor y = computed(p, data.values(Resolution::full), as_it_is);
    const auto values = y.data<int8_t>();
    const auto inside = std::ranges::count_if(values, [](int8_t v) { return v > -128 && v < 127; });
    const auto apart = std::ranges::count_if(values, [](int8_t v) { return v > 8 || v < -8; });
    EXPECT_GT(inside, 9 * y.size() / 10) << text;
    EXPECT_GT(apart, y.size() / 5) << text;
  }
}

constexpr const char* kJoined =
    "dequantize | uint8[2x16x6x5] w:float32[] | then dequantize(w:int8[24x16x1x1] w:float32[24]) "
    "axis=0 | then conv(r0 r1 w:float32[24]) strides=[1,1] dilations=[1,1] pads_begin=[0,0] "
    "pads_end=[0,0] | then quantize(r2 w:float32[]) to=int8 | then dequantize(r3 w:float32[]) | "
    "then dequantize(uint8[2x32x12x10] w:float32[]) | then dequantize(w:int8[24x32x1x1] "
    "w:float32[24]) axis=0 | then conv(r5 r6 w:float32[24]) strides=[2,2] dilations=[1,1] "
    "pads_begin=[0,0] pads_end=[0,0] | then binary(r7 r4) kind=add | then act(r8) kind=relu | then "
    "quantize(r9 w:float32[]) to=uint8";
constexpr const char* kJoinedFloats =
    "conv strides=[1,1] dilations=[1,1] pads_begin=[1,1] pads_end=[1,1] | float32[2x16x6x5] "
    "w:float32[24x16x3x3] | then conv(float32[2x32x12x10] w:float32[24x32x1x1] w:float32[24]) "
    "strides=[2,2] dilations=[1,1] pads_begin=[0,0] pads_end=[0,0] | then binary(r0 r1) kind=add | "
    "then act(r2) kind=relu";
constexpr const char* kPooled =
    "conv strides=[2,2] dilations=[1,1] pads_begin=[3,3] pads_end=[3,3] | float32[1x3x21x23] "
    "w:float32[16x3x7x7] w:float32[16] | then act(r0) kind=leaky_relu alpha=0.25 | then pool(r1) "
    "kind=max kernel=[3,3] strides=[2,2] dilations=[1,1] pads_begin=[1,1] pads_end=[1,1]";
constexpr const char* kPooledBytes =
    "dequantize | uint8[1x16x9x9] w:float32[] | then dequantize(w:int8[24x16x3x3] w:float32[]) "
    "axis=0 | then conv(r0 r1 w:float32[24]) strides=[1,1] dilations=[1,1] pads_begin=[1,1] "
    "pads_end=[1,1] | then quantize(r2 w:float32[]) to=int8 | then pool(r3) kind=max kernel=[2,2] "
    "strides=[2,2] dilations=[1,1] pads_begin=[0,0] pads_end=[0,0]";

// Single elements are what the region in full has there, and so are their magnitudes.
TEST(SampledRegion, IsTheRegionAtItsElements) {
  for (const char* text :
       {kQuantized, kJoined, kJoinedFloats, kPooled, kPooledBytes,
        "dequantize | uint8[1x16x9x9] w:float32[] | then dequantize(w:int8[24x16x3x3] w:float32[]) "
        "axis=0 | then conv(r0 r1 w:float32[24]) strides=[2,2] dilations=[1,1] pads_begin=[1,1] "
        "pads_end=[1,1] | then binary(float32[1x24x5x5] r2) kind=add | then act(r3) kind=relu | "
        "then "
        "quantize(r4 w:float32[]) to=uint8",
        "dequantize | uint8[4x204] w:float32[] | then dequantize(w:int8[204x64] w:float32[64]) "
        "axis=1 | then gemm(r0 r1 w:float32[64])",
        "dequantize | int8[2x3x13x15] w:float32[] | then dequantize(w:int8[16x3x3x3] "
        "w:float32[16]) "
        "axis=0 | then conv(r0 r1 w:float32[16]) strides=[2,2] dilations=[1,1] pads_begin=[1,1] "
        "pads_end=[1,1] | then act(r2) kind=relu | then quantize(r3 w:float32[]) to=uint8 | then "
        "pool(r4) kind=max kernel=[3,3] strides=[2,2] dilations=[1,1] pads_begin=[1,1] "
        "pads_end=[1,1]",
        "quantize to=int8 | float32[1x3x9x8] w:float32[] | then dequantize(r0 w:float32[]) | then "
        "dequantize(w:int8[16x3x3x3] w:float32[16]) axis=0 | then conv(r1 r2) strides=[1,1] "
        "dilations=[1,1] pads_begin=[1,1] pads_end=[1,1] | then quantize(r3 w:float32[]) to=int8 | "
        "then pool(r4) kind=max kernel=[2,2] strides=[2,2] dilations=[1,1] pads_begin=[0,0] "
        "pads_end=[0,0]",
        "conv strides=[2,2] dilations=[1,1] pads_begin=[1,1] pads_end=[1,1] | float32[2x3x13x15] "
        "w:float32[16x3x3x3] w:float32[16] | then act(r0) kind=relu | then pool(r1) kind=max "
        "kernel=[3,2] strides=[2,1] dilations=[1,2] pads_begin=[1,0] pads_end=[0,0]"}) {
    const Problem p = problem_of(text);
    const ProbeData data(p, {ProbeKind::symmetric, 7});
    const std::vector<const Tensor*> inputs = data.values(Resolution::full);
    const auto full = region_result(p, inputs);
    ASSERT_TRUE(full.ok()) << full.error().message;
    std::vector<int64_t> elements(static_cast<size_t>(volume(output_dims(p))));
    std::iota(elements.begin(), elements.end(), 0);
    const auto sampled = sampled_region(p, inputs, elements);
    ASSERT_TRUE(sampled.ok()) << sampled.error().message;
    EXPECT_EQ(sampled->rounds, full->rounds);
    for (size_t i = 0; i < elements.size(); ++i) {
      const double magnitude = static_cast<double>(full->magnitudes.data<float>()[i]);
      const SampledValue& v = sampled->values[i];
      ASSERT_NEAR(v.value, full->values.data<double>()[i], 1e-6 * magnitude) << text << i;
      // Activations carry more there, and Dequantize's sums are over sizes here and there.
      ASSERT_NEAR(v.magnitude, magnitude, 0.51 * magnitude) << text << i;
    }
  }
}

TEST(SampledRegion, IsOneOfManyProductsOnly) {
  EXPECT_FALSE(is_sampled_region(problem_of(kQuantized)));
  EXPECT_FALSE(is_sampled_region(problem_of(kTwo)));
  EXPECT_FALSE(is_sampled_region(problem_of(kJoined)));
  EXPECT_TRUE(is_sampled_region(problem_of(
      "conv strides=[1,1] dilations=[1,1] pads_begin=[0,0] pads_end=[0,0] | float32[8x64x56x56] "
      "w:float32[256x64x1x1] | then conv(float32[8x64x56x56] w:float32[256x64x1x1]) strides=[1,1] "
      "dilations=[1,1] pads_begin=[0,0] pads_end=[0,0] | then binary(r0 r1) kind=add")));
  // A product of another one's result needs all of it.
  EXPECT_FALSE(is_sampled_region(problem_of(
      "matmul | float32[1024x1024] float32[1024x1024] | then matmul(r0 float32[1024x1024])")));
  EXPECT_TRUE(is_sampled_region(
      problem_of("dequantize | int8[4096x512] w:float32[] | then dequantize(w:int8[512x512] "
                 "w:float32[]) axis=1 | then matmul(r0 r1)")));
}

// The quotient before it is rounded, within what the type holds.
TEST(RegionResult, IsNotRoundedByAQuantizeAtItsEnd) {
  const Problem p = problem_of(
      "dequantize | int8[3] w:float32[] | then act(r0) kind=relu | then quantize(r1 w:float32[]) "
      "to=uint8");
  const Tensor x = Tensor::of<int8_t>({3}, {-3, 5, 127}), from = Tensor::of<float>({}, {1}),
               to = Tensor::of<float>({}, {0.4f});
  const auto found = region_result(p, {&x, &from, &to});
  ASSERT_TRUE(found.ok()) << found.error().message;
  EXPECT_TRUE(found->rounds);
  const auto values = found->values.data<double>();
  EXPECT_EQ(values[0], 0);
  EXPECT_NEAR(values[1], 12.5, 1e-6);
  EXPECT_EQ(values[2], 255);
}

// Either neighbour is right where what is rounded inside is about halfway between them.
TEST(RegionResult, AllowsBothSidesOfATieInside) {
  const Problem p = problem_of(
      "dequantize | int8[3] w:float32[] | then quantize(r0 w:float32[]) to=int8 | then "
      "dequantize(r1 w:float32[]) | then act(r2) kind=relu");
  const Tensor x = Tensor::of<int8_t>({3}, {1, 3, 4}), one = Tensor::of<float>({}, {1}),
               two = Tensor::of<float>({}, {2});
  const auto found = region_result(p, {&x, &one, &two, &two});
  ASSERT_TRUE(found.ok()) << found.error().message;
  const auto magnitudes = found->magnitudes.data<float>();
  EXPECT_TRUE(std::isinf(magnitudes[0]));
  EXPECT_TRUE(std::isinf(magnitudes[1]));
  EXPECT_TRUE(std::isfinite(magnitudes[2]));
}

// Of a first product that is rounded, a step too much shows in the sum.
TEST(GateOfARegion, StopsARoundingInsideThatIsLeftOut) {
  const Problem p = problem_of(kJoined);
  const auto a_step_up = [](size_t k, Tensor& t) {
    if (k != 3) return;
    for (int8_t& v : t.mutable_data<int8_t>()) v = static_cast<int8_t>(v < 127 ? v + 1 : v);
  };
  EXPECT_EQ(fault_of(p, ProbeKind::symmetric, Precision::fp32, as_it_is), "");
  EXPECT_NE(fault_of(p, ProbeKind::symmetric, Precision::fp32, a_step_up), "");
}

// Whole numbers stay whole through both sums: one that is off by one shows.
TEST(GateOfARegion, IsExactOnWholeNumbers) {
  const Problem p = problem_of(kTwo);
  EXPECT_TRUE(is_exact_on_integers(p));
  const auto off_by_one = [](size_t k, Tensor& t) {
    if (k == 2) t.mutable_data<float>()[7] += 1;
  };
  EXPECT_NE(fault_of(p, ProbeKind::integers, Precision::fp32, off_by_one), "");
  EXPECT_FALSE(is_exact_on_integers(
      problem_of("matmul | float32[4x4] float32[4x4] | then softmax(r0) axis=1")));
}

// A whole number above 2^11 is no float16: a tactic that keeps inner results in it may round them.
TEST(GateOfARegion, AsksForNoWholeNumbersThatAPrecisionCannotHold) {
  const Problem p = problem_of("matmul | float32[4x4096] float32[4096x4] | then act(r0) kind=relu");
  EXPECT_EQ(fault_of(p, ProbeKind::integers, Precision::fp16, in_half), "");
}

TEST(GateOfARegion, ComparesEveryElement) {
  const Problem p = problem_of(
      "act kind=relu | float32[1x8x64x64] | then binary(r0 float32[1x8x64x64]) kind=add");
  const ProbeData data(p, {ProbeKind::symmetric, 5});
  const auto expected = expected_outputs(p, data, Resolution::full, {});
  ASSERT_TRUE(expected.ok());
  EXPECT_EQ(std::ssize(expected->at(0).elements), volume(output_dims(p)));
  EXPECT_FALSE(shrink(p).has_value());
  EXPECT_FALSE(is_sampled(problem_of(kTwo)));
}

// sum |x||w| through both products, whatever cancels in the values.
TEST(RegionMagnitude, AddsUpSizesThroughSums) {
  const Problem p = problem_of("matmul | float32[1x2] float32[2x1] | then matmul(r0 float32[1x1])");
  const Tensor x = Tensor::of<float>({1, 2}, {3, -3}), w = Tensor::of<float>({2, 1}, {2, 2}),
               v = Tensor::of<float>({1, 1}, {-5});
  const auto found = region_result(p, {&x, &w, &v});
  ASSERT_TRUE(found.ok()) << found.error().message;
  EXPECT_EQ(found->values.data<double>()[0], 0);
  EXPECT_EQ(found->magnitudes.data<float>()[0], 60);
  EXPECT_EQ(found->largest_inner, 12);
}

// exp(x) of an x that is off by its magnitude m is off by m exp(x): measured, not known.
TEST(RegionMagnitude, IsMeasuredWhereNoRuleIsKnown) {
  const Problem p = problem_of("binary kind=sub | float32[1] float32[1] | then unary(r0) kind=exp");
  const Tensor a = Tensor::of<float>({1}, {50}), b = Tensor::of<float>({1}, {48});
  const auto found = region_result(p, {&a, &b});
  ASSERT_TRUE(found.ok()) << found.error().message;
  EXPECT_NEAR(found->magnitudes.data<float>()[0], std::exp(2.0) * 99, 1);
}

}  // namespace
}  // namespace enginery
