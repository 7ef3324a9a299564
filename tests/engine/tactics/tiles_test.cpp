// Our CPU kernels of bfloat16, in tiles: emulated, which runs on any CPU, with the packing and the
// launches of the real ones; and as they are, where the CPU has AMX or AVX-512 BF16.
#include <gtest/gtest.h>

#include <algorithm>

#include "engine/device/sku_table.h"
#include "engine/kernels/cpu/dispatch.h"
#include "engine/tactics/cpu/kernel/cpu_kernel_source.h"
#include "tests/support/comparison.h"
#include "tests/support/problem_list.h"
#include "tests/support/problem_text.h"
#include "tests/support/tactic_harness.h"

namespace enginery {

extern const CpuTileKernels tile_kernels_emulated;

namespace {

constexpr const char* kEmulated = "emulated";

bool is_local(const std::string& sku) {
  return std::ranges::any_of(local_skus(), [&](const LocalSku& s) { return s.name == sku; });
}

// A CPU that every machine has: with a GPU, that is its first SKU.
std::string narrowest_cpu() {
  std::string out;
  for (const LocalSku& sku : local_skus()) {
    const SkuRow* row = find_sku(sku.name);
    if (row && row->kind == DeviceKind::cpu) out = sku.name;
  }
  return out;
}

// Of the SKU that the parameter names.
class Tiles : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const bool emulated = GetParam() == kEmulated;
    if (!emulated && !is_local(GetParam())) GTEST_SKIP() << "this CPU is no " << GetParam();
    DeviceInfo info;
    info.sku = emulated ? "cpu-amx" : GetParam();
    info.threads = 2;
    const CpuTileKernels* real = cpu_tile_kernels_for(find_sku(info.sku)->isa);
    source_ = make_cpu_kernel_source(info, emulated ? &tile_kernels_emulated : real).value();
    device_ = open_device(emulated ? narrowest_cpu() : GetParam(), {}).value();
    stream_ = device_->create_stream().value();
  }

  // What is emulated are the tiles alone: other kernels of bfloat16 are those of AVX-512.
  static bool runs_here(const Tactic& tactic) {
    return GetParam() != kEmulated || tactic.id.starts_with("tile_");
  }

  // Every tactic of bfloat16 gives what the reference gives; how many there were.
  size_t expect_right(const std::string& text, bool with_nan = false) {
    SCOPED_TRACE(text);
    const Problem problem = parse_problem(text).value();
    auto tactics = source_->offer(problem, {Precision::bf16});
    if (!tactics.ok()) return 0;
    std::erase_if(*tactics, [](const Tactic& t) { return !runs_here(t); });
    std::mt19937_64 random(7);
    ProblemData data;
    fill_random(problem, random, data);
    if (with_nan) plant_nan(problem, data);
    const auto expected = run_problem_reference(problem, data.inputs).value();
    for (const Tactic& tactic : *tactics) {
      SCOPED_TRACE(tactic_key(tactic));
      TacticRun run(*device_, *stream_);
      const Status prepared = run.prepare(*source_, problem, tactic, data, OperandPlace::separate);
      EXPECT_TRUE(prepared.ok()) << prepared.error().message;
      EXPECT_TRUE(run.launch().ok());
      const auto outputs = run.collect();
      EXPECT_TRUE(outputs.ok()) << outputs.error().message;
      if (outputs.ok()) expect_result(problem, tactic, *outputs, expected);
    }
    return tactics->size();
  }

  std::unique_ptr<TacticSource> source_;
  std::unique_ptr<Device> device_;
  std::unique_ptr<Stream> stream_;
};

std::string product(int64_t m, int64_t n, int64_t k, const std::string& epilogue = "") {
  const auto text = [](int64_t a, int64_t b) {
    return std::to_string(a) + "x" + std::to_string(b) + "]";
  };
  return "matmul | float32[" + text(m, k) + " w:float32[" + text(k, n) + epilogue;
}

// Blocks of 32 rows, the last one overlapping; panels of 32 columns, the last one padded.
TEST_P(Tiles, MultiplyRowsAndColumnsOfAnyNumber) {
  for (const int64_t m : {9, 16, 17, 31, 32, 33, 64, 70}) {
    for (const int64_t n : {1, 16, 31, 32, 33, 70})
      EXPECT_EQ(expect_right(product(m, n, 64)), 2u) << m << " rows, " << n << " columns";
  }
}

TEST_P(Tiles, MultiplyInChunksOfRows) {
  EXPECT_EQ(expect_right(product(300, 40, 4096)), 2u);
}

TEST_P(Tiles, ApplyEpilogues) {
  EXPECT_EQ(expect_right(product(40, 48, 96, " | bias w:float32[48] | act kind=gelu_erf")), 2u);
  EXPECT_EQ(expect_right(product(40, 48, 96, " | bias w:float32[48] | add float32[40x48]")), 2u);
  EXPECT_EQ(expect_right(product(40, 33, 32, " | multiply float32[40x1] | act kind=relu")), 2u);
  EXPECT_EQ(expect_right(product(40, 33, 32, " | multiply w:float32[1] | add float32[33]")), 2u);
  EXPECT_EQ(expect_right("gemm alpha=0.5 beta=2 transpose_b=true | float32[20x32] "
                         "w:float32[24x32] w:float32[24] | act kind=relu"),
            2u);
  EXPECT_EQ(expect_right("matmul | float32[2x3x7x32] w:float32[32x40] | bias w:float32[40] | "
                         "add float32[2x3x7x40]"),
            2u);
}

