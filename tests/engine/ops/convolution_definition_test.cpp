// Convolution and deconvolution against their definitions over many forms: stride, dilation, pads,
// groups, kernels wider than the input. The first is compared with plain loops, the second with the
// rule that it is the first one's adjoint: <conv(x), y> = <x, deconv(y)>.
#include "engine/ops/convolution.h"

#include "tests/engine/ops/ops_support.h"

namespace enginery {
namespace {

struct Form {
  Dims x, w;  // of the convolution: [N, C, H, W] and [K, C / groups, R, S]
  std::vector<int64_t> strides, dilations, pads_begin, pads_end;
  int64_t groups;
};

std::vector<Form> forms() {
  return {
      {{1, 1, 5, 5}, {1, 1, 3, 3}, {1, 1}, {1, 1}, {0, 0}, {0, 0}, 1},
      {{2, 3, 5, 7}, {5, 3, 3, 3}, {2, 3}, {1, 1}, {1, 0}, {0, 2}, 1},
      {{1, 4, 6, 6}, {6, 2, 2, 3}, {1, 2}, {2, 1}, {1, 1}, {1, 1}, 2},
      {{1, 6, 4, 4}, {6, 1, 3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, 6},
      {{2, 4, 3, 3}, {8, 1, 1, 1}, {2, 2}, {1, 1}, {0, 0}, {0, 0}, 4},
      {{1, 5, 4, 9}, {9, 5, 1, 1}, {1, 1}, {1, 1}, {0, 0}, {0, 0}, 1},
      {{1, 2, 2, 2}, {3, 2, 4, 4}, {1, 1}, {1, 1}, {2, 2}, {2, 2}, 1},
      {{1, 1, 1, 8}, {2, 1, 1, 3}, {1, 3}, {1, 3}, {0, 4}, {0, 1}, 1},
      {{1, 2, 5, 5}, {2, 1, 2, 2}, {3, 3}, {1, 1}, {0, 0}, {0, 0}, 2},
  };
}

// Small whole numbers, so that sums are exact in whatever order they are made.
Tensor whole_numbers(const Dims& dims, uint32_t seed) {
  Tensor t(DataType::float32, dims);
  for (float& v : t.mutable_data<float>()) {
    seed = seed * 1664525 + 1013904223;
    v = static_cast<float>(seed >> 28) - 8;
  }
  return t;
}

double element(const Tensor& t, const Dims& at) {
  const Dims strides = strides_of(t.dims());
  int64_t offset = 0;
  for (size_t d = 0; d < at.size(); ++d) {
    if (at[d] < 0 || at[d] >= t.dims()[d]) return 0;  // padding
    offset += at[d] * strides[d];
  }
  return t.data<float>()[static_cast<size_t>(offset)];
}

// One output element by the definition.
double convolved(const Form& f, const Tensor& x, const Tensor& w, const Dims& at) {
  const int64_t channels = f.w[1], group = at[1] / (f.w[0] / f.groups);
  double sum = 0;
  for (int64_t c = 0; c < channels; ++c) {
    for (int64_t r = 0; r < f.w[2]; ++r) {
      for (int64_t s = 0; s < f.w[3]; ++s) {
        const int64_t row = at[2] * f.strides[0] - f.pads_begin[0] + r * f.dilations[0];
        const int64_t column = at[3] * f.strides[1] - f.pads_begin[1] + s * f.dilations[1];
        sum +=
            element(w, {at[1], c, r, s}) * element(x, {at[0], group * channels + c, row, column});
      }
    }
  }
  return sum;
}

Convolution operator_of(const Form& f) {
  return {f.strides, f.dilations, f.pads_begin, f.pads_end, f.groups};
}

double dot(const Tensor& a, const Tensor& b) {
  EXPECT_EQ(a.dims(), b.dims());
  double sum = 0;
  for (size_t i = 0; i < a.data<float>().size() && a.dims() == b.dims(); ++i)
    sum += static_cast<double>(a.data<float>()[i]) * b.data<float>()[i];
  return sum;
}

TEST(ConvolutionDefinition, EveryElementIsItsWindowsSum) {
  for (const Form& f : forms()) {
    const Tensor x = whole_numbers(f.x, 1), w = whole_numbers(f.w, 2);
    const Tensor y = run(operator_of(f), {x, w});
    const std::string what = attributes_text(operator_of(f)) + " of " + to_string(f.x);
    const Dims strides = strides_of(y.dims());
    ASSERT_EQ(y.rank(), 4) << what;
    for (int64_t i = 0; i < y.size(); ++i) {
      Dims at;
      for (size_t d = 0; d < 4; ++d) at.push_back(i / strides[d] % y.dims()[d]);
      ASSERT_EQ(y.data<float>()[static_cast<size_t>(i)], convolved(f, x, w, at))
          << what << " at " << to_string(at);
    }
  }
}

TEST(DeconvolutionDefinition, IsTheAdjointOfTheConvolution) {
  for (const Form& f : forms()) {
    const Tensor x = whole_numbers(f.x, 3), w = whole_numbers(f.w, 4);
    const Tensor forward = run(operator_of(f), {x, w});
    const Tensor y = whole_numbers(forward.dims(), 5);
    // What the convolution's rounding down cut off, the deconvolution must be told to add.
    std::vector<int64_t> cut;
    for (size_t d = 0; d < 2; ++d) {
      const int64_t extent = (f.w[d + 2] - 1) * f.dilations[d] + 1;
      cut.push_back((f.x[d + 2] + f.pads_begin[d] + f.pads_end[d] - extent) % f.strides[d]);
    }
    const Deconvolution back{f.strides, f.dilations, f.pads_begin, f.pads_end, cut, f.groups};
    const Tensor backward = run(back, {y, w});
    EXPECT_EQ(dot(forward, y), dot(x, backward)) << attributes_text(back);
  }
}

}  // namespace
}  // namespace enginery
