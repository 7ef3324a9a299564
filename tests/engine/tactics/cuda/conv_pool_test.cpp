// A convolution joined with its pooling on GPUs: which places it takes, in which formats.
#include <gtest/gtest.h>

#include "tests/engine/tactics/cuda/card.h"

namespace enginery {
namespace {

using test::Card;
using test::problem_of;

// ResNet's first layers, with one thing replaced by another.
Problem stem_with(const std::string& what, const std::string& by) {
  std::string text =
      "conv strides=[2,2] dilations=[1,1] pads_begin=[3,3] pads_end=[3,3] | float32[4x3x64x64] "
      "w:float32[64x3x7x7] w:float32[64] | then act(r0) kind=relu | then pool(r1) kind=max "
      "kernel=[3,3] strides=[2,2] dilations=[1,1] pads_begin=[1,1] pads_end=[1,1]";
  const size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return problem_of(text.replace(at, what.size(), by));
}

std::string reason(const Problem& problem, int sm = 90) {
  const auto offered = offer_kernels(problem, Card(sm).context, true);
  return offered.ok() ? "" : offered.error().message;
}

TEST(ConvPool, ReadsAPictureOfFourChannelsOrTheCallersAndWritesPooledPixels) {
  const auto tactics = Card(90).offers(stem_with("relu", "relu"));
  std::set<std::string> formats;
  for (const Tactic& t : tactics) {
    ASSERT_TRUE(t.id.starts_with("conv_pool/")) << t.id;
    formats.insert(to_string(t.inputs[0]) + " " + to_string(t.outputs[0]));
  }
  EXPECT_EQ(formats,
            (std::set<std::string>{"float16:nhwc4 float16:nhwc", "bfloat16:nhwc4 bfloat16:nhwc",
                                   "float32:linear float16:nhwc", "float32:linear bfloat16:nhwc"}));
}

TEST(ConvPool, NeedsAsynchronousCopies) {
  EXPECT_EQ(reason(stem_with("relu", "relu"), 80), "");
  EXPECT_NE(reason(stem_with("relu", "relu"), 75).find("no asynchronous copies"),
            std::string::npos);
}

TEST(ConvPool, SaysWhatItDoesNotTake) {
  const auto because = [](const std::string& what, const std::string& by, const char* expected) {
    EXPECT_NE(reason(stem_with(what, by)).find(expected), std::string::npos) << by;
  };
  because("kernel=[3,3]", "kernel=[3,2]", "a pooling other than");
  because("kernel=[3,3] strides=[2,2]", "kernel=[3,3] strides=[1,1]", "a pooling other than");
  because("kind=relu", "kind=swish alpha=1", "an activation that falls");
  because("dilations=[1,1] pads_begin=[3,3]", "dilations=[2,2] pads_begin=[3,3]",
          "a filter of one element, with gaps");
  because("float32[4x3x64x64] w:float32[64x3x7x7]", "float32[4x5x64x64] w:float32[64x5x7x7]",
          "no convolution of a picture");
}

// Another launch could not be found again in an engine file.
TEST(ConvPool, LaunchesABlockForEachStripColumnTileAndChannels) {
  const Problem problem = stem_with("relu", "relu");
  const Card card(90);
  for (const Tactic& t : card.offers(problem)) {
    const auto plan = plan_kernel(problem, t, card.context);
    ASSERT_TRUE(plan.ok()) << plan.error().message;
    int columns = 0, channels = 0, wn = 0, strip = 0;
    ASSERT_EQ(std::sscanf(t.id.c_str() + t.id.find('_', 10) + 1, "%dx%dx%d_h%d", &columns,
                          &channels, &wn, &strip),
              4)
        << t.id;
    // 16 x 16 pooled outputs, of which a block has half its columns, less one where it is not
    // alone.
    const int across = columns / 2 >= 16 ? 1 : (16 + columns / 2 - 2) / (columns / 2 - 1);
    const int down = (16 + strip - 1) / strip, tiles_k = (64 + channels - 1) / channels;
    EXPECT_EQ(plan->launches[0].grid[0], static_cast<unsigned>(4 * across * down * tiles_k))
        << t.id;
    EXPECT_EQ(plan->launches[0].threads, static_cast<unsigned>(columns / 16 * (channels / wn) * 32))
        << t.id;
  }
}

}  // namespace
}  // namespace enginery
