// The host side of the oneDNN source: which recipes it makes of a problem, and what it keeps away.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "engine/device/sku_table.h"
#include "engine/tactics/cpu/onednn/onednn_source.h"
#include "tests/support/problem_text.h"

namespace enginery {
namespace {

// oneDNN's cap belongs to the process: every test of this program uses the machine's best SKU.
const TacticSource& onednn() {
  static const std::unique_ptr<TacticSource> source = [] {
    for (const LocalSku& sku : local_skus()) {
      if (sku.kind != DeviceKind::cpu) continue;
      return make_onednn_source(open_device(sku.name, {}).value()->info()).value();
    }
    return std::unique_ptr<TacticSource>();
  }();
  return *source;
}

std::vector<Tactic> offered(const std::string& text) {
  auto tactics = onednn().offer(*parse_problem(text), {Precision::fp32});
  return tactics.ok() ? *tactics : std::vector<Tactic>();
}

std::string refusal(const std::string& text) {
  auto tactics = onednn().offer(*parse_problem(text), {Precision::fp32});
  if (tactics.ok()) return "";
  EXPECT_EQ(tactics.error().code, ErrorCode::unsupported);
  return tactics.error().message;
}

bool any_id_has(const std::vector<Tactic>& tactics, const std::string& part) {
  return std::ranges::any_of(tactics,
                             [&](const Tactic& t) { return t.id.find(part) != std::string::npos; });
}

std::string convolution(const std::string& x, const std::string& w, const std::string& rest = "") {
  return "conv strides=[1,1] dilations=[1,1] pads_begin=[1,1] pads_end=[1,1] | float32[" + x +
         "] w:float32[" + w + "]" + rest;
}

TEST(OnednnOffers, AreInTheOrderOfTheirEstimates) {
  const std::vector<Tactic> tactics = offered(convolution("1x32x14x14", "32x32x3x3"));
  ASSERT_GE(tactics.size(), 2u);
  EXPECT_TRUE(std::ranges::is_sorted(tactics, {}, &Tactic::estimated_us));
  for (const Tactic& t : tactics) EXPECT_GT(t.estimated_us, 0);
}

TEST(OnednnOffers, NameEachTacticOnce) {
  std::set<std::string> keys;
  for (const Tactic& t : offered(convolution("1x32x14x14", "32x32x3x3")))
    EXPECT_TRUE(keys.insert(tactic_key(t)).second) << tactic_key(t);
}

// Sums of 8-bit products are exact where there is VNNI; below it pairs of them saturate.
TEST(OnednnOffers, AddUpQuantizedProductsWhereTheSumsAreExact) {
  const std::vector<LocalSku> skus = local_skus();
  const auto best = std::ranges::find(skus, DeviceKind::cpu, &LocalSku::kind);
  ASSERT_NE(best, skus.end());
  const std::string region =
      "dequantize | uint8[1x16x9x9] w:float32[] | then dequantize(w:int8[24x16x3x3] w:float32[24]) "
      "axis=0 | then conv(r0 r1) strides=[1,1] dilations=[1,1] pads_begin=[1,1] pads_end=[1,1]";
  const bool exact = find_sku(best->name)->isa >= CpuIsa::avx512_vnni;
  EXPECT_EQ(any_id_has(offered(region), "int8:"), exact) << refusal(region);
}

// Elsewhere products in bfloat16 take longer than in float32.
TEST(OnednnOffers, MultiplyInBfloat16WhereTheCpuHasItAndWhereItIsAllowed) {
  const std::vector<LocalSku> skus = local_skus();
  const auto best = std::ranges::find(skus, DeviceKind::cpu, &LocalSku::kind);
  ASSERT_NE(best, skus.end());
  const bool has_it = multiplies_bfloat16(find_sku(best->name)->isa);
  const auto narrow = [](const Tactic& t) {
    EXPECT_EQ(t.compute == Precision::bf16, t.inputs[0].type == DataType::bfloat16)
        << tactic_key(t);
    return t.compute == Precision::bf16;
  };
  for (const std::string& text :
       {convolution("1x32x14x14", "32x32x3x3"),
        std::string("gemm transpose_b=true | float32[8x64] w:float32[32x64]")}) {
    const auto allowed = onednn().offer(*parse_problem(text), {Precision::fp32, Precision::bf16});
    ASSERT_TRUE(allowed.ok()) << allowed.error().message;
    EXPECT_EQ(std::ranges::any_of(*allowed, narrow), has_it) << text;
    EXPECT_FALSE(std::ranges::any_of(offered(text), narrow)) << text;
  }
}

// A graph in which nothing else wants another layout needs no reformat around a convolution.
TEST(OnednnOffers, ConvolveLinearTensorsAsTheyAre) {
  for (const char* w : {"32x32x3x3", "7x32x3x3"}) {
    const std::vector<Tactic> tactics = offered(convolution("1x32x14x14", w));
    EXPECT_TRUE(std::ranges::any_of(tactics, [](const Tactic& t) {
      return t.inputs[0].layout.kind == LayoutKind::linear &&
             t.outputs[0].layout.kind == LayoutKind::linear;
    })) << w;
  }
}

// A first layer of three channels reads the image as it comes.
TEST(OnednnOffers, ReadAStemsImageLinear) {
  const std::vector<Tactic> stem = offered(convolution("1x3x32x32", "32x3x3x3"));
  EXPECT_TRUE(std::ranges::any_of(stem, [](const Tactic& t) {
    return t.inputs[0].layout.kind == LayoutKind::linear &&
           t.outputs[0].layout.kind != LayoutKind::linear;
  }));
  EXPECT_FALSE(
      std::ranges::any_of(offered(convolution("1x32x9x9", "32x32x3x3")), [](const auto& t) {
        return t.inputs[0].layout.kind == LayoutKind::linear &&
               t.outputs[0].layout.kind != LayoutKind::linear;
      }));
}

TEST(OnednnOffers, BlockOnlyWholeBlocksOfChannels) {
  const auto blocked = [](const std::string& text) {
    return std::ranges::any_of(offered(text), [](const Tactic& t) {
      return t.outputs[0].layout.kind == LayoutKind::blocked;
    });
  };
  EXPECT_TRUE(blocked(convolution("1x32x9x9", "32x32x3x3")));
  EXPECT_FALSE(blocked(convolution("1x32x9x9", "30x32x3x3")));
  EXPECT_FALSE(blocked("act kind=tanh | float32[1x21x9x9]"));
}

TEST(OnednnOffers, AddAResidualInPlaceAndAnotherAsAnOperand) {
  const std::string residual = " | add float32[1x32x9x9]";
  for (const Tactic& t : offered(convolution("1x32x9x9", "32x32x3x3", residual)))
    EXPECT_EQ(t.in_place_operand, 2);
  const std::vector<Tactic> two =
      offered(convolution("1x32x9x9", "32x32x3x3", residual + residual));
  ASSERT_FALSE(two.empty());
  EXPECT_EQ(two[0].in_place_operand, 2);
  // Version 2.6.3 reads such an operand at the wrong rows in its gemm convolution.
  EXPECT_FALSE(any_id_has(two, "gemm"));
}

TEST(OnednnOffers, ReadTheWeightsOfFewRowsInTheirPlainOrderFirst) {
  const auto first_prefix = [](const char* text) {
    const std::vector<Tactic> tactics = offered(text);
    return tactics.empty() ? "" : tactics[0].id.substr(0, tactics[0].id.find(':'));
  };
  EXPECT_EQ(first_prefix("gemm transpose_b=true | float32[1x200] w:float32[50x200]"), "plain");
  EXPECT_EQ(first_prefix("gemm transpose_b=true | float32[20x264] w:float32[136x264]"), "packed");
}

TEST(OnednnOffers, RefuseWhatTheLibraryDoesWrongOrNotAtAll) {
  EXPECT_NE(refusal("lrn size=4 alpha=0.5 beta=0.75 bias=1 | float32[1x32x7x7]"), "") << "even";
  EXPECT_NE(refusal("pool kind=average kernel=[3,3] strides=[2,2] dilations=[1,1] pads_begin=[1,1] "
                    "pads_end=[1,1] ceil_mode=true count_padding=true | float32[1x16x8x8]"),
            "")
      << "windows that pass the padding";
  EXPECT_NE(refusal("binary kind=mul | float32[1x32x1x1] float32[2x32x6x6]"), "")
      << "the first operand is broadcast";
  EXPECT_NE(refusal("matmul | float32[7x16] float32[16]"), "") << "a vector";
  EXPECT_NE(refusal("conv strides=[1,1] dilations=[1,1] pads_begin=[1,1] pads_end=[1,1] | "
                    "float32[1x8x9x9] float32[8x8x3x3]"),
            "")
      << "weights of run time";
  EXPECT_NE(refusal("reformat | float32[1x3x9x9] | float32:linear -> float32:nhwc8"), "")
      << "padded channels-last";
  EXPECT_NE(refusal("gather axis=0 | float32[10x4] int64[3]={7,0,-1}").find("not one of its"),
            std::string::npos);
}

// Constants are packed with the tactic and have no address at run time: a source that reads one
// there would read nothing, and took the process with it.
TEST(OnednnOffers, PackAConstantFirstOperandOfAProduct) {
  const auto tactics = offered("matmul | w:float32[4x8] float32[8x16]");
  ASSERT_FALSE(tactics.empty());
  for (const Tactic& t : tactics) EXPECT_TRUE(t.id.starts_with("matmul:")) << t.id;
}

// Its maximum and minimum ignore NaN; what our kernels serve as well is left to them.
TEST(OnednnOffers, RefuseWhatWouldLoseANan) {
  for (const char* text :
       {"softmax axis=1 | float32[4x8]", "act kind=relu | float32[4x8]",
        "act kind=clip alpha=0 beta=6 | float32[4x8]", "binary kind=max | float32[8] float32[8]",
        "binary kind=min | float32[8] float32[8]", "global_pool kind=max | float32[1x8x4x4]",
        "pool kind=max kernel=[2,2] strides=[2,2] dilations=[1,1] pads_begin=[0,0] pads_end=[0,0] "
        "| float32[1x8x4x4]"})
    EXPECT_NE(refusal(text).find("would lose a NaN"), std::string::npos) << text;
  for (const char* text :
       {"act kind=tanh | float32[4x8]", "binary kind=add | float32[8] float32[8]",
        "global_pool kind=average | float32[1x8x4x4]"})
    EXPECT_FALSE(offered(text).empty()) << text;
}

TEST(OnednnOffers, RefuseConstantsAlone) {
  EXPECT_NE(refusal("act kind=tanh | w:float32[4x8]"), "");
  EXPECT_NE(refusal("pool kind=average kernel=[2,2] strides=[2,2] dilations=[1,1] pads_begin=[0,0] "
                    "pads_end=[0,0] | w:float32[1x8x4x4]"),
            "");
}

}  // namespace
}  // namespace enginery
