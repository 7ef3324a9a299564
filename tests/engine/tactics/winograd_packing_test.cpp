// Winograd weights as oneDNN's own reorder writes them.
#include "engine/tactics/cpu/onednn/winograd_packing.h"

#include <gtest/gtest.h>

#include <random>

#include "engine/tensor/tensor.h"

namespace enginery {
namespace {

using Dims4 = dnnl::memory::dims;

MemoryDesc plain(const Dims4& dims) {
  return MemoryDesc(dims, dnnl::memory::data_type::f32, dnnl::memory::format_tag::oihw);
}

struct Blocks {
  int oc = 16, ic = 16, oc2 = 1;
};

// The layout of F(2x2, 3x3) for as many channels, which may be more than the weights have.
MemoryDesc winograd(const Dims4& dims, dnnl_wino_memory_format_t format, int oc, int ic,
                    Blocks blocks) {
  MemoryDesc out = plain(dims);
  out.data.format_kind = dnnl_format_kind_wino;
  dnnl_wino_desc_t& layout = out.data.format_desc.wino_desc;
  layout = {format, 3, 4, ic, oc, blocks.ic, blocks.oc, 1, blocks.oc2, 1.0F, 0};
  layout.size = sizeof(float) * 16 * static_cast<size_t>(oc) * static_cast<size_t>(ic);
  return out;
}

void expect_as_the_library_packs(const Dims4& dims, const MemoryDesc& wanted) {
  const MemoryDesc source = plain(dims);
  ASSERT_TRUE(packs_winograd(source, wanted));
  Tensor weights(DataType::float32, {dims[0], dims[1], dims[2], dims[3]});
  std::mt19937 random(7);
  std::uniform_real_distribution<float> uniform(-1, 1);
  for (float& weight : weights.mutable_data<float>()) weight = uniform(random);
  const auto floats = static_cast<int64_t>(wanted.get_size() / sizeof(float));
  Tensor ours(DataType::float32, {floats}), theirs(DataType::float32, {floats});
  pack_winograd(source, wanted, weights.data<float>().data(), ours.mutable_data<float>().data());
  const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  dnnl::memory from(source, engine, weights.mutable_bytes());
  dnnl::memory to(wanted, engine, theirs.mutable_bytes());
  dnnl::stream stream(engine);
  dnnl::reorder(from, to).execute(stream, from, to);
  stream.wait();
  for (int64_t i = 0; i < floats; ++i) {
    const auto at = static_cast<size_t>(i);
    ASSERT_NEAR(ours.data<float>()[at], theirs.data<float>()[at], 1e-6) << "at " << i;
  }
}

TEST(WinogradPacking, BlockAfterBlockIsAsTheLibraryPacks) {
  const Dims4 dims{32, 48, 3, 3};
  expect_as_the_library_packs(dims, winograd(dims, dnnl_wino_wei_aaOio, 32, 48, {}));
}

TEST(WinogradPacking, ChunksOfBlocksAreAsTheLibraryPacks) {
  const Dims4 dims{64, 32, 3, 3};
  expect_as_the_library_packs(dims, winograd(dims, dnnl_wino_wei_aaOBiOo, 64, 32, {16, 16, 2}));
  expect_as_the_library_packs(dims, winograd(dims, dnnl_wino_wei_aaOBiOo, 64, 32, {8, 8, 4}));
}

TEST(WinogradPacking, ChannelsBeyondTheWeightsAreZero) {
  const Dims4 dims{19, 5, 3, 3};
  const MemoryDesc wanted = winograd(dims, dnnl_wino_wei_aaOio, 32, 16, {});
  ASSERT_TRUE(packs_winograd(plain(dims), wanted));
  const std::vector<float> ones(19 * 5 * 9, 1.0F);
  std::vector<float> packed(16 * 32 * 16, -1.0F);
  pack_winograd(plain(dims), wanted, ones.data(), packed.data());
  // The first matrix holds g[0][0]: [2 blocks][16 inputs][16 outputs].
  for (size_t block = 0; block < 2; ++block) {
    for (size_t input = 0; input < 16; ++input) {
      for (size_t output = 0; output < 16; ++output) {
        const bool real = block * 16 + output < 19 && input < 5;
        EXPECT_EQ(packed[(block * 16 + input) * 16 + output], real ? 1.0F : 0.0F);
      }
    }
  }
}

TEST(WinogradPacking, OtherLayoutsAreLeftToTheLibrary) {
  const Dims4 dims{32, 32, 3, 3};
  const MemoryDesc known = winograd(dims, dnnl_wino_wei_aaOio, 32, 32, {});
  EXPECT_TRUE(packs_winograd(plain(dims), known));
  EXPECT_FALSE(packs_winograd(plain(dims), plain(dims)));
  EXPECT_FALSE(packs_winograd(plain(dims), winograd(dims, dnnl_wino_wei_OBaaIBOIio, 32, 32, {})));
  EXPECT_FALSE(packs_winograd(plain({32, 32, 5, 5}), known));
  EXPECT_FALSE(packs_winograd(plain({48, 32, 3, 3}), known));
  MemoryDesc larger = known;
  larger.data.format_desc.wino_desc.alpha = 6;
  EXPECT_FALSE(packs_winograd(plain(dims), larger));
}

}  // namespace
}  // namespace enginery
