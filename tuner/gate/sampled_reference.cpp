#include "tuner/gate/sampled_reference.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "engine/base/parallel.h"

namespace enginery {
namespace {

using Coordinates = std::vector<int64_t>;

// The sum of products and of their sizes.
struct Sum {
  double value = 0, magnitude = 0;
  void add(double x, double w) {
    value += x * w;
    magnitude += std::abs(x * w);
  }
  SampledValue result() const { return {value, magnitude}; }
};

double broadcast_at(const Tensor& t, const Coordinates& at) {
  return t.data<float>()[broadcast_index(t.dims(), at)];
}

// Where a filter's tap reads: the offset within a plane of `sizes`; nothing outside of it.
// `position_of(dimension, tap's coordinate)` is -1 where no element lies.
template <typename F>
std::optional<int64_t> tap_offset(const Dims& sizes, const Dims& kernel, int64_t tap,
                                  F&& position_of) {
  int64_t offset = 0, stride = 1;
  for (size_t i = kernel.size(); i-- > 0;) {
    const int64_t position = position_of(i, tap % kernel[i]);
    tap /= kernel[i];
    if (position < 0 || position >= sizes[i]) return std::nullopt;
    offset += position * stride;
    stride *= sizes[i];
  }
  return offset;
}

Dims spatial(const Dims& dims) {
  return Dims(dims.begin() + 2, dims.end());
}

SampledValue convolution_at(const Convolution& op, const Tensor& x, const Tensor& w,
                            const Coordinates& at) {
  const Dims &xd = x.dims(), &wd = w.dims(), sizes = spatial(xd), kernel = spatial(wd);
  const int64_t channels = wd[1], k = at[1], group = k / (wd[0] / op.groups);
  const int64_t taps = volume(kernel), plane = volume(sizes);
  const float* px = x.data<float>().data() + (at[0] * xd[1] + group * channels) * plane;
  const float* pw = w.data<float>().data() + k * channels * taps;
  Sum sum;
  for (int64_t tap = 0; tap < taps; ++tap) {
    const auto offset = tap_offset(sizes, kernel, tap, [&](size_t i, int64_t r) {
      return at[i + 2] * op.strides[i] - op.pads_begin[i] + r * op.dilations[i];
    });
    for (int64_t c = 0; offset && c < channels; ++c)
      sum.add(px[c * plane + *offset], pw[c * taps + tap]);
  }
  return sum.result();
}

SampledValue deconvolution_at(const Deconvolution& op, const Tensor& x, const Tensor& w,
                              const Coordinates& at) {
  const Dims &xd = x.dims(), &wd = w.dims(), sizes = spatial(xd), kernel = spatial(wd);
  const int64_t of_group = wd[1], k = at[1] % of_group, group = at[1] / of_group;
  const int64_t channels = xd[1] / op.groups, taps = volume(kernel), plane = volume(sizes);
  const float* px = x.data<float>().data() + (at[0] * xd[1] + group * channels) * plane;
  const float* pw = w.data<float>().data() + (group * channels * of_group + k) * taps;
  Sum sum;
  for (int64_t tap = 0; tap < taps; ++tap) {
    const auto offset = tap_offset(sizes, kernel, tap, [&](size_t i, int64_t r) {
      const int64_t reached = at[i + 2] + op.pads_begin[i] - r * op.dilations[i];
      return reached < 0 || reached % op.strides[i] ? -1 : reached / op.strides[i];
    });
    for (int64_t c = 0; offset && c < channels; ++c)
      sum.add(px[c * plane + *offset], pw[c * of_group * taps + tap]);
  }
  return sum.result();
}

SampledValue gemm_at(const Gemm& op, const Tensor& a, const Tensor& b, const Coordinates& at) {
  const int64_t depth = a.dims()[op.transpose_a ? 0 : 1], m = at[0], n = at[1];
  const auto pa = a.data<float>(), pb = b.data<float>();
  Sum sum;
  for (int64_t k = 0; k < depth; ++k) {
    const int64_t ia = op.transpose_a ? k * a.dims()[1] + m : m * depth + k;
    const int64_t ib = op.transpose_b ? n * depth + k : k * b.dims()[1] + n;
    sum.add(pa[static_cast<size_t>(ia)], pb[static_cast<size_t>(ib)]);
  }
  return {op.alpha * sum.value, std::abs(op.alpha) * sum.magnitude};
}

// Vectors count as a row (a) and a column (b); leading dims broadcast.
SampledValue matmul_at(const Tensor& a, const Tensor& b, Coordinates at) {
  Dims ad = a.dims(), bd = b.dims();
  if (bd.size() == 1) {
    bd.push_back(1);
    at.push_back(0);
  }
  if (ad.size() == 1) {
    ad.insert(ad.begin(), 1);
    at.insert(at.end() - 1, 0);
  }
  const int64_t depth = ad.back(), columns = bd.back(), m = at[at.size() - 2], n = at.back();
  const Coordinates batch(at.begin(), at.end() - 2);
  const Dims a_batch(ad.begin(), ad.end() - 2), b_batch(bd.begin(), bd.end() - 2);
  const float* pa =
      a.data<float>().data() +
      static_cast<int64_t>(broadcast_index(a_batch, batch)) * ad[ad.size() - 2] * depth + m * depth;
  const float* pb = b.data<float>().data() +
                    static_cast<int64_t>(broadcast_index(b_batch, batch)) * depth * columns + n;
  Sum sum;
  for (int64_t k = 0; k < depth; ++k) sum.add(pa[k], pb[k * columns]);
  return sum.result();
}

SampledValue product_sum_at(const Problem& problem, const std::vector<const Tensor*>& in,
                            const Coordinates& at) {
  const Tensor &x = *in[0], &w = *in[1];
  const Tensor* third = in.size() > 2 && problem.anchor_inputs > 2 ? in[2] : nullptr;
  SampledValue v;
  double beta = 1;
  bool channel = true;  // the third input is a bias of each channel
  if (const auto* conv = std::get_if<Convolution>(&problem.op)) {
    v = convolution_at(*conv, x, w, at);
  } else if (const auto* deconv = std::get_if<Deconvolution>(&problem.op)) {
    v = deconvolution_at(*deconv, x, w, at);
  } else if (const auto* gemm = std::get_if<Gemm>(&problem.op)) {
    v = gemm_at(*gemm, x, w, at);
    beta = gemm->beta;
    channel = false;
  } else {
    v = matmul_at(x, w, at);
  }
  if (!third) return v;
  const double addend = beta * (channel ? third->data<float>()[static_cast<size_t>(at[1])]
                                        : broadcast_at(*third, at));
  return {v.value + addend, v.magnitude + std::abs(addend)};
}

}  // namespace

std::vector<int64_t> coordinates_of(int64_t element, const Dims& dims) {
  Coordinates at(dims.size());
  for (size_t i = dims.size(); i-- > 0;) {
    at[i] = element % dims[i];
    element /= dims[i];
  }
  return at;
}

size_t broadcast_index(const Dims& dims, const Coordinates& at) {
  int64_t index = 0, stride = 1;
  for (size_t i = 0; i < dims.size(); ++i) {
    const size_t d = dims.size() - 1 - i;
    index += (dims[d] == 1 ? 0 : at[at.size() - 1 - i]) * stride;
    stride *= dims[d];
  }
  return static_cast<size_t>(index);
}

std::vector<int64_t> sample_elements(const Dims& dims, int64_t count, uint64_t seed) {
  int64_t total = volume(dims);
  std::vector<int64_t> out;
  if (total <= count) {
    for (int64_t i = 0; i < total; ++i) out.push_back(i);
    return out;
  }
  // Corners: every dimension at its first or last index (at most 2^rank of them).
  Dims strides = strides_of(dims);
  for (uint64_t corner = 0; corner < (uint64_t{1} << std::min<size_t>(dims.size(), 10)); ++corner) {
    int64_t element = 0;
    for (size_t i = 0; i < dims.size(); ++i)
      element += (corner >> i & 1) ? (dims[i] - 1) * strides[i] : 0;
    out.push_back(element);
  }
  for (int64_t i = 0; i < 64; ++i) out.push_back(total - 1 - i % total);  // the last partial tile
  std::mt19937_64 random(seed);
  std::uniform_int_distribution<int64_t> any(0, total - 1);
  while (static_cast<int64_t>(out.size()) < count) out.push_back(any(random));
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

std::vector<SampledValue> sampled_products(const Problem& problem,
                                           const std::vector<const Tensor*>& inputs,
                                           const std::vector<int64_t>& elements) {
  constexpr int64_t kPiece = 64;  // elements that a thread computes at a time
  std::vector<SampledValue> out(elements.size());
  parallel_ranges(static_cast<int64_t>(elements.size()), kPiece, [&](int64_t begin, int64_t end) {
    for (auto i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i) {
      const Coordinates at = coordinates_of(elements[i], output_dims(problem));
      const auto* attention = std::get_if<Attention>(&problem.op);
      out[i] = sampled_epilogue(problem, inputs, at,
                                attention ? attention_at(*attention, inputs, elements[i])
                                          : product_sum_at(problem, inputs, at));
    }
  });
  return out;
}

}  // namespace enginery
