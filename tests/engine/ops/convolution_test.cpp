#include "engine/ops/convolution.h"

#include "tests/engine/ops/ops_support.h"

namespace enginery {
namespace {

Convolution conv2d(std::vector<int64_t> strides = {1, 1}, std::vector<int64_t> pads = {0, 0},
                   std::vector<int64_t> dilations = {1, 1}, int64_t groups = 1) {
  return {strides, dilations, pads, pads, groups};
}

Deconvolution deconv2d(std::vector<int64_t> strides, std::vector<int64_t> pads,
                       std::vector<int64_t> output_padding) {
  return {strides, {1, 1}, pads, pads, output_padding, 1};
}

TEST(Convolution, ShapeFollowsStridePadAndDilation) {
  EXPECT_EQ(dims_of(conv2d({2, 2}, {3, 3}), {{1, 3, 224, 224}, {64, 3, 7, 7}}),
            (Dims{1, 64, 112, 112}));
  EXPECT_EQ(dims_of(conv2d({1, 1}, {0, 0}, {2, 3}), {{1, 3, 9, 9}, {8, 3, 3, 3}}),
            (Dims{1, 8, 5, 3}));
  EXPECT_EQ(dims_of(Convolution{{1, 1, 1}, {1, 1, 1}, {0, 0, 0}, {0, 0, 0}, 1},
                    {{2, 1, 4, 5, 6}, {3, 1, 2, 2, 2}}),
            (Dims{2, 3, 3, 4, 5}));
}

TEST(Convolution, ShapeKeepsSymbolsThatItDoesNotChange) {
  EXPECT_EQ(dims_of(conv2d({1, 1}, {1, 1}), {{-2, 3, -3, -4}, {8, 3, 3, 3}}),
            (Dims{-2, 8, -3, -4}));
  EXPECT_EQ(dims_of(conv2d({2, 1}, {1, 0}), {{-2, 3, -3, -4}, {8, 3, 3, 3}}),
            (Dims{-2, 8, -1, -1}));
}

TEST(Convolution, SumsTheWindow) {
  Tensor ones = floats({1, 1, 2, 2}, {1, 1, 1, 1});
  EXPECT_EQ(values(run(conv2d(), {counting({1, 1, 3, 3}), ones})), (Floats{8, 12, 20, 24}));
  // With padding 1 the corner sees one element, the edge two.
  EXPECT_EQ(values(run(conv2d({2, 2}, {1, 1}), {counting({1, 1, 3, 3}), ones})),
            (Floats{0, 3, 9, 24}));
}

TEST(Convolution, AddsTheBiasAndAllInputChannels) {
  Tensor x = floats({1, 2, 1, 2}, {1, 2, 10, 20});
  Tensor w = floats({2, 2, 1, 1}, {1, 1, 2, -1});
  EXPECT_EQ(values(run(conv2d(), {x, w, floats({2}, {100, 0})})), (Floats{111, 122, -8, -16}));
}

TEST(Convolution, GroupsSeeTheirOwnChannels) {
  Tensor x = floats({1, 2, 1, 1}, {3, 5});
  EXPECT_EQ(values(run(conv2d({1, 1}, {0, 0}, {1, 1}, 2), {x, floats({4, 1, 1, 1}, {1, 2, 3, 4})})),
            (Floats{3, 6, 15, 20}));
}

TEST(Convolution, DilationSkipsElements) {
  EXPECT_EQ(values(run(Convolution{{1}, {2}, {0}, {0}, 1},
                       {floats({1, 1, 5}, {1, 2, 4, 8, 16}), floats({1, 1, 2}, {1, 1})})),
            (Floats{5, 10, 20}));
}

TEST(Convolution, AsymmetricPadsShiftTheWindow) {
  Convolution op{{1}, {1}, {2}, {0}, 1};
  EXPECT_EQ(values(run(op, {floats({1, 1, 2}, {1, 2}), floats({1, 1, 3}, {1, 10, 100})})),
            (Floats{100, 210}));
}

TEST(Convolution, VolumesHaveDepth) {
  Convolution op{{1, 1, 1}, {1, 1, 1}, {0, 0, 0}, {0, 0, 0}, 1};
  EXPECT_EQ(values(run(op, {counting({1, 1, 2, 2, 2}), floats({1, 1, 2, 1, 1}, {1, 10})})),
            (Floats{40, 51, 62, 73}));
}

TEST(Convolution, WideRowsAndManyChannelsMatchThePlainSum) {
  // Wider than one tile, more channels than one block: compared with the definition, element by
  // element.
  const int64_t c = 3, k = 6, width = 600;
  Tensor x(DataType::float32, {1, c, 2, width}), w(DataType::float32, {k, c, 2, 3});
  uint32_t state = 1;
  auto fill = [&](Tensor& t) {
    for (float& v : t.mutable_data<float>())
      v = static_cast<float>((state = state * 1664525 + 1013904223) >> 24) - 128;
  };
  fill(x);
  fill(w);
  Tensor y = run(conv2d({1, 2}, {1, 1}), {x, w});
  ASSERT_EQ(y.dims(), (Dims{1, k, 3, 300}));
  auto at = [&](int64_t ch, int64_t row, int64_t col) {
    return row < 0 || row > 1 || col < 0 || col >= width
               ? 0.0f
               : x.data<float>()[(ch * 2 + row) * width + col];
  };
  for (int64_t o = 0; o < y.size(); ++o) {
    int64_t col = o % 300, row = o / 300 % 3, out = o / 900;
    double sum = 0;
    for (int64_t i = 0; i < c * 6; ++i) {
      sum += static_cast<double>(w.data<float>()[out * c * 6 + i]) *
             at(i / 6, row - 1 + i % 6 / 3, col * 2 - 1 + i % 3);
    }
    ASSERT_EQ(y.data<float>()[o], static_cast<float>(sum)) << o;
  }
}

TEST(Convolution, EmptyBatchesAndChannelsWork) {
  EXPECT_EQ(
      run(conv2d(), {Tensor(DataType::float32, {0, 1, 3, 3}), floats({1, 1, 1, 1}, {1})}).dims(),
      (Dims{0, 1, 3, 3}));
  Tensor no_channels(DataType::float32, {1, 0, 1, 1}), w(DataType::float32, {2, 0, 1, 1});
  EXPECT_EQ(values(run(conv2d(), {no_channels, w, floats({2}, {4, 5})})), (Floats{4, 5}));
}

TEST(Convolution, SaysWhatItExpected) {
  EXPECT_REFUSED(infer_of(conv2d(), {f32({1, 3, 8, 8})}), "2 to 3 inputs");
  EXPECT_REFUSED(infer_of(conv2d(), {f32({1, 3, 8, 8}), f32({4, 2, 3, 3})}), "3 channels");
  EXPECT_REFUSED(infer_of(conv2d(), {f32({1, 3, 8, 8}), f32({4, 3, 3})}),
                 "weights of 4 dimensions");
  EXPECT_REFUSED(infer_of(conv2d(), {f32({1, 3}), f32({4, 3})}), "3 to 5 dimensions");
  EXPECT_REFUSED(infer_of(conv2d(), {f32({1, 3, 8, 8}), f32({4, 3, 9, 9})}), "does not fit");
  EXPECT_REFUSED(infer_of(conv2d(), {f32({1, 3, 8, 8}), f32({4, 3, 3, 3}), f32({5})}), "bias");
  EXPECT_REFUSED(infer_of(conv2d({0, 1}), {f32({1, 3, 8, 8}), f32({4, 3, 3, 3})}), "strides");
  EXPECT_REFUSED(infer_of(conv2d({-1, 1}), {f32({1, 3, 8, 8}), f32({4, 3, 3, 3})}), "strides");
  EXPECT_REFUSED(infer_of(conv2d({1}), {f32({1, 3, 8, 8}), f32({4, 3, 3, 3})}), "2 strides");
  EXPECT_REFUSED(infer_of(conv2d({1, 1}, {-1, 0}), {f32({1, 3, 8, 8}), f32({4, 3, 3, 3})}),
                 "pads_begin");
  EXPECT_REFUSED(infer_of(conv2d({1, 1}, {INT64_MAX, 0}), {f32({1, 3, 8, 8}), f32({4, 3, 3, 3})}),
                 "pads_begin");
  EXPECT_REFUSED(infer_of(conv2d({1, 1}, {0, 0}, {0, 1}), {f32({1, 3, 8, 8}), f32({4, 3, 3, 3})}),
                 "dilations");
  EXPECT_REFUSED(
      infer_of(conv2d({1, 1}, {0, 0}, {1, 1}, 2), {f32({1, 3, 8, 8}), f32({4, 1, 3, 3})}),
      "2 groups");
  EXPECT_REFUSED(
      infer_of(conv2d({1, 1}, {0, 0}, {1, 1}, 0), {f32({1, 3, 8, 8}), f32({4, 3, 3, 3})}),
      "groups");
  EXPECT_REFUSED(
      infer_of(conv2d({1, 1}, {0, 0}, {1, 1}, 3), {f32({1, 3, 8, 8}), f32({4, 1, 3, 3})}),
      "output channels");
  EXPECT_REFUSED(infer_of(conv2d(), {f32({1, 3, 8, 8}), f32({4, 3, 0, 3})}), "kernel sizes");
  EXPECT_REFUSED(infer_of(conv2d(), {f32({1, 3, 8, 8}), i64({4, 3, 3, 3})}), "floating");
}

TEST(Deconvolution, ShapeInvertsAConvolutions) {
  EXPECT_EQ(dims_of(deconv2d({2, 2}, {1, 1}, {1, 1}), {{1, 8, 16, 16}, {8, 4, 3, 3}}),
            (Dims{1, 4, 32, 32}));
  EXPECT_EQ(dims_of(deconv2d({1, 2}, {1, 1}, {0, 0}), {{-2, 8, -3, -3}, {8, 4, 3, 3}}),
            (Dims{-2, 4, -3, -1}));
}

TEST(Deconvolution, ScattersTheKernel) {
  Tensor x = floats({1, 1, 2, 2}, {1, 2, 3, 4});
  EXPECT_EQ(
      values(run(deconv2d({2, 2}, {0, 0}, {0, 0}), {x, floats({1, 1, 2, 2}, {1, 10, 100, 1000})})),
      (Floats{1, 10, 2, 20, 100, 1000, 200, 2000, 3, 30, 4, 40, 300, 3000, 400, 4000}));
}

TEST(Deconvolution, OverlapsAddUpAndPadsCrop) {
  Deconvolution op{{1}, {1}, {1}, {0}, {0}, 1};
  EXPECT_EQ(values(run(op, {floats({1, 1, 3}, {1, 2, 3}), floats({1, 1, 3}, {1, 1, 1}),
                            floats({1}, {10})})),
            (Floats{13, 16, 15, 13}));
}

TEST(Deconvolution, OutputPaddingHoldsTheBiasAlone) {
  Deconvolution op{{2}, {1}, {0}, {0}, {1}, 1};
  EXPECT_EQ(values(run(op, {floats({1, 1, 2}, {1, 2}), floats({1, 1, 1}, {3}), floats({1}, {1})})),
            (Floats{4, 1, 7, 1}));
}

TEST(Deconvolution, GroupsAndDilation) {
  Deconvolution op{{1}, {2}, {0}, {0}, {0}, 2};
  // Each group's channel makes two outputs of its own.
  EXPECT_EQ(
      values(run(op, {floats({1, 2, 1}, {1, 2}), floats({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8})})),
      (Floats{1, 0, 2, 3, 0, 4, 10, 0, 12, 14, 0, 16}));
}

TEST(Deconvolution, SaysWhatItExpected) {
  Deconvolution op = deconv2d({1, 1}, {0, 0}, {0, 0});
  EXPECT_REFUSED(infer_of(op, {f32({1, 3, 8, 8}), f32({4, 3, 3, 3})}), "3 channels");
  EXPECT_REFUSED(infer_of(deconv2d({1, 1}, {9, 9}, {0, 0}), {f32({1, 3, 2, 2}), f32({3, 1, 3, 3})}),
                 "no output");
  EXPECT_REFUSED(
      infer_of(deconv2d({1, 1}, {0, 0}, {-1, 0}), {f32({1, 3, 2, 2}), f32({3, 1, 3, 3})}),
      "output_padding");
  EXPECT_REFUSED(infer_of(deconv2d({1, 1}, {0, 0}, {0}), {f32({1, 3, 2, 2}), f32({3, 1, 3, 3})}),
                 "output_padding");
  op.groups = INT64_MAX;
  EXPECT_REFUSED(infer_of(op, {f32({1, 0, 8, 8}), f32({0, 3, 3, 3})}), "groups");
}

}  // namespace
}  // namespace enginery
