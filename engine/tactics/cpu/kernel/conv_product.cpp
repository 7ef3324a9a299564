// Dense convolutions as products of pixels and of the channels under each tap, channels-last or
// blocked on either side.
#include "engine/kernels/cpu/isa/products/conv_product.h"

#include <algorithm>
#include <cstring>

#include "engine/tactics/cpu/kernel/convolution.h"
#include "engine/tactics/shapes/reading.h"

namespace enginery {
namespace {

struct Geometry {
  int64_t images, c, k;
  Plane in, out, kernel, stride, dilation, pad;
  bool has_window = false;  // more than one tap, or padding that a border cannot express
  bool bordered() const { return !has_window && (pad.h > 0 || pad.w > 0); }
};

Result<Geometry> read_geometry(const CpuKernelContext& context, const Problem& p) {
  const auto& op = std::get<Convolution>(p.op);
  const Dims& x = input_dims(p, 0);
  CHECK_OK(require_plane(p, "a convolution"));
  if (op.groups != 1) return no_cpu_kernel("a convolution that is not depthwise");
  if (!p.inputs[1].constant) return no_cpu_kernel("a convolution with run-time weights");
  Geometry g{x[0],
             x[1],
             input_dims(p, 1)[0],
             plane_of_dims(x),
             plane_of_dims(output_dims(p)),
             plane_of_dims(input_dims(p, 1)),
             plane_of(op.strides, 1),
             plane_of(op.dilations, 1),
             plane_of(op.pads_begin, 0)};
  const bool even = op.pads_begin == op.pads_end;
  const bool padded = g.pad.h != 0 || g.pad.w != 0 || !even;
  g.has_window =
      g.kernel.h > 1 || g.kernel.w > 1 ||
      (padded && (!even || g.stride.h != 1 || g.stride.w != 1 || g.pad.h < 0 || g.pad.w < 0));
  // Under a window each tap's channels are filled up to whole vectors.
  if (g.has_window && g.c % context.kernels.width != 0 && g.c < 4 * context.kernels.width)
    return no_cpu_kernel("a window over few channels");
  return g;
}

int64_t padded_channels(const Geometry& g, int64_t width) {
  return (g.c + width - 1) / width * width;
}

// `pixel`: from one pixel of the input to the next.
void set_windows_of(const Geometry& g, int64_t pixel, int64_t width, ConvProductArguments& a) {
  a.has_window = a.packs = true;
  a.depth = g.kernel.h * g.kernel.w * padded_channels(g, width);
  a.in_pixel = pixel;
  a.in_row = pixel * g.in.w;
  a.channels = g.c;
  a.in_h = g.in.h;
  a.in_w = g.in.w;
  a.kernel_h = g.kernel.h;
  a.kernel_w = g.kernel.w;
  a.stride_h = g.stride.h;
  a.stride_w = g.stride.w;
  a.dilation_h = g.dilation.h;
  a.dilation_w = g.dilation.w;
  a.pad_h = g.pad.h;
  a.pad_w = g.pad.w;
}

ConvProductArguments arguments_of(const CpuKernelContext& context, const Geometry& g,
                                  const Layout& from, const Layout& to,
                                  const ConvolutionEpilogue& epilogue) {
  const int64_t in_apart = context.in_pitch > 0 ? context.in_pitch : g.c,
                out_apart = context.out_pitch > 0 ? context.out_pitch : g.k;
  ConvProductArguments a{};
  int64_t width = context.kernels.width;
  bool blocked = from.kind == LayoutKind::blocked, strided = g.stride.h != 1 || g.stride.w != 1;
  a.depth = g.c;
  a.channels_out = g.k;
  a.groups = g.images;
  a.pixels = g.out.h * g.out.w;
  const int64_t pixel = blocked ? width : in_apart;
  a.in_pixel = pixel * g.stride.w;
  a.in_row = pixel * g.in.w * g.stride.h;
  a.in_row_pixels = g.out.w;
  a.in_chunk = blocked ? width * g.in.h * g.in.w : width;
  a.in_group = in_apart * g.in.h * g.in.w;
  a.packs = !blocked || strided;
  a.out_pixel = to.kind == LayoutKind::blocked ? width : out_apart;
  a.out_vector = to.kind == LayoutKind::blocked ? width * g.out.h * g.out.w : width;
  a.out_group =
      to.kind == LayoutKind::blocked ? g.k * g.out.h * g.out.w : out_apart * g.out.h * g.out.w;
  if (g.has_window) set_windows_of(g, pixel, width, a);
  if (g.bordered()) {  // one image at a time, its rows inside the border
    a.groups = g.in.h;
    a.pixels = g.in.w;
    a.in_row_pixels = g.in.w;
    a.in_group = pixel * g.in.w;
    a.out_group = out_apart * g.out.w;
  }
  a.low = epilogue.bounds.low;
  a.high = epilogue.bounds.high;
  a.steps = static_cast<int>(epilogue.activations.size());
  std::ranges::copy(epilogue.activations, a.step);
  set_block(width, a);
  return a;
}

// [K, C, taps] as [K, taps, padded C]: what a window's depth is.
Tensor taps_first(const Tensor& weights, const Geometry& g, int64_t width) {
  const int64_t taps = g.kernel.h * g.kernel.w, padded = padded_channels(g, width);
  Tensor out(DataType::float32, {g.k, taps * padded});
  float* to = out.mutable_data<float>().data();
  const float* from = weights.data<float>().data();
  std::fill(to, to + g.k * taps * padded, 0.0f);
  for (int64_t n = 0; n < g.k; ++n, to += taps * padded) {
    for (int64_t c = 0; c < g.c; ++c) {
      for (int64_t t = 0; t < taps; ++t) to[t * padded + c] = *from++;
    }
  }
  return out;
}

// [K, C] as panels of two vectors of output channels, [panel][C][2 * width], the rest zero.
Tensor pack_weights(const Tensor& weights, int64_t k, int64_t c, int64_t width) {
  constexpr int64_t kLine = 16;  // floats in a cache line
  const int64_t panel = 2 * width, panels = (k + panel - 1) / panel;
  Tensor out(DataType::float32, {panels, c, panel});
  float* to = out.mutable_data<float>().data();
  const float* from = weights.data<float>().data();
  for (int64_t first = 0; first < k; first += panel, from += panel * c, to += panel * c) {
    const int64_t channels = std::min(panel, k - first);
    if (channels < panel) std::fill(to, to + panel * c, 0.0f);
    // A cache line of each output channel at a time: column by column they would evict each other.
    for (int64_t begin = 0; begin < c; begin += kLine) {
      const int64_t end = std::min(begin + kLine, c);
      for (int64_t n = 0; n < channels; ++n) {
        for (int64_t i = begin; i < end; ++i) to[i * panel + n] = from[n * c + i];
      }
    }
  }
  return out;
}

// Output pixels that see padding only: the clipped bias.
void fill_border(const Geometry& g, const ConvProductArguments& a, const float* pixel,
                 float* image) {
  auto write = [&](int64_t y, int64_t begin, int64_t end) {
    for (int64_t x = begin; x < end; ++x) {
      std::memcpy(image + (y * g.out.w + x) * a.out_pixel, pixel,
                  static_cast<size_t>(g.k) * sizeof(float));
    }
  };
  for (int64_t y = 0; y < g.out.h; ++y) {
    bool inside = y >= g.pad.h && y < g.pad.h + g.in.h;
    write(y, 0, inside ? g.pad.w : g.out.w);
    if (inside) write(y, g.pad.w + g.in.w, g.out.w);
  }
}

struct Packed {
  Tensor weights, bias, border;
};

Packed pack(const Geometry& g, const ConvProductArguments& a, int bias_input, int64_t width,
            Weights weights) {
  const Tensor* bias = bias_input >= 0 ? weights[static_cast<size_t>(bias_input)] : nullptr;
  const Tensor& filters = *weights[1];
  Packed packed{g.has_window ? pack_weights(taps_first(filters, g, width), g.k, a.depth, width)
                             : pack_weights(filters, g.k, g.c, width),
                pad_bias(bias, g.k, width), Tensor()};
  packed.border = Tensor(DataType::float32, {g.k});
  auto border = packed.border.mutable_data<float>();
  for (int64_t n = 0; n < g.k; ++n) {
    border[static_cast<size_t>(n)] =
        std::clamp(bias ? bias->data<float>()[static_cast<size_t>(n)] : 0.0f, a.low, a.high);
  }
  return packed;
}

CpuKernelCandidate conv_product_candidate(const CpuKernelContext& context, const Problem& p,
                                          const Geometry& g, const Layout& from, const Layout& to,
                                          const ConvolutionEpilogue& epilogue) {
  const ConvProductArguments a = arguments_of(context, g, from, to, epilogue);
  Tactic tactic = cpu_kernel_tactic(p, g.has_window ? "window_product" : "pixel_product");
  set_sides(from, to, epilogue, tactic);
  tactic.workspace_bytes = a.scratch_floats * context.threads * static_cast<int64_t>(sizeof(float));
  const double flops =
      2.0 * static_cast<double>(a.depth * g.k) * static_cast<double>(g.images * g.out.h * g.out.w);
  tactic.estimated_us = product_us(context, g.has_window ? flops : flop_count(p), least_bytes(p));
  auto build = [kernels = &context.kernels, a, g, bias = epilogue.bounds.bias,
                residual = epilogue.residual](Weights weights) -> CpuKernelRun {
    Packed packed = pack(g, a, bias, kernels->width, weights);
    return [=](const Arguments& arguments) {
      auto call = a;
      call.weights = packed.weights.data<float>().data();
      call.bias = packed.bias.data<float>().data();
      call.scratch = static_cast<float*>(arguments.workspace);
      call.in = static_cast<const float*>(arguments.inputs[0]);
      call.out = static_cast<float*>(arguments.outputs[0]);
      if (residual >= 0)
        call.residual = static_cast<const float*>(arguments.inputs[static_cast<size_t>(residual)]);
      if (!g.bordered()) return kernels->conv_product(call);
      for (int64_t image = 0; image < g.images; ++image) {
        fill_border(g, a, packed.border.data<float>().data(), call.out);
        auto inside = call;
        inside.out += (g.pad.h * g.out.w + g.pad.w) * a.out_pixel;
        kernels->conv_product(inside);
        call.in += a.in_group * g.in.h;
        call.out += a.out_pixel * g.out.h * g.out.w;
      }
    };
  };
  return {std::move(tactic), build};
}

}  // namespace

void set_block(int64_t width, ConvProductArguments& a) {
  constexpr int64_t kBlockBytes = 512 << 10, kLeastPixels = 48;
  const int64_t floats = (a.depth + width - 1) / width * width, tile = width == 16 ? 14 : 6;
  const int64_t fitting = (4 * floats * a.pixels + kBlockBytes - 1) / kBlockBytes;
  const int64_t blocks =
      std::clamp<int64_t>(fitting, 1, std::max<int64_t>(a.pixels / kLeastPixels, 1));
  a.block_pixels = ((a.pixels + blocks - 1) / blocks + tile - 1) / tile * tile;
  const int64_t pixels = std::min(a.block_pixels, a.pixels);
  a.packed_floats = a.packs ? pixels * floats : 0;
  a.scratch_floats = a.packed_floats + (a.steps > 0 ? pixels * 2 * width : 0);
}

bool is_pixel_product(const Problem& p) {
  const auto* op = std::get_if<Convolution>(&p.op);
  return op && op->groups == 1 && p.inputs[1].constant && all_are(op->strides, 1) &&
         all_are(op->pads_begin, 0) && all_are(op->pads_end, 0) &&
         volume(input_dims(p, 1)) == input_dims(p, 1)[0] * input_dims(p, 1)[1];
}

Tensor pack_panels(const Tensor& weights, int64_t width) {
  const Dims& dims = weights.dims();
  return pack_weights(weights, dims[0], dims[1], width);
}

CpuKernelCandidates conv_product_candidates(const CpuKernelContext& context, const Problem& p,
                                            const ConvolutionEpilogue& epilogue) {
  TRY(Geometry g, read_geometry(context, p));
  if (g.bordered() && (epilogue.residual >= 0 || !epilogue.activations.empty()))
    return no_cpu_kernel("a padded 1x1 convolution with more than bias and clip");
  std::vector<CpuKernelCandidate> out;
  for (const Layout& from : side_layouts(context, g.c)) {
    for (const Layout& to : side_layouts(context, g.k)) {
      if (g.bordered() && (from.kind == LayoutKind::blocked || to.kind == LayoutKind::blocked))
        continue;
      out.push_back(conv_product_candidate(context, p, g, from, to, epilogue));
    }
  }
  return out;
}

}  // namespace enginery
