#include "engine/ops/convolution.h"

#include <algorithm>

#include "engine/base/parallel.h"
#include "engine/ops/support.h"
#include "engine/ops/window.h"

namespace enginery {
namespace {

// Output channels computed together, so that an input element is read and widened once for all of
// them.
constexpr int kBlock = 4;
constexpr int64_t kTile = 256;
constexpr double kWorthThreads =
    1e7;  // multiplications below which starting threads costs more than it saves

struct Sizes {
  int64_t batch, channels_in, channels_out, groups;
  Spatial in, out, kernel, stride, dilation, pad;
};

Sizes sizes_of(const Dims& x, const Dims& w, const Dims& y, int64_t groups,
               const WindowLists& lists) {
  const auto spatial = [](const Dims& d) { return std::span(d).subspan(2); };
  return {x[0],
          x[1],
          y[1],
          groups,
          spatial_of(spatial(x), 1),
          spatial_of(spatial(y), 1),
          spatial_of(spatial(w), 1),
          spatial_of(lists.strides, 1),
          spatial_of(lists.dilations, 1),
          spatial_of(lists.pads_begin, 0)};
}

// A pointwise convolution that keeps every element sees a plane as one long row.
void flatten_pointwise(Sizes& s) {
  const Spatial one{1, 1, 1}, zero{0, 0, 0};
  if (s.kernel != one || s.stride != one || s.pad != zero || s.in != s.out) return;
  const int64_t n = s.in[0] * s.in[1] * s.in[2];
  s.in = s.out = {1, 1, n};
}

int64_t volume_of(const Spatial& s) {
  return s[0] * s[1] * s[2];
}

// The outputs [first, last) along one dimension whose input under tap `k` exists: 0 <= o*stride -
// pad + k*dilation < in.
struct TapRange {
  int64_t first, last;
};
TapRange outputs_of_tap(const Sizes& s, size_t dim, int64_t k) {
  const int64_t shift = k * s.dilation[dim] - s.pad[dim], stride = s.stride[dim];
  const int64_t first = shift >= 0 ? 0 : (-shift + stride - 1) / stride;
  const int64_t room = s.in[dim] - 1 - shift;
  const int64_t last = room < 0 ? 0 : std::min(s.out[dim], room / stride + 1);
  return {std::min(first, last), last};
}

// One row (or tile of it) of `Block` neighbouring output channels.
template <int Block, typename T>
struct RowJob {
  const T* x;       // the group's first input plane
  const T* w;       // the first channel's weights
  int64_t w_pitch;  // weights of one output channel
  int64_t oz, oy, first, last;
};

template <int Block, typename T>
void accumulate_row(const Sizes& s, const RowJob<Block, T>& job, const std::vector<TapRange>& taps,
                    double (&sum)[Block][kTile]) {
  int64_t plane = volume_of(s.in), channels = s.channels_in / s.groups, tap = 0;
  for (int64_t c = 0; c < channels; ++c) {
    for (int64_t kz = 0; kz < s.kernel[0]; ++kz) {
      const int64_t iz = job.oz * s.stride[0] - s.pad[0] + kz * s.dilation[0];
      for (int64_t ky = 0; ky < s.kernel[1]; ++ky, tap += s.kernel[2]) {
        const int64_t iy = job.oy * s.stride[1] - s.pad[1] + ky * s.dilation[1];
        if (iz < 0 || iz >= s.in[0] || iy < 0 || iy >= s.in[1]) continue;
        const T* row = job.x + c * plane + (iz * s.in[1] + iy) * s.in[2];
        for (int64_t kx = 0; kx < s.kernel[2]; ++kx) {
          const int64_t from = std::max(job.first, taps[kx].first),
                        to = std::min(job.last, taps[kx].last);
          if (from >= to) continue;
          double w[Block];
          for (int b = 0; b < Block; ++b) w[b] = job.w[b * job.w_pitch + tap + kx];
          const int64_t stride = s.stride[2], n = to - from, at = from - job.first;
          const T* in = row + from * stride - s.pad[2] + kx * s.dilation[2];
          for (int64_t i = 0; i < n; ++i) {
            const double v = in[i * stride];
            for (int b = 0; b < Block; ++b) sum[b][at + i] += w[b] * v;
          }
        }
      }
    }
  }
}

template <typename T>
struct ConvolutionData {
  const T *x, *w, *bias;  // bias may be null
  T* y;
};

// Output channels [k, k + Block) of picture n.
template <int Block, typename T>
void convolve_channels(const Sizes& s, const ConvolutionData<T>& d,
                       const std::vector<TapRange>& taps, int64_t n, int64_t k) {
  const int64_t channels = s.channels_in / s.groups, group = k / (s.channels_out / s.groups);
  RowJob<Block, T> job;
  job.x = d.x + (n * s.channels_in + group * channels) * volume_of(s.in);
  job.w_pitch = channels * volume_of(s.kernel);
  job.w = d.w + k * job.w_pitch;
  T* y = d.y + (n * s.channels_out + k) * volume_of(s.out);
  double sum[Block][kTile];
  for (job.oz = 0; job.oz < s.out[0]; ++job.oz) {
    for (job.oy = 0; job.oy < s.out[1]; ++job.oy) {
      for (job.first = 0; job.first < s.out[2]; job.first = job.last) {
        job.last = std::min(job.first + kTile, s.out[2]);
        const int64_t size = job.last - job.first;
        for (int b = 0; b < Block; ++b)
          std::fill_n(sum[b], size, d.bias ? static_cast<double>(d.bias[k + b]) : 0.0);
        accumulate_row(s, job, taps, sum);
        for (int b = 0; b < Block; ++b) {
          T* row = y + b * volume_of(s.out) + (job.oz * s.out[1] + job.oy) * s.out[2] + job.first;
          for (int64_t i = 0; i < size; ++i) row[i] = static_cast<T>(sum[b][i]);
        }
      }
    }
  }
}

// One input plane times one kernel, scattered into `sum`, the output plane of one channel.
template <typename T>
void scatter_plane(const Sizes& s, const T* x, const T* w, const std::vector<TapRange>& taps,
                   double* sum) {
  for (int64_t iz = 0; iz < s.in[0]; ++iz) {
    for (int64_t iy = 0; iy < s.in[1]; ++iy) {
      const T* row = x + (iz * s.in[1] + iy) * s.in[2];
      for (int64_t kz = 0; kz < s.kernel[0]; ++kz) {
        for (int64_t ky = 0; ky < s.kernel[1]; ++ky) {
          const int64_t oz = iz * s.stride[0] - s.pad[0] + kz * s.dilation[0];
          const int64_t oy = iy * s.stride[1] - s.pad[1] + ky * s.dilation[1];
          if (oz < 0 || oz >= s.out[0] || oy < 0 || oy >= s.out[1]) continue;
          double* to = sum + (oz * s.out[1] + oy) * s.out[2];
          for (int64_t kx = 0; kx < s.kernel[2]; ++kx) {
            const double weight = w[(kz * s.kernel[1] + ky) * s.kernel[2] + kx];
            const int64_t shift = kx * s.dilation[2] - s.pad[2];
            for (int64_t ix = taps[kx].first; ix < taps[kx].last; ++ix) {
              to[ix * s.stride[2] + shift] += weight * static_cast<double>(row[ix]);
            }
          }
        }
      }
    }
  }
}

// Seen from its output, a deconvolution's input is what a convolution would produce.
std::vector<TapRange> inputs_of_taps(const Sizes& s) {
  Sizes mirrored = s;
  std::swap(mirrored.in, mirrored.out);
  std::vector<TapRange> taps;
  for (int64_t k = 0; k < (s.channels_in ? s.kernel[2] : 0); ++k)
    taps.push_back(outputs_of_tap(mirrored, 2, k));
  return taps;
}

template <typename T>
void convolve(const Convolution& op, ReferenceInputs in, Tensor& out) {
  const Tensor *x = in[0], *w = in[1], *bias = given(in, 2);
  const std::vector<int64_t> none;
  Sizes s = sizes_of(x->dims(), w->dims(), out.dims(), op.groups,
                     {none, op.strides, op.dilations, op.pads_begin, op.pads_end});
  flatten_pointwise(s);
  std::vector<TapRange> taps;
  // With no input channels a kernel has any size and no elements: nothing may be allocated by its
  // size.
  for (int64_t k = 0; k < (s.channels_in ? s.kernel[2] : 0); ++k)
    taps.push_back(outputs_of_tap(s, 2, k));
  const ConvolutionData<T> d{elements<T>(*x), elements<T>(*w), bias ? elements<T>(*bias) : nullptr,
                             elements<T>(out)};
  // Blocks of output channels within one group, for every picture; the last block of a group may be
  // short.
  const int64_t per_group = s.channels_out / s.groups, blocks = (per_group + kBlock - 1) / kBlock;
  const auto convolve_block = [&](int64_t index) {
    const int64_t n = index / (s.groups * blocks), group = index / blocks % s.groups;
    const int64_t end = (group + 1) * per_group;
    int64_t k = group * per_group + index % blocks * kBlock;
    if (k + kBlock <= end) return convolve_channels<kBlock>(s, d, taps, n, k);
    for (; k < end; ++k) convolve_channels<1>(s, d, taps, n, k);
  };
  const int64_t count = s.batch * s.groups * blocks;
  const double products = static_cast<double>(out.size()) *
                          static_cast<double>(s.channels_in / s.groups * volume_of(s.kernel));
  if (products >= kWorthThreads) {
    parallel_for(count, convolve_block);
  } else {
    for (int64_t i = 0; i < count; ++i) convolve_block(i);
  }
}

template <typename T>
void deconvolve(const Deconvolution& op, ReferenceInputs in, Tensor& out) {
  const Tensor *x = in[0], *w = in[1], *bias = given(in, 2);
  const std::vector<int64_t> none;
  const Sizes s = sizes_of(x->dims(), w->dims(), out.dims(), op.groups,
                           {none, op.strides, op.dilations, op.pads_begin, op.pads_end});
  const std::vector<TapRange> taps = inputs_of_taps(s);
  const int64_t channels = s.channels_in / s.groups, per_group = s.channels_out / s.groups;
  const int64_t plane = volume_of(s.in), kernel = volume_of(s.kernel);
  std::vector<double> sum(static_cast<size_t>(volume_of(s.out)));
  T* y = elements<T>(out);
  for (int64_t n = 0; n < s.batch; ++n) {
    for (int64_t k = 0; k < s.channels_out; ++k) {
      std::fill(sum.begin(), sum.end(), bias ? static_cast<double>(elements<T>(*bias)[k]) : 0.0);
      for (int64_t c = k / per_group * channels; c < (k / per_group + 1) * channels; ++c) {
        scatter_plane(s, elements<T>(*x) + (n * s.channels_in + c) * plane,
                      elements<T>(*w) + (c * per_group + k % per_group) * kernel, taps, sum.data());
      }
      for (const double v : sum) *y++ = static_cast<T>(v);
    }
  }
}

Status require_groups(std::string_view op, int64_t groups, int64_t channels,
                      std::string_view what) {
  if (groups < 1)
    return rule_error(op, "expected groups of at least 1, got " + std::to_string(groups));
  if (channels >= 0 && channels % groups != 0) {
    return rule_error(op, std::to_string(channels) + " " + std::string(what) +
                              " do not divide into " + std::to_string(groups) + " groups");
  }
  return {};
}

Status require_same_spatial_rank(std::string_view op, const Dims& x, const Dims& w) {
  CHECK_OK(require_rank(op, x, 3, 5));
  if (w.size() == x.size()) return {};
  return rule_error(op, "expected weights of " + std::to_string(x.size()) +
                            " dimensions as the input has, got " + to_string(w));
}

Result<int64_t> deconvolved_size(int64_t in, const Window& w, int64_t output_padding) {
  if (output_padding < 0 || output_padding >= (int64_t{1} << 31)) {
    return rule_error(
        "deconv", "expected output_padding of at least 0, got " + std::to_string(output_padding));
  }
  if (w.kernel < 0) return kDynamic;
  int64_t grown =
      output_padding + w.extent() - w.pad_begin - w.pad_end;  // added to stride * (in - 1)
  if (in < 0) return w.stride == 1 && grown == 1 ? in : kDynamic;
  int64_t size = 0;
  const bool fits = in > 0 && !__builtin_mul_overflow(w.stride, in - 1, &size) &&
                    !__builtin_add_overflow(size, grown, &size);
  if (fits && size >= 0) return size;
  return rule_error("deconv", "an input of " + std::to_string(in) + " with a kernel of " +
                                  std::to_string(w.kernel) + " and padding of " +
                                  std::to_string(w.pad_begin + w.pad_end) + " has no output");
}

}  // namespace

InferredTypes infer(const Convolution& op, Operands in) {
  const std::string_view name = Convolution::kName;
  CHECK_OK(require_inputs(name, in, 2, 3));
  CHECK_OK(require_floating(name, in));
  const Dims &x = in[0].type.dims, &w = in[1].type.dims;
  CHECK_OK(require_same_spatial_rank(name, x, w));
  CHECK_OK(require_groups(name, op.groups, x[1], "input channels"));
  CHECK_OK(require_groups(name, op.groups, w[0], "output channels"));
  if (x[1] >= 0 && w[1] >= 0 && x[1] / op.groups != w[1]) {
    return rule_error(name, "input " + to_string(x) + " in " + std::to_string(op.groups) +
                                " groups needs weights with " + std::to_string(x[1] / op.groups) +
                                " channels, got " + to_string(w));
  }
  CHECK_OK(require_vector(name, in, 2, w[0], "the bias"));
  std::vector<int64_t> kernel(w.begin() + 2, w.end());
  TRY(const auto windows,
      make_windows(name, x.size() - 2,
                   {kernel, op.strides, op.dilations, op.pads_begin, op.pads_end}));
  Dims y{x[0], w[0]};
  for (size_t i = 0; i < windows.size(); ++i) {
    TRY(const int64_t size, windows_that_fit(name, x[i + 2], windows[i], WindowRounding::floor));
    y.push_back(size);
  }
  return std::vector<TensorType>{{in[0].type.type, y}};
}

Status reference(const Convolution& op, ReferenceInputs in, ReferenceOutputs out) {
  if (out[0].size() == 0) return {};
  return with_floating_type(in[0]->type(), [&](auto type) {
    convolve<decltype(type)>(op, in, out[0]);
    return Status();
  });
}

InferredTypes infer(const Deconvolution& op, Operands in) {
  const std::string_view name = Deconvolution::kName;
  CHECK_OK(require_inputs(name, in, 2, 3));
  CHECK_OK(require_floating(name, in));
  const Dims &x = in[0].type.dims, &w = in[1].type.dims;
  CHECK_OK(require_same_spatial_rank(name, x, w));
  CHECK_OK(require_groups(name, op.groups, x[1], "input channels"));
  CHECK_OK(require_groups(name, op.groups, w[0], "input channels of the weights"));
  if (!merge_sizes(x[1], w[0])) {
    return rule_error(name, "input " + to_string(x) + " needs weights that begin with its " +
                                std::to_string(x[1]) + " channels, got " + to_string(w));
  }
  int64_t channels = kDynamic;
  if (w[1] >= 0 && __builtin_mul_overflow(w[1], op.groups, &channels))
    return rule_error(name, "too many groups");
  CHECK_OK(require_vector(name, in, 2, channels, "the bias"));
  std::vector<int64_t> kernel(w.begin() + 2, w.end());
  TRY(const auto windows,
      make_windows(name, x.size() - 2,
                   {kernel, op.strides, op.dilations, op.pads_begin, op.pads_end}));
  if (op.output_padding.size() != windows.size()) {
    return rule_error(name, "expected " + std::to_string(windows.size()) +
                                " output_padding sizes, got " +
                                std::to_string(op.output_padding.size()));
  }
  Dims y{x[0], channels};
  for (size_t i = 0; i < windows.size(); ++i) {
    TRY(const int64_t size, deconvolved_size(x[i + 2], windows[i], op.output_padding[i]));
    y.push_back(size);
  }
  return std::vector<TensorType>{{in[0].type.type, y}};
}

Status reference(const Deconvolution& op, ReferenceInputs in, ReferenceOutputs out) {
  if (out[0].size() == 0) return {};
  return with_floating_type(in[0]->type(), [&](auto type) {
    deconvolve<decltype(type)>(op, in, out[0]);
    return Status();
  });
}

}  // namespace enginery
