// Regions: problems of several operators. Their key, their text both ways, what they compute, and
// that no source which runs one operator is ever asked about one.
#include "engine/tactics/region.h"

#include <gtest/gtest.h>

#include "engine/tactics/cpu/reference/reference_source.h"
#include "engine/tactics/shapes/view.h"
#include "tests/support/problem_text.h"

namespace enginery {
namespace {

// y = relu(conv(x, w)) * x, pooled.
constexpr const char* kGated =
    "conv strides=[1,1] dilations=[1,1] pads_begin=[0,0] pads_end=[0,0] | float32[1x2x4x4] "
    "w:float32[2x2x1x1] | then act(r0) kind=relu | then binary(r1 0) kind=mul | then pool(r2) "
    "kind=max kernel=[2,2] strides=[2,2] dilations=[1,1] pads_begin=[0,0] pads_end=[0,0]";

Problem region_of(const std::string& text) {
  const auto p = parse_problem(text);
  EXPECT_TRUE(p.ok()) << p.error().message;
  return p.ok() ? *p : Problem();
}

TEST(RegionKey, SaysHowItsOperatorsAreWired) {
  const std::string key = region_of(kGated).key();
  EXPECT_TRUE(key.starts_with(
      "conv strides=[1,1] dilations=[1,1] pads_begin=[0,0] pads_end=[0,0] groups=1 | "
      "float32[1x2x4x4] w:float32[2x2x1x1] -> float32[1x2x2x2] | region 2 | act(r0) kind=relu "
      "alpha=0 beta=0 | binary(r1 0) kind=mul | pool(r2) kind=max kernel=[2,2]"))
      << key;
}

// Each differs from the first in one thing that changes the result.
TEST(RegionKey, TellsRegionsApart) {
  const char* texts[] = {"act kind=relu | float32[4] | then binary(r0 float32[4]) kind=sub",
                         "act kind=relu | float32[4] | then binary(float32[4] r0) kind=sub",
                         "act kind=relu | float32[4] | then binary(r0 0) kind=sub",
                         "act kind=tanh | float32[4] | then binary(r0 float32[4]) kind=sub",
                         "act kind=relu | float32[4] | then binary(r0 float32[4]) kind=add",
                         "act kind=relu | float32[4] | then binary(r0 w:float32[4]) kind=sub",
                         "act kind=relu | float32[4] | add float32[4]",
                         "act kind=relu | float32[4]"};
  std::set<std::string> keys;
  for (const char* text : texts) keys.insert(region_of(text).key());
  EXPECT_EQ(keys.size(), std::size(texts));
}

// The same input as the anchor's third or as the second operator's own: two computations.
TEST(RegionKey, SaysWhichInputsAreTheAnchors) {
  Problem with =
      region_of("gemm | float32[2x3] w:float32[3x4] w:float32[4] | then binary(r0 2) kind=mul");
  Problem without = with;
  without.anchor_inputs = 2;
  EXPECT_NE(with.key(), without.key());
}

TEST(RegionText, ReadsBack) {
  const Problem p = region_of(kGated);
  for (const RegionOp& op : p.rest) {
    const std::string text = region_op_text(op, p.inputs.size());
    const auto read = parse_region_op(text, p.inputs.size());
    ASSERT_TRUE(read.ok()) << read.error().message;
    EXPECT_EQ(read->operands, op.operands);
    EXPECT_EQ(region_op_text(*read, p.inputs.size()), text);
  }
  const auto absent = parse_region_op("resize(r0 _ 1) mode=nearest", 2);
  ASSERT_TRUE(absent.ok()) << absent.error().message;
  EXPECT_EQ(absent->operands, (std::vector<int>{2, -1, 1}));
}

TEST(RegionText, ThatNamesNoOperandsIsRefused) {
  for (const char* text :
       {"", "act", "act kind=relu", "act(", "act)(", "act(x)", "act(2)", "act(-1)", "act(r-1)",
        "act(r64)", "act(r)", "act(r0", "act(r0)kind=relu", "act(r0) kind", "nothing(r0)",
        "act(r99999999999999999999)"}) {
    const auto read = parse_region_op(text, 2);
    ASSERT_FALSE(read.ok()) << text;
    EXPECT_EQ(read.error().code, ErrorCode::invalid_argument) << text;
  }
}

TEST(RegionParts, AreItsOperatorsAsProblems) {
  const std::vector<RegionPart> parts = operators_of(region_of(kGated));
  ASSERT_EQ(parts.size(), 4u);
  EXPECT_EQ(parts[2].problem.key(),
            "binary kind=mul | float32[1x2x4x4] float32[1x2x4x4] -> float32[1x2x4x4]");
  EXPECT_EQ(parts[2].operands, (std::vector<int>{3, 0}));
  EXPECT_EQ(output_dims(parts[3].problem), (Dims{1, 2, 2, 2}));
  EXPECT_EQ(operator_names(region_of(kGated)), "conv+act+binary+pool");
  const Problem one = region_of("act kind=relu | float32[4]");
  EXPECT_EQ(operators_of(one)[0].problem.key(), one.key());
}

TEST(RegionReference, RunsItsOperatorsInOrder) {
  const Problem p = region_of(kGated);
  Tensor x(DataType::float32, {1, 2, 4, 4});
  for (size_t i = 0; i < 32; ++i) x.mutable_data<float>()[i] = static_cast<float>(i) - 20;
  const Tensor w = Tensor::of<float>({2, 2, 1, 1}, {1, 0, 0, 2});
  const auto y = run_problem_reference(p, std::vector<const Tensor*>{&x, &w});
  ASSERT_TRUE(y.ok()) << y.error().message;
  // The first channel is negative throughout; of the second only the last eight are above 0.
  const std::vector<float> expected = {0, 0, 0, 0, 2, 18, 162, 242};
  const auto found = (*y)[0].data<float>();
  EXPECT_EQ(std::vector<float>(found.begin(), found.end()), expected);
}

// 1 + 2^-12 is no float16: rounded between the operators, nothing would be left of it.
TEST(RegionReference, RoundsNothingBetweenOperators) {
  const Problem p =
      region_of("binary kind=add | float16[1] float16[1] | then binary(r0 float16[1]) kind=sub");
  const Tensor one = convert(Tensor::of<float>({1}, {1}), DataType::float16);
  const Tensor little = convert(Tensor::of<float>({1}, {0x1p-12f}), DataType::float16);
  const auto y = run_problem_reference(p, std::vector<const Tensor*>{&one, &little, &one});
  ASSERT_TRUE(y.ok()) << y.error().message;
  EXPECT_EQ(convert((*y)[0], DataType::float32).data<float>()[0], 0x1p-12f);
}

TEST(FlopCount, OfARegionIsThatOfItsOperators) {
  EXPECT_EQ(flop_count(region_of(kGated)), 32 * 2 * 2 + 32 + 32 + 8 * 4);
}

struct WrongRegion {
  const char* text;
  const char* reason;
};

TEST(RegionTypes, AreInferredOrRefused) {
  const WrongRegion wrong[] = {
      {"act kind=relu | float32[4] | then act(r1) kind=relu", "reads what no earlier one gives"},
      {"act kind=relu | float32[4] | then act(r2) kind=relu | then act(r1) kind=relu",
       "reads what no earlier one gives"},
      {"act kind=relu | float32[4] | then act(0) kind=relu", "a result that nothing reads"},
      {"act kind=relu | float32[4] | then split(r0) axis=0 sizes=[2,2]", "several results"},
      {"act kind=relu | float32[4] | then binary(r0 int32[4]) kind=add", "one type"},
      {"act kind=relu | float32[4] | then binary(r0 float32[3]) kind=add", "broadcast"},
      {"act kind=relu | float32[4] | then reshape(r0 int64[1])", "run-time size"},
  };
  for (const auto& [text, reason] : wrong) {
    const auto p = parse_problem(text);
    ASSERT_FALSE(p.ok()) << text;
    EXPECT_NE(p.error().message.find(reason), std::string::npos) << text << p.error().message;
  }
}

// A source that runs one operator.
class OneOperator final : public TacticSource {
 public:
  SourceTraits traits() const override { return {.name = "single"}; }
  Result<std::vector<Tactic>> offer(const Problem&, const std::set<Precision>&) const override {
    return Error{ErrorCode::internal, "it was asked"};
  }
  Result<std::shared_ptr<const PreparedTactic>> prepare(const Problem&, const Tactic&,
                                                        Weights) const override {
    return Error{ErrorCode::internal, "it was asked"};
  }
};

TEST(Regions, AreForSourcesThatTakeThem) {
  const OneOperator single;
  const Status served = require_served(single, region_of(kGated));
  ASSERT_FALSE(served.ok());
  EXPECT_EQ(served.error().code, ErrorCode::unsupported);
  EXPECT_EQ(served.error().message,
            "single: runs one operator at a time, not the region conv+act+binary+pool");
  EXPECT_TRUE(require_served(single, region_of("act kind=relu | float32[4]")).ok());
  DeviceInfo host;
  const auto reference = make_reference_source(host);
  ASSERT_TRUE(reference.ok()) << reference.error().message;
  EXPECT_TRUE(require_served(**reference, region_of(kGated)).ok());
}

TEST(Pitches, AreForSourcesThatWriteWithOne) {
  const OneOperator single;
  const auto reference = make_reference_source(DeviceInfo());
  ASSERT_TRUE(reference.ok()) << reference.error().message;
  const Problem placed = region_of("reformat | float32[2x8x3x3] | float32:nhwc -> float32:nhwc/24"),
                fetched =
                    region_of("reformat | float32[2x8x3x3] | float32:nhwc/24 -> float32:nhwc"),
                relu = region_of("act kind=relu | float32[2x8x3x3]");
  const TacticSource* const others[] = {&single, reference->get()};
  for (const TacticSource* source : others) {
    const Status served = require_served(*source, placed);
    ASSERT_FALSE(served.ok());
    EXPECT_EQ(served.error().code, ErrorCode::unsupported);
    EXPECT_FALSE(require_served(*source, fetched).ok());
    Tactic tactic;
    tactic.inputs = tactic.outputs = {{DataType::float32, {LayoutKind::channels_last, 0}}};
    EXPECT_TRUE(require_served(*source, relu, tactic).ok());
    tactic.outputs[0] = with_pitch(tactic.outputs[0], 24);
    EXPECT_FALSE(require_served(*source, relu, tactic).ok());
  }
}

TEST(Pitches, AreOfTheFirstOutputAndOfTheSameFormat) {
  const Format own{DataType::float32, {LayoutKind::channels_last, 0}}, wide = with_pitch(own, 24);
  const Dims dims{2, 8, 3, 3};
  Tactic tactic;
  tactic.outputs = {own, own};
  EXPECT_TRUE(can_leave(tactic, 0, dims, own));
  EXPECT_FALSE(can_leave(tactic, 0, dims, wide));
  tactic.writes_pitched = true;
  EXPECT_TRUE(can_leave(tactic, 0, dims, wide));
  EXPECT_FALSE(can_leave(tactic, 1, dims, wide));
  EXPECT_FALSE(can_leave(tactic, 0, dims, {DataType::float16, wide.layout}));
  EXPECT_FALSE(can_leave(tactic, 0, dims, {}));
}

TEST(RequireServed, TypesForStorageAreForReferences) {
  const OneOperator single;
  const auto cast = parse_problem("cast to=float8e4m3fn | float32[4]");
  ASSERT_TRUE(cast.ok()) << cast.error().message;
  const Status served = require_served(single, *cast);
  ASSERT_FALSE(served.ok());
  EXPECT_EQ(served.error().code, ErrorCode::unsupported);
  EXPECT_EQ(served.error().message, "single: has no elements of float8e4m3fn");
  DeviceInfo host;
  EXPECT_TRUE(require_served(*make_reference_source(host).value(), *cast).ok());
}

// Its anchor alone would be one.
TEST(Regions, AreNoViewsAndNoReformats) {
  const Problem p = region_of("identity | float32[2x3] | then act(r0) kind=relu");
  EXPECT_FALSE(is_view(p, {}, {}));
  Problem pinned = p;
  pinned.inputs[0].pinned = pinned.outputs[0].pinned = Format{};
  EXPECT_FALSE(is_reformat(pinned));
  EXPECT_EQ(share_read(region_of(kGated), true), 1);
  const Problem cast = region_of("cast to=float32 | float16[4] | then act(r0) kind=relu");
  EXPECT_FALSE(is_widening_cast(cast));
}

}  // namespace
}  // namespace enginery
