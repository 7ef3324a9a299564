// What no SM launches, and what kernels cannot count, is not offered: a level-0 or provisional
// engine would fail or, worse, leave outputs unwritten. Sizes beside each limit.
#include "engine/tactics/cuda/kernel/launch_limits.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/engine/tactics/cuda/card.h"

namespace enginery {
namespace {

// The ids that are offered to a card; the reasons where there are none.
std::string offered(const std::string& problem_text) {
  const test::Card card;
  const auto tactics = offer_kernels(test::problem_of(problem_text), card.context, true);
  if (!tactics.ok()) return "refused: " + tactics.error().message;
  std::string ids;
  for (const Tactic& tactic : *tactics) ids += tactic.id + " ";
  return ids;
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST(LaunchLimits, AReductionByBlocksKeepsItsThreadsWithin32Bits) {
  // 256 threads an output: 2^24 outputs are 2^32 threads, whose numbers would begin at 0 again.
  const std::string fits =
      offered("reduce kind=sum axes=[-1] keep_dims=false | float32[16777215x2]");
  EXPECT_TRUE(has(fits, "reduce/blocks") && has(fits, "reduce/threads")) << fits;
  const std::string wraps =
      offered("reduce kind=sum axes=[-1] keep_dims=false | float32[16777216x2]");
  EXPECT_FALSE(has(wraps, "reduce/blocks")) << wraps;
  EXPECT_TRUE(has(wraps, "reduce/warps") && has(wraps, "reduce/threads")) << wraps;
}

TEST(LaunchLimits, AGlobalPoolHasNoMoreImagesThanAGridHasRows) {
  EXPECT_TRUE(has(offered("global_pool kind=average | float32[65535x8x2x2]"), "pool/global"));
  const std::string beyond = offered("global_pool kind=average | float32[65536x8x2x2]");
  EXPECT_TRUE(beyond.starts_with("refused")) << beyond;
  EXPECT_TRUE(has(beyond, "grid of 1x65536x1")) << beyond;
}

TEST(LaunchLimits, PaddedChannelsCount) {
  // 3 channels are stored as 8: 2^31 elements already at 89.5 million pixels.
  EXPECT_TRUE(has(offered("pool kind=max kernel=[2,2] strides=[2,2] dilations=[1,1] "
                          "pads_begin=[0,0] pads_end=[0,0] "
                          "count_padding=false | float32[64x3x2048x2046]"),
                  "pool/window"));
  const std::string beyond = offered(
      "pool kind=max kernel=[2,2] strides=[2,2] dilations=[1,1] pads_begin=[0,0] pads_end=[0,0] "
      "count_padding=false | float32[64x3x2048x2050]");
  EXPECT_TRUE(beyond.starts_with("refused")) << beyond;
  EXPECT_TRUE(has(beyond, "with its padding")) << beyond;
}

TEST(LaunchLimits, PartialSumsHaveAWorkspaceOfAtMost256MiB) {
  const std::string conv = "conv strides=[1,1] dilations=[1,1] pads_begin=[1,1] pads_end=[1,1] | ";
  const std::string small = offered(conv + "float32[1x256x14x14] w:float32[256x256x3x3]");
  EXPECT_TRUE(has(small, "_k8 ") || has(small, "_k4 ")) << small;
  // 128 x 56 x 56 x 256 float32 sums are 392 MiB for each part.
  const std::string large = offered(conv + "float32[128x256x56x56] w:float32[256x256x3x3]");
  EXPECT_FALSE(has(large, "_k8 ") || has(large, "_k4 ")) << large;
  EXPECT_TRUE(has(large, "conv_mma/fp16_")) << large;
}

TEST(LaunchLimits, APlanBeyondThemIsRefusedWhateverOfferedIt) {
  const Problem problem = test::problem_of("act kind=relu | float32[1x32x6x6]");
  const Tactic tactic = make_kernel_tactic(problem, "planned/one");
  const auto refused = [&](unsigned x, unsigned y, unsigned z, unsigned threads,
                           int64_t workspace) {
    KernelPlan plan;
    plan.workspace_bytes = workspace;
    KernelLaunch launch;
    launch.grid = {x, y, z};
    launch.threads = threads;
    plan.launches = {launch};
    return !require_launchable(problem, tactic, plan).ok();
  };
  EXPECT_FALSE(refused(1, 1, 1, 128, 0));
  EXPECT_FALSE(refused(0xffffff, 65535, 65535, 256, kMaxKernelWorkspace));
  EXPECT_TRUE(refused(0x1000000, 1, 1, 256, 0));
  EXPECT_TRUE(refused(1, 65536, 1, 128, 0));
  EXPECT_TRUE(refused(1, 1, 65536, 128, 0));
  EXPECT_TRUE(refused(0x80000000u, 1, 1, 1, 0));
  EXPECT_TRUE(refused(0, 1, 1, 128, 0));
  EXPECT_TRUE(refused(1, 1, 1, 128, kMaxKernelWorkspace + 1));
}

TEST(SmLimits, OfANewerGenerationAreNoMoreThanEverySmHas) {
  EXPECT_EQ(sm_limits(90).shared_kib_per_block, 227);
  EXPECT_EQ(sm_limits(120).shared_kib_per_block, 99);  // consumer cards: less than their elder
  EXPECT_EQ(sm_limits(121).shared_kib_per_block, 99);
  EXPECT_EQ(sm_limits(100).shared_kib_per_block, 227);
  EXPECT_EQ(sm_limits(130).shared_kib_per_block, 99);
  EXPECT_EQ(sm_limits(60).shared_kib_per_block, 48);
  EXPECT_EQ(sm_limits(88).compute_capability, 87);
}

// Shared memory that a launch asks for: of every tactic offered to a card, at most what its SM has.
TEST(LaunchLimits, NothingIsOfferedThatWantsMoreSharedMemoryThanTheSmHas) {
  const Problem problem = test::problem_of(
      "conv strides=[1,1] dilations=[1,1] pads_begin=[1,1] pads_end=[1,1] | "
      "float32[1x256x14x14] w:float32[256x256x3x3]");
  for (int sm : {75, 86, 90, 120, 130}) {
    const test::Card card(sm);
    const std::vector<Tactic> tactics = card.offers(problem);
    ASSERT_FALSE(tactics.empty()) << sm;
    for (const Tactic& tactic : tactics) {
      const auto plan = plan_kernel(problem, tactic, card.context);
      ASSERT_TRUE(plan.ok()) << tactic.id;
      for (const KernelLaunch& launch : plan->launches)
        EXPECT_LE(launch.shared_bytes,
                  1024u * static_cast<unsigned>(sm_limits(sm).shared_kib_per_block))
            << sm << " " << tactic.id;
    }
  }
}

}  // namespace
}  // namespace enginery
