// Convolutions, transposed convolutions and products by weights, computed from what ConvShape says
// of them: a wrong stride, padding, group or order of the weights gives other numbers.
#include "engine/tactics/shapes/conv_shape.h"

#include "tests/engine/tactics/shapes/by_definition.h"
#include "tests/support/comparison.h"

namespace enginery {
namespace {

using test::element;
using test::Example;
using test::problem_of;

std::string convolution(const std::string& operands, const std::string& attributes = "") {
  const auto given = [&](const std::string& name) { return attributes.find(name) + 1 != 0; };
  std::string text = "conv";
  for (const char* name : {"strides", "dilations", "pads_begin", "pads_end"}) {
    const bool ones = name[0] == 's' || name[0] == 'd';
    if (!given(name)) text += std::string(" ") + name + (ones ? "=[1,1]" : "=[0,0]");
  }
  return text + " " + attributes + " | " + operands;
}

ConvShape shape_of(const std::string& text) {
  const auto shape = conv_shape(problem_of(text));
  EXPECT_TRUE(shape.ok()) << text << ": " << shape.error().message;
  return shape.ok() ? *shape : ConvShape();
}

// The bias of output channel k.
float bias_of(const Example& example, const ConvShape& s, int64_t k) {
  if (s.bias.input < 0) return 0;
  const auto values = example.input(s.bias.input);
  return s.bias.scale * element(values, values.size() == 1 ? 0 : k);
}

// Output pixel (p, q) of channel k, by the definition; x is [n, c, h, w], or [m, c] of a product,
// or [images, c, planes, h, w] where n is both.
float pixel_of(const Example& example, const ConvShape& s, const std::vector<float>& krsc,
               int64_t n, int64_t k, int64_t p, int64_t q) {
  const int64_t group_c = s.c / s.groups, group = k / (s.k / s.groups);
  const int64_t planes = s.n / s.images;
  double sum = bias_of(example, s, k);
  for (int64_t i = 0; i < s.r * s.s * group_c; ++i) {
    const int64_t r = i / group_c / s.s, x = i / group_c % s.s, c = group * group_c + i % group_c;
    const int64_t row = p * s.stride_h + r * s.dilation_h - s.pad_h,
                  column = q * s.stride_w + x * s.dilation_w - s.pad_w;
    if (row < 0 || row >= s.h || column < 0 || column >= s.w) continue;
    const int64_t plane = (n / planes * s.c + c) * planes + n % planes;
    sum += element(example.input(0), (plane * s.h + row) * s.w + column) *
           element(krsc, k * s.r * s.s * group_c + i);
  }
  return static_cast<float>(sum);
}

Tensor computed(const Example& example, const ConvShape& s) {
  const std::vector<float> krsc = filter_krsc(s, example.data.tensors[1]);
  Tensor y(DataType::float32, output_dims(example.problem));
  auto values = y.mutable_data<float>();
  for (int64_t i = 0; i < y.size(); ++i) {
    const int64_t planes = s.n / s.images, plane = i / (s.q * s.p), k = plane / planes % s.k,
                  n = plane / planes / s.k * planes + plane % planes;
    const int64_t q = i % s.q, p = i / s.q % s.p;
    values[static_cast<size_t>(i)] = pixel_of(example, s, krsc, n, k, p, q);
  }
  return y;
}

// A product's C of another shape than a bias is refused where the epilogue is read, not here.
bool has_plain_bias(const Problem& p, const ConvShape& s) {
  if (s.bias.input < 0) return true;
  const int64_t size = volume(input_dims(p, static_cast<size_t>(s.bias.input)));
  return p.inputs[static_cast<size_t>(s.bias.input)].constant && (size == 1 || size == s.k);
}

TEST(ConvShape, DescribesWhatTheReferenceComputesForEveryProblemOfTheList) {
  int checked = 0;
  for (const ProblemRow& row : conformance_problems()) {
    const Example example(test::without_epilogue(problem_of(row.text)));
    const auto shape = conv_shape(example.problem);
    if (!shape.ok() || example.problem.inputs[0].type.type != DataType::float32) continue;
    if (!has_plain_bias(example.problem, *shape) || shape->flops() > 3e7) continue;
    SCOPED_TRACE(row.name);
    expect_close(computed(example, *shape), example.expected(), 1e-5);
    ++checked;
  }
  EXPECT_GE(checked, 40);
}

TEST(ConvShape, CountsTheArithmeticThatTheProblemCounts) {
  int checked = 0;
  for (const ProblemRow& row : conformance_problems()) {
    const Problem problem = test::without_epilogue(problem_of(row.text));
    const auto shape = conv_shape(problem);
    if (!shape.ok()) continue;
    EXPECT_DOUBLE_EQ(shape->flops(), flop_count(problem)) << row.name;
    ++checked;
  }
  EXPECT_GE(checked, 40);
}

TEST(ConvShape, OneSpatialDimensionIsTheWidth) {
  const ConvShape s = shape_of(
      "conv strides=[2] dilations=[3] pads_begin=[4] pads_end=[1] | float32[2x8x30] "
      "w:float32[6x8x5]");
  EXPECT_EQ(s.h * s.p * s.r * s.stride_h * s.dilation_h, 1);
  EXPECT_EQ(s.pad_h + s.pad_h_end, 0);
  EXPECT_EQ(s.w, 30);
  EXPECT_EQ(s.s, 5);
  EXPECT_EQ(s.stride_w, 2);
  EXPECT_EQ(s.dilation_w, 3);
  EXPECT_EQ(s.pad_w * 10 + s.pad_w_end, 41);
  EXPECT_EQ(s.q, (30 + 4 + 1 - 12 - 1) / 2 + 1);
}

TEST(ConvShape, ThreeSpatialDimensionsAreTwoWhereTheFilterDoesNotReachAlongOne) {
  const auto of = [](const std::string& w, const std::string& pads) {
    return shape_of("conv strides=[1,1,1] dilations=[1,1,1] pads_begin=" + pads +
                    " pads_end=[0,0,0] | float32[2x8x3x5x7] w:float32[4x8x" + w + "]");
  };
  const ConvShape planes = of("1x3x3", "[0,1,0]");
  EXPECT_EQ(planes.n, 2 * 3) << "planes are images";
  EXPECT_EQ(planes.images, 2);
  EXPECT_EQ(planes.h * 100 + planes.w, 507);
  EXPECT_EQ(planes.pad_h, 1);
  EXPECT_EQ(planes.pixels_of_an_image(), 3 * 4 * 5);
  const ConvShape along = of("2x1x1", "[1,0,0]");
  EXPECT_EQ(along.n, 2);
  EXPECT_EQ(along.images, 2);
  EXPECT_EQ(along.h * 100 + along.w, 335) << "rows of a plane are one long row";
  EXPECT_EQ(along.r * 10 + along.s, 21);
  EXPECT_EQ(along.pad_h, 1);
  EXPECT_TRUE(of("1x1x1", "[0,0,0]").pointwise());
}

TEST(ConvShape, IsPointwiseOnlyWhereEveryPixelReadsItsOwn) {
  const auto pointwise = [](const std::string& w, const std::string& attributes) {
    return shape_of(convolution("float32[1x8x6x6] w:float32[" + w + "]", attributes)).pointwise();
  };
  EXPECT_TRUE(pointwise("4x8x1x1", ""));
  EXPECT_TRUE(pointwise("4x8x1x1", "dilations=[2,2]")) << "one tap has no neighbours";
  EXPECT_FALSE(pointwise("4x8x1x3", ""));
  EXPECT_FALSE(pointwise("4x8x3x1", ""));
  EXPECT_FALSE(pointwise("4x8x1x1", "strides=[1,2]"));
  EXPECT_FALSE(pointwise("4x8x1x1", "strides=[2,1]"));
  EXPECT_FALSE(pointwise("4x8x1x1", "pads_begin=[1,0]"));
  EXPECT_FALSE(pointwise("4x8x1x1", "pads_begin=[0,1]"));
  EXPECT_FALSE(pointwise("4x8x1x1", "pads_end=[1,0]"));
  EXPECT_FALSE(pointwise("4x8x1x1", "pads_end=[0,1]"));
  EXPECT_TRUE(shape_of("matmul | float32[3x8] w:float32[8x4]").pointwise());
}

// K runs on over filter places where channels fill no step; a tall filter has too many of them.
TEST(ConvShape, IsFlatWhereChannelsFillNoStep) {
  const ConvShape stem = shape_of(convolution("float32[1x3x9x9] w:float32[8x3x3x3]"));
  EXPECT_TRUE(stem.flat(16)) << "8 padded channels in steps of 16";
  EXPECT_FALSE(stem.flat(8));
  EXPECT_FALSE(stem.flat(4));
  const ConvShape pointwise = shape_of(convolution("float32[1x3x9x9] w:float32[8x3x1x1]"));
  EXPECT_FALSE(pointwise.flat(16)) << "there is one filter place";
  const ConvShape tall = shape_of(convolution("float32[1x3x20x9] w:float32[8x3x17x1]"));
  EXPECT_FALSE(tall.flat(16));
}

TEST(ConvShape, PadsTheChannelsOfImagesButNotOfProducts) {
  const ConvShape image = shape_of(convolution("float32[1x5x4x4] w:float32[16x5x3x3]"));
  EXPECT_EQ(image.c_pitch(), 8);
  EXPECT_EQ(image.k_pitch(), 16);
  EXPECT_EQ(to_string(image.x_format(DataType::float16)), "float16:nhwc8");
  EXPECT_EQ(to_string(image.y_format(DataType::float16)), "float16:nhwc");
  const ConvShape product = shape_of("matmul | float32[3x5] w:float32[5x7]");
  EXPECT_EQ(product.c_pitch(), 5);
  EXPECT_EQ(product.k_pitch(), 7);
  EXPECT_EQ(to_string(product.x_format(DataType::float32)), "float32:linear");
  EXPECT_EQ(to_string(product.y_format(DataType::float32)), "float32:linear");
}

TEST(ConvShape, CountsEveryTensorOnceWithItsPadding) {
  const ConvShape s = shape_of(convolution("float32[1x5x4x4] w:float32[12x5x3x3]"));
  const double x = 16 * 8, y = 4 * 16, w = 12 * 9 * 5;
  EXPECT_EQ(conv_bytes(s, DataType::float32), 4 * (x + y + w));
  EXPECT_EQ(conv_bytes(s, DataType::float16), 2 * (x + y + w));
  const ConvShape grouped =
      shape_of(convolution("float32[1x8x4x4] w:float32[8x2x1x1]", "groups=4"));
  EXPECT_EQ(conv_bytes(grouped, DataType::float32), 4 * (128 + 128 + 16));
}

TEST(ConvShape, TakesABatchOfProductsAsOneOfAllRows) {
  const ConvShape s = shape_of("matmul | float32[2x3x5x8] w:float32[8x4]");
  EXPECT_EQ(s.m(), 30);
  EXPECT_EQ(s.c, 8);
  EXPECT_EQ(s.k, 4);
  EXPECT_FALSE(s.weights_are_kc);
  EXPECT_EQ(s.bias.input, -1);
}

TEST(ConvShape, SaysWhyAProblemIsNone) {
  const std::pair<std::string, std::string> rows[] = {
      {convolution("float32[1x8x4x4] float32[8x8x1x1]"), "weights that are computed"},
      {convolution("float32[0x8x4x4] w:float32[8x8x1x1]"), "no elements"},
      {"conv strides=[1,1,1] dilations=[1,1,1] pads_begin=[0,0,0] pads_end=[0,0,0] | "
       "float32[1x8x2x4x4] w:float32[8x8x2x1x2]",
       "a window along 3 dimensions"},
      {"gemm transpose_a=true | float32[8x3] w:float32[8x4]", "a transposed input"},
      {"matmul | float32[2x3x8] w:float32[2x8x4]", "a matrix product by weights of rank 3"},
      {"matmul | int32[3x8] w:int32[8x4]", "integers"},
      {"binary kind=add | float32[3x8] w:float32[8]", "no convolution and no matrix product"},
      {"act kind=relu | float32[3x8]", "no convolution and no matrix product"}};
  for (const auto& [text, reason] : rows) {
    const auto shape = conv_shape(problem_of(text));
    ASSERT_FALSE(shape.ok()) << text;
    EXPECT_EQ(shape.error().code, ErrorCode::unsupported) << text;
    EXPECT_EQ(shape.error().message, reason) << text;
  }
}

// Input pixel (h, w) adds to every output pixel that its filter taps reach.
Tensor spread(const Example& example, const ConvShape& s) {
  Tensor y(DataType::float32, output_dims(example.problem));
  auto values = y.mutable_data<float>();
  for (int64_t i = 0; i < y.size(); ++i)
    values[static_cast<size_t>(i)] = bias_of(example, s, i / (s.p * s.q) % s.k);
  const int64_t group_c = s.c / s.groups, group_k = s.k / s.groups, taps = s.r * s.s;
  for (int64_t i = 0; i < s.n * s.c * s.h * s.w * group_k * taps; ++i) {
    const int64_t tap = i % taps, k = i / taps % group_k, x = i / taps / group_k;
    const int64_t c = x / (s.h * s.w) % s.c, n = x / (s.h * s.w * s.c);
    const int64_t row = x / s.w % s.h * s.stride_h + tap / s.s * s.dilation_h - s.pad_h,
                  column = x % s.w * s.stride_w + tap % s.s * s.dilation_w - s.pad_w;
    if (row < 0 || row >= s.p || column < 0 || column >= s.q) continue;
    const int64_t channel = c / group_c * group_k + k;
    values[static_cast<size_t>(((n * s.k + channel) * s.p + row) * s.q + column)] +=
        element(example.input(0), x) * element(example.input(1), (c * group_k + k) * taps + tap);
  }
  return y;
}

TEST(DeconvShape, DescribesWhatTheReferenceComputesForEveryProblemOfTheList) {
  int checked = 0;
  for (const ProblemRow& row : conformance_problems()) {
    const Example example(test::without_epilogue(problem_of(row.text)));
    const auto shape = deconv_shape(example.problem);
    if (!shape.ok()) continue;
    SCOPED_TRACE(row.name);
    expect_close(spread(example, *shape), example.expected(), 1e-5);
    ++checked;
  }
  EXPECT_GE(checked, 5);
}

TEST(DeconvShape, SaysWhyAProblemIsNone) {
  const auto reason = [](const std::string& dims, const std::string& operands) {
    return deconv_shape(problem_of("deconv strides=" + dims + " dilations=" + dims +
                                   " pads_begin=" + dims + " pads_end=" + dims +
                                   " output_padding=" + dims + " | " + operands))
        .error()
        .message;
  };
  EXPECT_EQ(reason("[1,1]", "float32[1x4x5x5] float32[4x4x3x3]"),
            "weights that are computed, or integers");
  EXPECT_EQ(reason("[1,1]", "float32[0x4x5x5] w:float32[4x4x3x3]"), "no elements");
  EXPECT_EQ(reason("[1,1,1]", "float32[1x4x5x5x5] w:float32[4x4x3x3x3]"),
            "a transposed convolution over 1x4x5x5x5");
  EXPECT_EQ(
      deconv_shape(problem_of(convolution("float32[1x8x4x4] w:float32[8x8x1x1]"))).error().message,
      "no transposed convolution");
}

}  // namespace
}  // namespace enginery
