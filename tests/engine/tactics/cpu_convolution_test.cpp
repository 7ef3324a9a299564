// Dense convolutions of our CPU kernels, by Winograd's tiles and by products over the window, and
// matrix products of many rows: every tactic of every instruction set that this machine has gives
// what the reference gives.
#include <gtest/gtest.h>

#include <algorithm>

#include "engine/device/sku_table.h"
#include "engine/tactics/cpu/kernel/cpu_kernel_source.h"
#include "engine/tactics/cpu/reference/reference_source.h"
#include "tests/support/comparison.h"
#include "tests/support/problem_list.h"
#include "tests/support/problem_text.h"
#include "tests/support/tactic_harness.h"

namespace enginery {
namespace {

// CPUs without tiles: those of AVX-512 have the same kernels.
std::vector<std::string> cpus_here() {
  std::vector<std::string> out;
  for (const LocalSku& sku : local_skus()) {
    const SkuRow* row = find_sku(sku.name);
    const bool plain = row && row->kind == DeviceKind::cpu && row->isa <= CpuIsa::avx512;
    if (plain) out.push_back(sku.name);
  }
  return out;
}

struct Window {
  int64_t size = 3, stride = 1, dilation = 1, pad = 1, pad_end = 1;
};

struct Shape {
  int64_t images = 1, in = 16, out = 16, height = 9, width = 9;
};

std::string pair_text(int64_t n) {
  return "[" + std::to_string(n) + "," + std::to_string(n) + "]";
}

int64_t output_side(int64_t side, const Window& w) {
  return (side + w.pad + w.pad_end - (w.size - 1) * w.dilation - 1) / w.stride + 1;
}

std::string convolution(const Shape& s, const Window& w, bool residual = false) {
  const auto dims = [](std::initializer_list<int64_t> sizes) {
    std::string out;
    for (const int64_t n : sizes) out += (out.empty() ? "" : "x") + std::to_string(n);
    return "float32[" + out + "]";
  };
  std::string text = "conv strides=" + pair_text(w.stride) + " dilations=" + pair_text(w.dilation) +
                     " pads_begin=" + pair_text(w.pad) + " pads_end=" + pair_text(w.pad_end) +
                     " | " + dims({s.images, s.in, s.height, s.width}) +
                     " w:" + dims({s.out, s.in, w.size, w.size}) + " w:" + dims({s.out});
  if (residual)
    text += " | add " + dims({s.images, s.out, output_side(s.height, w), output_side(s.width, w)});
  return text + " | act kind=clip alpha=-0.5 beta=0.75";
}

class CpuConvolutions : public testing::TestWithParam<std::string> {
 protected:
  // Every tactic, with the output as it was offered and as channels of a wider tensor; how many.
  size_t expect_right(const std::string& text, int threads = 2) {
    SCOPED_TRACE(text);
    const Problem problem = parse_problem(text).value();
    DeviceOptions options;
    options.threads = threads;
    auto device = open_device(GetParam(), options).value();
    auto stream = device->create_stream().value();
    auto source = make_cpu_kernel_source(device->info()).value();
    auto tactics = source->offer(problem, {Precision::fp32});
    if (!tactics.ok()) return 0;
    const std::vector<Tactic> twins = pitched_twins(problem, *tactics, 2);
    tactics->insert(tactics->end(), twins.begin(), twins.end());
    std::mt19937_64 random(7);
    ProblemData data;
    fill_random(problem, random, data);
    const auto expected = run_problem_reference(problem, data.inputs).value();
    for (const Tactic& tactic : *tactics) {
      SCOPED_TRACE(tactic_key(tactic));
      for (const OperandPlace place : {OperandPlace::separate, OperandPlace::in_place}) {
        if (place == OperandPlace::in_place && tactic.in_place_operand < 0) continue;
        TacticRun run(*device, *stream);
        const Status prepared = run.prepare(*source, problem, tactic, data, place);
        EXPECT_TRUE(prepared.ok()) << prepared.error().message;
        EXPECT_TRUE(run.launch().ok());
        const auto outputs = run.collect();
        EXPECT_TRUE(outputs.ok()) << outputs.error().message;
        if (outputs.ok()) expect_result(problem, tactic, *outputs, expected);
      }
    }
    return tactics->size();
  }
};

// Tiles that reach over every edge, alone and beside whole ones.
TEST_P(CpuConvolutions, TileImagesOfAnySize) {
  for (const int64_t height : {1, 4, 6}) {
    for (const int64_t width : {3, 8, 11})
      EXPECT_GT(expect_right(convolution({2, 16, 16, height, width}, {})), 1u);
  }
}

TEST_P(CpuConvolutions, TileChannelsThatFillNoVectorAndNoPanel) {
  for (const int64_t in : {17, 24}) {
    for (const int64_t out : {19, 33, 40})
      EXPECT_GT(expect_right(convolution({1, in, out, 7, 7}, {})), 1u);
  }
}

TEST_P(CpuConvolutions, TileWithAnyPadding) {
  for (const auto& [pad, pad_end] : {std::pair{0, 0}, {1, 0}, {0, 1}, {2, 2}, {3, 1}})
    EXPECT_GT(expect_right(convolution({1, 16, 32, 7, 10}, {3, 1, 1, pad, pad_end})), 1u);
}

// Enough tiles for several blocks; fewer and more panels than threads.
TEST_P(CpuConvolutions, ShareTilesAndPanelsAmongAnyThreads) {
  for (const int threads : {1, 2, 3, 4}) {
    EXPECT_GT(expect_right(convolution({1, 16, 16, 61, 61}, {}), threads), 1u);
    EXPECT_GT(expect_right(convolution({1, 24, 160, 7, 7}, {}), threads), 1u);
    EXPECT_GT(expect_right(convolution({1, 32, 160, 9, 9}, {3, 2, 1, 1, 1}), threads), 0u);
  }
}

TEST_P(CpuConvolutions, AddAResidualAndClip) {
  EXPECT_GT(expect_right(convolution({2, 16, 24, 9, 6}, {}, true)), 1u);
  EXPECT_GT(expect_right(convolution({2, 16, 24, 9, 6}, {3, 2, 1, 1, 1}, true)), 0u);
}

TEST_P(CpuConvolutions, MultiplyWhatLiesUnderAnyWindow) {
  const Window windows[] = {{3, 2, 1, 1, 1}, {3, 1, 2, 2, 2}, {5, 1, 1, 2, 2}, {2, 2, 1, 0, 0},
                            {7, 3, 1, 3, 2}, {3, 2, 3, 4, 1}, {1, 1, 1, 1, 0}, {1, 2, 1, 1, 1}};
  for (const Window& window : windows) {
    EXPECT_GT(expect_right(convolution({2, 32, 24, 11, 9}, window)), 0u);
    EXPECT_GT(expect_right(convolution({1, 67, 17, 9, 10}, window)), 0u);
  }
}

// Over sums of whole and partial panels and vectors, in several blocks, blocked and channels-last.
TEST_P(CpuConvolutions, ApplyAnyActivations) {
  const auto conv = [](const std::string& attributes, const std::string& operands,
                       const std::string& epilogue) {
    return "conv dilations=[1,1] " + attributes + " | " + operands + " | " + epilogue;
  };
  const std::string pixels = "strides=[1,1] pads_begin=[0,0] pads_end=[0,0]",
                    windows = "strides=[2,2] pads_begin=[1,1] pads_end=[1,1]",
                    whole = "strides=[1,1] pads_begin=[1,1] pads_end=[1,1]",
                    channels = "strides=[1,1] pads_begin=[2,2] pads_end=[2,2] groups=40";
  for (const char* epilogue :
       {"act kind=swish", "bias w:float32[40] | act kind=gelu_erf",
        "bias w:float32[40] | act kind=clip alpha=-0.5 beta=0.5 | act kind=tanh"}) {
    EXPECT_GT(expect_right(conv(pixels, "float32[2x24x31x33] w:float32[40x24x1x1]", epilogue)), 0u);
    EXPECT_GT(expect_right(conv(pixels, "float32[1x32x7x7] w:float32[40x32x1x1]", epilogue), 3),
              0u);
    EXPECT_GT(expect_right(conv(windows, "float32[2x67x9x10] w:float32[40x67x3x3]", epilogue)), 0u);
    EXPECT_GT(expect_right(conv(whole, "float32[1x32x9x10] w:float32[40x32x3x3]", epilogue)), 0u);
    EXPECT_EQ(expect_right(conv(channels, "float32[2x40x9x11] w:float32[40x1x5x5]", epilogue)), 1u);
  }
}

std::string matrix_product(int64_t m, int64_t n, int64_t k, const std::string& epilogue = "") {
  const auto dims = [](int64_t a, int64_t b) {
    return "float32[" + std::to_string(a) + "x" + std::to_string(b) + "]";
  };
  return "matmul | " + dims(m, k) + " w:" + dims(k, n) + epilogue;
}

// Last tiles of rows and last panels of columns in part, with and without steps behind the sums.
TEST_P(CpuConvolutions, MultiplyMatricesOfAnySize) {
  for (const int64_t m : {9, 14, 31, 100}) {
    for (const int64_t n : {1, 7, 32, 45}) {
      EXPECT_EQ(expect_right(matrix_product(m, n, 19)), 1u);
      EXPECT_EQ(expect_right(matrix_product(m, n, 32, " | act kind=swish")), 1u);
    }
  }
}

// Rows in several blocks; fewer and more panels than threads.
TEST_P(CpuConvolutions, ShareRowsAndPanelsAmongAnyThreads) {
  for (const int threads : {1, 2, 3}) {
    EXPECT_EQ(expect_right(matrix_product(300, 40, 2048, " | act kind=tanh | add float32[300x40]"),
                           threads),
              1u);
    EXPECT_EQ(expect_right(matrix_product(12, 300, 64), threads), 1u);
  }
}

// What stays in registers, what goes through the steps, and what repeats along rows or columns.
TEST_P(CpuConvolutions, ApplyAnyEpilogueToProducts) {
  for (const char* epilogue :
       {" | bias w:float32[40] | add float32[50x40] | act kind=relu",
        " | bias w:float32[40] | act kind=clip alpha=-0.5 beta=0.75",
        " | add float32[50x40] | act kind=gelu_erf", " | act kind=mish | add float32[50x40]",
        " | bias w:float32[40] | multiply float32[50x1] | add float32[40]",
        " | add float32[40] | act kind=relu", " | multiply w:float32[1] | act kind=relu",
        " | bias w:float32[40] | bias w:float32[40]"})
    EXPECT_EQ(expect_right(matrix_product(50, 40, 24, epilogue)), 1u);
  EXPECT_EQ(expect_right("gemm alpha=0.5 beta=2 transpose_b=true | float32[20x33] "
                         "w:float32[24x33] w:float32[24] | act kind=relu"),
            1u);
  EXPECT_EQ(expect_right("matmul | float32[2x3x7x32] w:float32[32x40] | bias w:float32[40] | "
                         "add float32[2x3x7x40]"),
            1u);
}

INSTANTIATE_TEST_SUITE_P(Cpus, CpuConvolutions, testing::ValuesIn(cpus_here()),
                         [](const auto& sku) {
                           std::string name = sku.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

// What is no convolution for them, with the reason.
TEST(CpuConvolutionOffers, AreWinogradsWhereItsTilesServe) {
  DeviceInfo info;
  info.sku = "cpu-avx2";
  info.threads = 1;
  const auto source = make_cpu_kernel_source(info).value();
  const auto first_id = [&](const std::string& text) {
    const auto tactics = source->offer(parse_problem(text).value(), {Precision::fp32});
    return tactics.ok() ? tactics->front().id : tactics.error().message;
  };
  EXPECT_EQ(first_id(convolution({}, {})), "winograd/tile4");
  EXPECT_EQ(first_id(convolution({}, {3, 2, 1, 1, 1})), "window_product");
  EXPECT_EQ(first_id(convolution({}, {3, 1, 2, 2, 2})), "window_product");
  EXPECT_EQ(first_id(convolution({}, {1, 1, 1, 0, 0})), "pixel_product");
  EXPECT_EQ(first_id(convolution({1, 16, 4, 9, 9}, {})), "window_product")
      << "too few channels for the tiles";
  EXPECT_NE(first_id(convolution({1, 3, 16, 9, 9}, {})).find("few channels"), std::string::npos);
}

// Engines and races count the transformed weights, which are up to four times as many.
TEST(CpuConvolutionOffers, SayHowLargeTheTransformedWeightsAre) {
  DeviceInfo info;
  info.sku = "cpu-avx2";
  info.threads = 1;
  const auto source = make_cpu_kernel_source(info).value();
  const Problem problem = parse_problem(convolution({1, 16, 32, 9, 9}, {})).value();
  std::mt19937_64 random(7);
  ProblemData data;
  fill_random(problem, random, data);
  const auto tactics = source->offer(problem, {Precision::fp32});
  for (const Tactic& tactic : *tactics) {
    const auto prepared = source->prepare(problem, tactic, data.weights);
    const int64_t points = tactic.id == "winograd/tile4" ? 36 : 16;
    EXPECT_EQ((*prepared)->weight_bytes(), 4 * points * 16 * 32) << tactic_key(tactic);
  }
}

}  // namespace
}  // namespace enginery
