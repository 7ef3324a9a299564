// Rules of the analytic model, for every family: what is more work, or a slower card, is never
// estimated faster. Its absolute numbers are pinned elsewhere, by what is chosen with them.
#include <cmath>
#include <map>

#include "tests/engine/tactics/cuda/card.h"
#include "tests/support/problem_list.h"

namespace enginery {
namespace {

using test::Card;
using test::problem_of;

std::map<std::string, double> estimates(const Card& card, const std::string& text) {
  std::map<std::string, double> out;
  for (const Tactic& t : card.offers(problem_of(text))) out[tactic_key(t)] = t.estimated_us;
  return out;
}

std::string with_batch(std::string text, int batch) {
  for (size_t at = text.find('#'); at != std::string::npos; at = text.find('#'))
    text.replace(at, 1, std::to_string(batch));
  return text;
}

// One problem a family, its batch as '#'.
const char* const kFamilyProblems[] = {
    "conv strides=[1,1] dilations=[1,1] pads_begin=[1,1] pads_end=[1,1] | float32[#x64x14x14] "
    "w:float32[64x64x3x3] w:float32[64] | act kind=relu",
    "conv strides=[1,1] dilations=[1,1] pads_begin=[1,1] pads_end=[1,1] groups=32 | "
    "float32[#x32x14x14] w:float32[32x1x3x3]",
    "conv strides=[1,1] dilations=[1,1] pads_begin=[1,1] pads_end=[1,1] groups=4 | "
    "float32[#x32x9x9] w:float32[64x8x3x3]",
    "deconv strides=[2,2] dilations=[1,1] pads_begin=[0,0] pads_end=[0,0] output_padding=[0,0] | "
    "float32[#x16x7x7] w:float32[16x8x2x2]",
    "gemm transpose_b=true | float32[#x256] w:float32[512x256]",
    "matmul | float32[#x64x64] float32[#x64x64]",
    "pool kind=max kernel=[3,3] strides=[2,2] dilations=[1,1] pads_begin=[1,1] pads_end=[1,1] | "
    "float32[#x32x15x17]",
    "global_pool kind=average | float32[#x48x7x7]",
    "reduce kind=mean axes=[2,3] keep_dims=false | float32[#x40x5x7]",
    "softmax axis=1 | float32[#x1000]",
    "layer_norm axis=-1 | float32[#x197x192] w:float32[192] w:float32[192]",
    "select | boolean[#x1x70] float32[#x3x70] float32[#x3x70]",
    "binary kind=equal | int64[#x70] int64[70]",
    "lrn size=5 alpha=0.5 beta=0.75 bias=1 | float32[#x32x7x7]",
    "binary kind=mul | float32[#x32x6x6] float32[#x32x1x1] | act kind=relu",
    "transpose permutation=[0,2,3,1] | float32[#x12x5x7]",
    "concat axis=1 | float32[#x16x7x7] float32[#x32x7x7]",
    "gather axis=1 | float32[#x50x30] int32[4]",
    "pad mode=reflect | float32[#x16x7x6] int64[8]={0,0,3,2,0,0,3,2}",
    "cast to=int32 | float32[#x70]",
    "reformat | float32[#x40x7x9] | float32:nhwc -> float32:linear"};

TEST(Estimates, OfEveryTacticArePositiveNumbers) {
  for (int sm : {61, 80, 90}) {
    const Card card(sm);
    for (const ProblemRow& row : conformance_rows()) {
      for (const Tactic& t : card.offers(problem_of(row.text))) {
        if (t.view_of >= 0) continue;
        EXPECT_TRUE(std::isfinite(t.estimated_us)) << row.name << " " << tactic_key(t);
        EXPECT_GT(t.estimated_us, 0) << row.name << " " << tactic_key(t);
      }
    }
  }
}

// Of few images a card has blocks to spare: enough that every variant has more waves.
TEST(Estimates, GrowWithTheBatch) {
  const Card card;
  for (const char* text : kFamilyProblems) {
    const auto few = estimates(card, with_batch(text, 8)),
               many = estimates(card, with_batch(text, 16384));
    ASSERT_FALSE(few.empty()) << text;
    size_t compared = 0;
    for (const auto& [key, us] : few) {
      const auto found = many.find(key);
      if (found == many.end()) continue;
      EXPECT_GT(found->second, us) << key << "\n" << text;
      ++compared;
    }
    EXPECT_GE(compared, 1u) << text;
  }
}

TEST(Estimates, NeverFallWithTheBatch) {
  const Card card;
  for (const char* text : kFamilyProblems) {
    std::map<std::string, double> before;
    for (int batch = 1; batch <= 64; batch *= 2) {
      for (const auto& [key, us] : estimates(card, with_batch(text, batch))) {
        const auto place = before.try_emplace(key, us).first;
        EXPECT_GE(us, place->second * (1 - 1e-12)) << key << " at " << batch << "\n" << text;
        place->second = us;
      }
    }
  }
}

TEST(Estimates, AreNeverHigherOnAFasterCard) {
  const Card card;
  Card faster;
  for (double DeviceInfo::*rate : {&DeviceInfo::float32_flops, &DeviceInfo::tf32_flops,
                                   &DeviceInfo::float16_flops, &DeviceInfo::bytes_per_second})
    faster.info.*rate *= 2;
  for (const char* text : kFamilyProblems) {
    const std::string at_64 = with_batch(text, 64);
    const auto slow = estimates(card, at_64), fast = estimates(faster, at_64);
    ASSERT_EQ(slow.size(), fast.size()) << text;
    for (const auto& [key, us] : slow) EXPECT_LE(fast.at(key), us) << key << "\n" << text;
  }
}

// Half the bytes: where memory is the limit the float16 tactic is the cheaper one.
TEST(Estimates, PreferHalfTheBytesWhereMemoryIsTheLimit) {
  const Card card;
  for (const char* text :
       {"binary kind=add | float32[64x64x56x56] float32[64x64x56x56]",
        "pool kind=max kernel=[3,3] strides=[2,2] dilations=[1,1] pads_begin=[1,1] pads_end=[1,1] "
        "| float32[64x64x56x56]",
        "softmax axis=-1 | float32[65536x128]", "transpose permutation=[1,0] | float32[4096x4096]",
        "reduce kind=sum axes=[-1] keep_dims=true | float32[65536x256]",
        "lrn size=5 alpha=0.5 beta=0.75 bias=1 | float32[64x64x56x56]"}) {
    double best[2] = {1e30, 1e30};
    for (const Tactic& t : card.offers(problem_of(text))) {
      double& place = best[t.outputs[0].type != DataType::float32];
      place = std::min(place, t.estimated_us);
    }
    EXPECT_LT(best[1], best[0]) << text;
  }
}

// A lower bound: bytes at the card's full bandwidth.
TEST(Estimates, AreNotBelowTheTimeOfTheBytes) {
  const Card card;
  for (const char* text : kFamilyProblems) {
    const Problem problem = problem_of(with_batch(text, 256));
    for (const Tactic& t : card.offers(problem)) {
      if (t.view_of >= 0) continue;
      double bytes = 0;
      for (size_t i = 0; i < problem.outputs.size(); ++i)
        bytes += static_cast<double>(physical_bytes(problem.outputs[i].type.dims, t.outputs[i]));
      EXPECT_GE(t.estimated_us, 1e6 * bytes / card.info.bytes_per_second) << tactic_key(t);
    }
  }
}

}  // namespace
}  // namespace enginery