TEST_P(Tiles, GiveWhatTheReferenceGives) {
  size_t count = 0;
  for (const ProblemRow& row : conformance_problems()) count += expect_right(std::string(row.text));
  EXPECT_GE(count, 40u);
}

TEST_P(Tiles, KeepNan) {
  EXPECT_EQ(expect_right(product(40, 33, 64, " | act kind=relu"), true), 2u);
}

// With the same padding on each side.
std::string conv(const std::string& sizes, int stride = 1, int pad = 0,
                 const std::string& epilogue = "") {
  const auto pair = [](int n) { return "[" + std::to_string(n) + "," + std::to_string(n) + "]"; };
  return "conv strides=" + pair(stride) + " dilations=[1,1] pads_begin=" + pair(pad) +
         " pads_end=" + pair(pad) + " | " + sizes + epilogue;
}

// Rows gathered from under windows, or the pixels as they lie; last blocks and panels in part.
TEST_P(Tiles, ConvolveImagesOfAnySize) {
  EXPECT_EQ(expect_right(conv("float32[2x32x9x7] w:float32[40x32x1x1]")), 2u);
  EXPECT_EQ(expect_right(conv("float32[1x24x7x9] w:float32[33x24x1x1]")), 2u);
  EXPECT_EQ(expect_right(conv("float32[1x64x9x9] w:float32[16x64x1x1]", 2)), 2u);
  EXPECT_EQ(expect_right(conv("float32[1x3x23x19] w:float32[32x3x7x7] w:float32[32]", 2, 3)), 2u);
  EXPECT_EQ(expect_right(conv("float32[2x20x11x5] w:float32[48x20x3x3]", 1, 1)), 2u);
  EXPECT_EQ(expect_right("conv strides=[1,1] dilations=[2,3] pads_begin=[1,2] pads_end=[0,2] | "
                         "float32[1x8x12x13] w:float32[8x8x3x2]"),
            2u);
  EXPECT_EQ(expect_right("conv strides=[1] dilations=[1] pads_begin=[2] pads_end=[2] | "
                         "float32[1x16x50] w:float32[24x16x5]"),
            2u);
  // Windows that lie in the padding as a whole.
  EXPECT_EQ(expect_right(conv("float32[1x32x5x5] w:float32[16x32x2x2]", 1, 4)), 2u);
}

// Two images in chunks of 15 rows; 100 pixels in chunks of 32, the last of which has four.
TEST_P(Tiles, ConvolveInChunksOfRows) {
  EXPECT_EQ(expect_right(conv("float32[2x1024x30x9] w:float32[8x1024x3x3]", 1, 1)), 2u);
  EXPECT_EQ(expect_right(conv("float32[1x1024x20x20] w:float32[33x1024x3x3]", 2, 1)), 2u);
}

TEST_P(Tiles, ConvolveWithEpilogues) {
  EXPECT_EQ(expect_right(conv("float32[1x32x6x7] w:float32[40x32x1x1]", 1, 0,
                              " | bias w:float32[40] | act kind=hard_swish")),
            2u);
  EXPECT_EQ(expect_right(conv("float32[1x32x6x7] w:float32[40x32x1x1] w:float32[40]", 1, 0,
                              " | add float32[1x40x6x7] | act kind=relu")),
            2u);
  EXPECT_EQ(expect_right(conv("float32[1x32x6x7] w:float32[64x32x1x1]", 1, 0,
                              " | bias w:float32[64] | act kind=clip alpha=-0.5 beta=1")),
            2u);
  EXPECT_EQ(expect_right(conv("float32[1x16x6x7] w:float32[64x16x3x3]", 1, 1,
                              " | multiply float32[1x64x1x1] | add float32[1x64x6x7]")),
            2u);
}

// What it cannot pack, or would read beyond.
TEST_P(Tiles, RefuseWhatTheyDoNotCompute) {
  const auto count = [&](const std::string& text, Precision precision = Precision::bf16) {
    const auto tactics = source_->offer(parse_problem(text).value(), {precision});
    return tactics.ok() ? std::ranges::count_if(
                              *tactics, [](const Tactic& t) { return t.id.starts_with("tile_"); })
                        : 0;
  };
  EXPECT_EQ(count(product(8, 40, 64)), 0) << "few rows are another kernel's";
  EXPECT_EQ(count(product(40, 40, 48)), 0) << "a depth that is no multiple of a tile's";
  EXPECT_EQ(count("matmul | float32[40x64] float32[64x40]"), 0) << "weights of run time";
  EXPECT_EQ(count(product(40, 40, 64)), 2);
  EXPECT_EQ(count(product(40, 40, 64), Precision::fp32), 0);
}

TEST(TilesOffers, NeedInstructionsForBfloat16) {
  DeviceInfo info;
  info.sku = "cpu-avx512-vnni";
  info.threads = 2;
  const auto source = make_cpu_kernel_source(info).value();
  EXPECT_FALSE(source->offer(parse_problem(product(40, 40, 64)).value(), {Precision::bf16}).ok());
}

INSTANTIATE_TEST_SUITE_P(Kernels, Tiles, testing::Values(kEmulated, "cpu-avx512-bf16", "cpu-amx"),
                         [](const auto& sku) {
                           std::string name = sku.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace enginery
