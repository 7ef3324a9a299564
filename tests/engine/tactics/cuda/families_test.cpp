// Which problems each kernel family takes and which it leaves to others, with its reason; which
// variants serve which card.
#include <algorithm>

#include "engine/tactics/cuda/kernel/conv_mma/variants.h"
#include "tests/engine/tactics/cuda/card.h"

namespace enginery {
namespace {

using test::Card;
using test::problem_of;

std::vector<std::string> ids_of(const KernelFamily& family, const Problem& problem,
                                const Card& card) {
  std::vector<Tactic> tactics;
  const Status offered = family.offer(problem, card.context, tactics);
  EXPECT_EQ(offered.ok(), !tactics.empty()) << "offers, or says why not";
  std::vector<std::string> ids;
  for (const Tactic& t : tactics) {
    if (ids.empty() || ids.back() != t.id) ids.push_back(t.id);
  }
  return ids;
}

// "" where the family offers.
std::string refusal_of(const KernelFamily& family, const Problem& problem, const Card& card) {
  std::vector<Tactic> tactics;
  const Status offered = family.offer(problem, card.context, tactics);
  if (offered.ok()) return "";
  EXPECT_EQ(offered.error().code, ErrorCode::unsupported) << family.name;
  return offered.error().message;
}

std::string convolution(const std::string& operands, const std::string& attributes = "") {
  return "conv strides=[1,1] dilations=[1,1] pads_begin=[0,0] pads_end=[0,0] " + attributes +
         " | " + operands;
}

struct Row {
  const KernelFamily& family;
  std::string problem, reason;
};

void expect_refusals(const std::vector<Row>& rows) {
  const Card card;
  for (const Row& row : rows)
    EXPECT_EQ(refusal_of(row.family, problem_of(row.problem), card), row.reason)
        << row.family.name << ": " << row.problem;
}

TEST(KernelFamilies, LeaveConvolutionsToWhoCanRunThem) {
  const std::string grouped = convolution("float32[1x8x9x9] w:float32[8x4x3x3]", "groups=2"),
                    tall = convolution("float32[1x8x40x9] w:float32[8x8x33x1]"),
                    wide = convolution("float32[1x8x9x40] w:float32[8x8x1x33]");
  expect_refusals({
      {kConvMmaFamily, grouped, "groups"},
      {kConvMmaFamily, tall, "a filter larger than 32"},
      {kConvMmaFamily, wide, "a filter larger than 32"},
      {kConvMmaFamily, "matmul | float32[8x12] w:float32[12x16]",
       "a matrix product whose sizes are no multiples of 8"},
      {kConvMmaFamily, "matmul | float32[8x16] w:float32[16x12]",
       "a matrix product whose sizes are no multiples of 8"},
      {kConvMmaFamily, convolution("float32[1x5x9x9] w:float32[7x5x3x3]"), ""},
      {kConvSimtFamily, grouped, "groups"},
      {kConvSimtFamily, tall, "a filter larger than 32"},
      {kConvSimtFamily, "matmul | float32[8x6] w:float32[6x16]",
       "a matrix product whose sizes are no multiples of 4"},
      {kConvSimtFamily, "matmul | float32[8x12] w:float32[12x16]", ""},
      {kConvDirectFamily, grouped, ""},
      {kConvDirectFamily, tall, ""},
      {kConvDirectFamily, "matmul | float32[8x5] w:float32[5x7]", ""},
      {kDepthwiseFamily,
       "conv strides=[1,1,1] dilations=[1,1,1] pads_begin=[0,1,1] pads_end=[0,1,1] groups=8 | "
       "float32[2x8x3x9x9] w:float32[8x1x1x3x3] | multiply float32[2x8x1x1x1]",
       "a factor for each image, where planes are images"},
      {kDepthwiseFamily, grouped, "not depthwise"},
      {kDepthwiseFamily, convolution("float32[1x1x9x9] w:float32[1x1x3x3]"), "not depthwise"},
      {kDepthwiseFamily, convolution("float32[1x8x9x9] w:float32[16x1x3x3]", "groups=8"),
       "not depthwise"},
      {kDepthwiseFamily, convolution("float32[1x8x9x9] w:float32[8x1x8x8]", "groups=8"),
       "a depthwise filter larger than 7x7"},
      {kDepthwiseFamily, convolution("float32[1x8x9x9] w:float32[8x1x7x7]", "groups=8"), ""},
      {kGemvFamily, convolution("float32[1x8x2x1] w:float32[8x8x1x1]"), "more than one pixel"},
      {kGemvFamily, convolution("float32[2x8x1x1] w:float32[8x8x1x1]"), ""},
      {kGemvFamily, convolution("float32[2x8x1x1] w:float32[7x8x1x1]"), "padded channels"},
      {kGemvFamily, "matmul | float32[64x8] w:float32[8x7]", ""},
      {kGemvFamily, "matmul | float32[65x8] w:float32[8x7]", "more than 64 rows"},
  });
}

TEST(KernelFamilies, LeaveAttentionsToWhoCanRunThem) {
  const std::string sizes = "attention queries=3 keys=4 depth=8 width=8 k=[0,8,1] v=[0,8,1] ";
  const std::string usual = sizes + "q=[0,8,1] y=[0,8,1] output=[3,8] | ";
  expect_refusals({
      {kAttentionFamily, usual + "float32[3x8] float32[4x8] float32[4x8]", ""},
      {kAttentionFamily, usual + "float32[3x8] w:float32[4x8] float32[4x8]",
       "an attention to constants"},
      {kAttentionFamily, usual + "float64[3x8] float64[4x8] float64[4x8]",
       "an attention of float64"},
      {kAttentionFamily, usual + "float32[3x8] float32[4x8] float32[4x8] | act kind=relu",
       "a fused chain"},
      {kAttentionFamily, "softmax axis=1 | float32[3x4]", "no attention"},
  });
}

TEST(KernelFamilies, LeaveWindowsAndReductionsToWhoCanRunThem) {
  const std::string pool3d =
      "pool kind=max kernel=[2,2,2] strides=[1,1,1] dilations=[1,1,1] pads_begin=[0,0,0] "
      "pads_end=[0,0,0] | float32[1x8x4x4x4]";
  expect_refusals({
      {kPoolFamily, pool3d, "a window along 3 dimensions"},
      {kVolumeFamily, pool3d, ""},
      {kVolumeFamily,
       "pool kind=max kernel=[1,2,2] strides=[1,1,1] dilations=[1,1,1] "
       "pads_begin=[0,0,0] pads_end=[0,0,0] | float32[1x8x4x4x4]",
       "a window along fewer dimensions"},
      {kVolumeFamily, convolution("float32[1x8x9x9] w:float32[8x8x3x3]"), "no three dimensions"},
      {kPoolFamily, "global_pool kind=max | float32[0x8x4x4]", "pooling over 0x8x4x4"},
      {kPoolFamily, "act kind=relu | float32[1x8x4x4]", "no pooling"},
      {kReduceFamily, "reduce kind=mean axes=[1] keep_dims=true | int32[3x4]",
       "no reduction that kernels have"},
      {kReduceFamily, "reduce kind=sum axes=[0] keep_dims=true | w:float32[3x4]",
       "no reduction that kernels have"},
      {kReduceFamily, "reduce kind=sum axes=[0] keep_dims=true | float32[3x0]", "no elements"},
      {kReduceFamily, "reduce kind=sum axes=[0] keep_dims=false | float32[3] | act kind=relu",
       "a fused chain on a single number"},
      {kReduceFamily, "softmax axis=1 | float32[3x4]", "no reduction"},
      {kSoftmaxFamily, "softmax axis=1 | float32[3x4] | act kind=relu", "a fused chain"},
      {kSoftmaxFamily, "softmax axis=1 | float32[3x0]", "no floats"},
      {kNormalizeFamily, "layer_norm axis=-1 | float32[2x8] float32[1]",
       "a run-time scale or bias that repeats"},
      {kNormalizeFamily, "layer_norm axis=-1 | float32[0x8] w:float32[8]", "no elements"},
      {kNormalizeFamily, "softmax axis=1 | float32[3x4]", "no normalisation of rows"},
      {kNormalizeFamily,
       "instance_norm | float32[2x8x8] w:float32[8] w:float32[8] | bias w:float32[8]",
       "a fused bias along another dimension than the last"},
      {kSelectFamily, "select | w:boolean[3] w:float32[3] w:float32[3]", "constants alone"},
      {kSelectFamily, "act kind=relu | float32[3]", "no choice"},
      {kDiscreteFamily, "binary kind=add | float32[3] float32[3]", "floats or no elements"},
      {kDiscreteFamily, "binary kind=div | int64[3] int64[3]", "a divisor that may be zero"},
      {kDiscreteFamily, "binary kind=div | int64[3] int64[1]={2}", ""},
      {kQuantizeFamily, "quantize to=int16 | float32[3x4] w:float32[]", "quantisation of int16"},
      {kQuantizeFamily, "quantize | float16[3x4] w:float32[]",
       "quantisation of other floats than float32"},
      {kQuantizeFamily, "dequantize | int8[3x4] float32[]",
       "a fused chain, blocks or scales of run time"},
      {kQuantizeFamily, "dequantize | w:int8[3x4] w:float32[]", "constants alone"},
      {kArgExtremeFamily, "arg_extreme axis=1 | float64[3x4]",
       "places in float64[3x4], or a fused chain"},
      {kArgExtremeFamily, "arg_extreme axis=1 | w:float32[3x4]", "constants alone"},
      {kArgExtremeFamily, "softmax axis=1 | float32[3x4]", "no place of an extreme"},
      {kLrnFamily, "lrn size=3 alpha=1 beta=1 bias=1 | float32[1x12x4x4]", ""},
      {kLrnFamily, "lrn size=3 alpha=1 beta=1 bias=1 | float32[0x16x4x4]", "no floats"},
      {kLrnFamily, "lrn size=101 alpha=1 beta=1 bias=1 | float32[1x99x4x4]",
       "a window of 101 channels"},
      {kLrnFamily, "lrn size=3 alpha=1 beta=1 bias=1 | float32[1x16x4x4] | act kind=relu",
       "a fused chain"},
  });
}

TEST(KernelFamilies, LeaveElementsToWhoCanMoveThem) {
  const std::string alternating = "transpose permutation=[6,5,4,3,2,1,0] | float32[2x3x2x3x2x3x2]";
  expect_refusals({
      {kCopyFamily, alternating, "more than 6 dimensions"},
      {kCopyFamily, "transpose permutation=[5,4,3,2,1,0] | float32[2x3x2x3x2x3]", ""},
      {kCopyFamily, "concat axis=0 | w:float32[2x3] w:float32[2x3]", "constants alone"},
      {kCopyFamily, "transpose permutation=[1,0] | w:float32[2x3]", "constants alone"},
      {kCopyFamily, "transpose | float32[2x3] | act kind=relu", "a fused chain"},
      {kCopyFamily, "act kind=relu | float32[2x3]", "no copy of elements"},
      {kGatherFamily, "gather axis=0 | float32[0x3] int64[2]", "no elements"},
      {kGatherFamily, "gather axis=0 | float32[4x3] int64[0]", "no elements"},
      {kGatherFamily, "gather axis=0 | float32[4x3] int64[2] | act kind=relu", "a fused chain"},
      {kCastFamily, "cast to=int16 | float32[3]", "a type that kernels do not have"},
      {kCastFamily, "cast to=float32 | int16[3]", "a type that kernels do not have"},
      {kCastFamily, "cast to=int32 | w:float32[3]", "a fused chain or a constant"},
      {kCastFamily, "cast to=int32 | float32[0]", "no elements"},
      {kCastFamily, "cast to=boolean | int64[3]", ""},
      {kReformatFamily, "reformat | float32[1x8x3x3] | float32:linear -> float32:nChw8c",
       "blocked layouts"},
      {kReformatFamily, "reformat | int32[1x8x3x3] | int32:linear -> int32:nhwc",
       "formats of int32"},
      {kReformatFamily, "act kind=relu | float32[1x8x3x3]", "no change of format"},
      {kViewFamily, "transpose permutation=[1,0] | float32[3x4]", "no change of dims alone"},
      {kViewFamily, "transpose permutation=[1,0] | float32[1x4]", ""},
  });
}

TEST(KernelFamilies, LeaveElementwiseFunctionsThatTheyDoNotHave) {
  const std::string sums[] = {"binary kind=greater | float32[3x4] float32[3x4]",
                              "binary kind=add | int32[3x4] int32[3x4]"};
  expect_refusals({
      {kPointwiseFamily, sums[0], "no floating-point output"},
      {kPointwiseFamily, sums[1], "no floating-point output"},
      {kPointwiseFamily, "binary kind=mod | float32[3] float32[3]",
       "no element-wise function of floats"},
      {kPointwiseFamily, "softmax axis=0 | float32[3x4]", "no element-wise function of floats"},
      {kPointwiseFamily, "act kind=relu | float32[0x4]", "no elements"},
      {kPointwiseFamily, "binary kind=pow | float32[3x4] w:float32[1]", ""},
      {kResampleFamily, "pad mode=edge | float32[3x4x5x6] int64[8]={1,1,1,1,0,0,0,0}",
       "more than three dimensions to resample"},
      {kResampleFamily, "pad mode=edge | float32[3x4x5x6] int64[8]={0,1,1,1,0,0,0,0}", ""},
      {kResampleFamily, "pad mode=edge | int32[3x4] int64[4]={0,1,0,1}",
       "integers, a constant or a fused chain"},
      {kResampleFamily, "act kind=relu | float32[3x4]", "no resize and no padding"},
  });
}

TEST(KernelFamilies, RefuseWhatIsKnownOnlyAtRunTime) {
  const Card card;
  Problem slice = problem_of("slice | float32[6x5] int64[1]={1} int64[1]={3}");
  slice.inputs[1].value.reset();
  EXPECT_EQ(refusal_of(kCopyFamily, slice, card),
            "a slice whose bounds are known only at run time");
  Problem pad = problem_of("pad mode=edge | float32[3x4] int64[4]={0,1,0,1}");
  pad.inputs[1].value.reset();
  EXPECT_EQ(refusal_of(kResampleFamily, pad, card), "pads that are computed");
  Problem resize = problem_of(
      "resize mode=linear coordinates=half_pixel | float32[1x8x4x4] _ int64[4]={1,8,8,8}");
  resize.inputs[2].value.reset();
  EXPECT_EQ(refusal_of(kResampleFamily, resize, card), "a resize by more than known sizes");
}

// No family may index beyond 31 bits, whatever it is asked.
TEST(KernelFamilies, RefuseTensorsThatTheirIndicesDoNotReach) {
  const Card card;
  for (const char* text :
       {"act kind=relu | float32[65536x32768]", "softmax axis=1 | float32[65536x32768]",
        "transpose permutation=[1,0] | float32[65536x32768]",
        "reduce kind=sum axes=[1] keep_dims=true | float32[65536x32768]",
        "matmul | float32[65536x32768] w:float32[32768x8]", "identity | float32[65536x32768]",
        "cast to=int32 | float32[65536x32768]"}) {
    const auto tactics = offer_kernels(problem_of(text), card.context, true);
    ASSERT_FALSE(tactics.ok()) << text;
    EXPECT_NE(tactics.error().message.find("has more than 2^31 elements"), std::string::npos);
  }
}

TEST(KernelFamilies, NameEachFamilyOnceAndTheirTacticsAfterIt) {
  std::set<std::string_view> names;
  for (const KernelFamily* family : kernel_families())
    EXPECT_TRUE(names.insert(family->name).second) << family->name;
  const Card card;
  std::vector<Tactic> tactics;
  const Problem problem = problem_of("act kind=relu | float32[1x8x4x4]");
  for (const KernelFamily* family : kernel_families()) {
    tactics.clear();
    (void)family->offer(problem, card.context, tactics);
    for (const Tactic& t : tactics)
      EXPECT_EQ(t.id.substr(0, t.id.find('/')), family->name) << "it could not be planned";
  }
}

TEST(KernelFamilies, PlanNoTacticThatTheyDidNotOffer) {
  const Card card;
  const std::pair<const char*, const char*> rows[] = {
      {"pool/global",
       "pool kind=max kernel=[2,2] strides=[2,2] dilations=[1,1] pads_begin=[0,0] "
       "pads_end=[0,0] | float32[2x16x8x8]"},
      {"pool/window", "global_pool kind=max | float32[2x16x8x8]"},
      {"reformat/tile_to_nhwc", "reformat | float32[2x8x9x9] | float32:nhwc -> float32:linear"},
      {"conv_simt/64x64x16_k16", "matmul | float32[8x16] w:float32[16x16]"},
      {"conv_mma/fp16_64x64x128b_s4_c8", "matmul | float32[8x64] w:float32[64x16]"},
      {"gemv/rows3", "matmul | float32[8x16] w:float32[16x16]"},
      {"lrn/vectors_n1", "lrn size=5 alpha=1 beta=1 bias=1 | float32[5x19]"},
      {"lrn/channels", "lrn size=5 alpha=1 beta=1 bias=1 | float32[1x12x4x4]"},
      {"reduce/halves", "reduce kind=sum axes=[1] keep_dims=true | float32[3x4]"},
      {"nothing/at_all", "act kind=relu | float32[3x4]"},
      {"", "act kind=relu | float32[3x4]"}};
  for (const auto& [id, text] : rows) {
    const Problem problem = problem_of(text);
    Tactic tactic = make_kernel_tactic(problem, id);
    for (Format& f : tactic.inputs) f.type = DataType::float16;
    const auto plan = plan_kernel(problem, tactic, card.context);
    ASSERT_FALSE(plan.ok()) << id;
    EXPECT_EQ(plan.error().code, ErrorCode::incompatible) << id;
    EXPECT_NE(plan.error().message.find("'" + std::string(id) + "'"), std::string::npos)
        << plan.error().message;
  }
}

// Element by element is for windows wider than vectors, and for what earlier engines hold.
TEST(LrnFamily, OffersElementsForWideWindowsAndPlansThemForEarlierEngines) {
  const Card card(90, {Precision::fp32});
  const auto ids = [&](const std::string& size) {
    return ids_of(kLrnFamily,
                  problem_of("lrn size=" + size + " alpha=1 beta=0.75 bias=1 | float32[2x32x7x7]"),
                  card);
  };
  const std::vector<std::string> narrow = {"lrn/vectors_n1", "lrn/vectors_n2", "lrn/planes_r8",
                                           "lrn/planes_r2"},
                                 wide = {"lrn/planes_r8", "lrn/planes_r2", "lrn/channels"};
  EXPECT_EQ(ids("5"), narrow);
  EXPECT_EQ(ids("9"), narrow) << "a vector on either side";
  EXPECT_EQ(ids("10"), wide);
  const Problem problem = problem_of("lrn size=5 alpha=1 beta=0.75 bias=1 | float32[2x32x7x7]");
  Tactic earlier = make_kernel_tactic(problem, "lrn/channels");
  earlier.inputs[0] = earlier.outputs[0] = channels_last_format(DataType::float32, 32);
  const auto plan = plan_kernel(problem, earlier, card.context);
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  EXPECT_EQ(plan->launches[0].grid[0], 13u) << "an element a thread, 256 a block";
}

const char* const kDeep =
    "conv strides=[1,1] dilations=[1,1] pads_begin=[1,1] pads_end=[1,1] | float32[1x512x14x14] "
    "w:float32[512x512x3x3]";

bool any_id(const std::vector<std::string>& ids, const std::string& part) {
  return std::ranges::any_of(ids, [&](const auto& id) { return id.find(part) + 1 != 0; });
}

TEST(ConvMma, NeedsTensorCoresAndAPrecisionForThem) {
  const Problem problem = problem_of(kDeep);
  EXPECT_EQ(refusal_of(kConvMmaFamily, problem, Card(70)), "no mma.sync below 7.5");
  EXPECT_EQ(refusal_of(kConvMmaFamily, problem, Card(90, {Precision::fp32})),
            "none of fp16, bf16 and tf32 is allowed, or the SM lacks it");
  EXPECT_EQ(refusal_of(kConvMmaFamily, problem, Card(75, {Precision::fp32, Precision::tf32})),
            "none of fp16, bf16 and tf32 is allowed, or the SM lacks it")
      << "tf32 is of 8.0";
  const auto ids = ids_of(kConvMmaFamily, problem, Card(75));
  EXPECT_TRUE(any_id(ids, "/fp16_"));
  EXPECT_FALSE(any_id(ids, "/tf32_"));
}

TEST(ConvMma, OffersClustersFrom90OnAndTwoStagesOnlyBefore80) {
  const Problem problem = problem_of(kDeep);
  const auto turing = ids_of(kConvMmaFamily, problem, Card(75)),
             ampere = ids_of(kConvMmaFamily, problem, Card(80)),
             hopper = ids_of(kConvMmaFamily, problem, Card(90));
  EXPECT_TRUE(any_id(turing, "_s2"));
  EXPECT_FALSE(any_id(turing, "_s4"));
  EXPECT_FALSE(any_id(ampere, "_s2"));
  EXPECT_FALSE(any_id(ampere, "_c"));
  EXPECT_TRUE(any_id(hopper, "_c8"));
  for (const std::string& id : ampere)
    EXPECT_TRUE(std::ranges::count(hopper, id)) << "a newer card runs it too: " << id;
}

TEST(ConvMma, OffersOnlyVariantsThatFitSharedMemory) {
  const auto bytes_of = [](const Card& card) {
    std::vector<int> out;
    const auto ids = ids_of(kConvMmaFamily, problem_of(kDeep), card);
    for (const MmaVariant& v : mma_variants()) {
      if (std::ranges::count(ids, "conv_mma/fp16_" + name_of(v))) out.push_back(shared_bytes_of(v));
    }
    return out;
  };
  for (int sm : {75, 80, 86, 89, 90}) {
    const Card card(sm);
    for (int bytes : bytes_of(card))
      EXPECT_LE(bytes, card.context.limits.shared_kib_per_block << 10);
  }
  Card small(80);
  small.context.limits.shared_kib_per_block = 48;
  EXPECT_FALSE(bytes_of(small).empty());
  EXPECT_LT(bytes_of(small).size(), bytes_of(Card(80)).size());
  for (int bytes : bytes_of(small)) EXPECT_LE(bytes, 48 * 1024);
}

// Each part has two steps at least: one to load while the other is computed.
TEST(ConvMma, DividesOnlyAKThatIsLongEnough) {
  const auto parts = [](int64_t c) {
    return ids_of(kConvMmaFamily,
                  problem_of("matmul | float32[8x" + std::to_string(c) + "] w:float32[" +
                             std::to_string(c) + "x64]"),
                  Card(90, {Precision::fp16}));
  };
  // A step is 64 halfs.
  EXPECT_FALSE(any_id(parts(192), "_c2"));
  EXPECT_TRUE(any_id(parts(256), "_c2"));
  EXPECT_FALSE(any_id(parts(448), "_k4"));
  EXPECT_TRUE(any_id(parts(512), "_k4"));
  EXPECT_FALSE(any_id(parts(512), "_c8"));
}

TEST(Gemv, OffersNoMoreRowsThanItHasUseFor) {
  const auto ids = [](int rows) {
    return ids_of(kGemvFamily,
                  problem_of("matmul | float32[" + std::to_string(rows) + "x16] w:float32[16x8]"),
                  Card(90, {Precision::fp32}));
  };
  using Ids = std::vector<std::string>;
  EXPECT_EQ(ids(1), Ids{"gemv/rows1"});
  EXPECT_EQ(ids(2), Ids{"gemv/rows1"});
  EXPECT_EQ(ids(3), (Ids{"gemv/rows1", "gemv/rows4"}));
  EXPECT_EQ(ids(5), (Ids{"gemv/rows1", "gemv/rows4", "gemv/rows8"}));
}

TEST(Depthwise, OffersNoStripTwiceAsLongAsARow) {
  const auto ids = [](int width) {
    return ids_of(kDepthwiseFamily,
                  problem_of("conv strides=[1,1] dilations=[1,1] pads_begin=[0,0] pads_end=[0,0] "
                             "groups=8 | float32[1x8x4x" +
                             std::to_string(width) + "] w:float32[8x1x1x1]"),
                  Card(90, {Precision::fp32}));
  };
  using Ids = std::vector<std::string>;
  EXPECT_EQ(ids(1), (Ids{"depthwise/strip1", "depthwise/strip1_w2"}));
  const auto longest = [&](int width) {
    const Ids of_row = ids(width);
    return *std::max_element(of_row.begin(), of_row.end());
  };
  EXPECT_EQ(longest(3), "depthwise/strip4_w2");
  EXPECT_EQ(longest(4), "depthwise/strip4_w2");
  EXPECT_EQ(longest(5), "depthwise/strip8");
}

TEST(Pool, OffersNoLanesOrPartsWithoutWork) {
  const auto ids = [](const std::string& dims) {
    return ids_of(kPoolFamily, problem_of("global_pool kind=average | float32[" + dims + "]"),
                  Card(90, {Precision::fp32}));
  };
  using Ids = std::vector<std::string>;
  EXPECT_EQ(ids("1x8x2x2"), Ids{"pool/global"});
  EXPECT_EQ(ids("1x32x4x4"), (Ids{"pool/global", "pool/global_l4", "pool/global_l2",
                                  "pool/global_t512_l2", "pool/global_l4_p16"}));
}

}  // namespace
}  // namespace enginery
