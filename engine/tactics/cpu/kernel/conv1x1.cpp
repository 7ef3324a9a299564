// Family conv1x1: 1x1 convolutions as products of pixels and channels, channels-last or blocked on
// either side.
#include "engine/kernels/cpu/isa/conv1x1.h"

#include <algorithm>
#include <cstring>

#include "engine/tactics/cpu/kernel/cpu_kernel_family.h"

namespace enginery {
namespace {

// [bias] [+ residual] [clip], the epilogue that the kernel has.
struct Conv1x1Epilogue {
  EpilogueBounds bounds;
  int residual = -1;
};

std::optional<Conv1x1Epilogue> read_conv1x1_epilogue(const Problem& p, BiasAllowed bias) {
  Problem rest = p;
  Conv1x1Epilogue out;
  for (size_t i = 0; i < rest.epilogue.size(); ++i) {
    if (rest.epilogue[i].kind != EpilogueKind::add) continue;
    const TensorDesc& desc = p.inputs[static_cast<size_t>(rest.epilogue[i].operand)];
    bool whole =
        !desc.constant && desc.type.type == DataType::float32 && desc.type.dims == output_dims(p);
    // Only a clip may follow, and only a bias come before.
    if (!whole || (i > 0 && rest.epilogue[i - 1].kind != EpilogueKind::bias)) return {};
    out.residual = rest.epilogue[i].operand;
    rest.epilogue.erase(rest.epilogue.begin() + static_cast<int64_t>(i));
    break;
  }
  auto bounds = read_bounds(rest, bias);
  if (!bounds) return {};
  out.bounds = *bounds;
  return out;
}

struct Conv1x1Geometry {
  int64_t images, c, k;
  Plane in, out, stride, pad;
  bool padded() const { return pad.h > 0 || pad.w > 0; }
};

Result<Conv1x1Geometry> read_geometry(const Problem& p) {
  const auto& op = std::get<Convolution>(p.op);
  const Dims &x = input_dims(p, 0), &w = input_dims(p, 1);
  if ((x.size() != 3 && x.size() != 4) || op.groups != 1)
    return no_cpu_kernel("a convolution of this rank or with groups");
  if (std::any_of(w.begin() + 2, w.end(), [](int64_t k) { return k != 1; }))
    return no_cpu_kernel("a convolution that is not 1x1");
  if (p.inputs[0].type.type != DataType::float32 || !p.inputs[1].constant)
    return no_cpu_kernel("a convolution of this type");
  Conv1x1Geometry g{x[0],
                    x[1],
                    w[0],
                    plane_of_dims(x),
                    plane_of_dims(output_dims(p)),
                    plane_of(op.strides, 1),
                    plane_of(op.pads_begin, 0)};
  if (x.size() == 3) {
    g.stride.h = 1;
    g.pad.h = 0;
  }
  Plane end = plane_of(op.pads_end, 0);
  bool even = op.pads_begin == op.pads_end && end.h >= 0;
  if (!even || (g.padded() && (g.stride.h != 1 || g.stride.w != 1)))
    return no_cpu_kernel("a padded 1x1 convolution of this kind");
  return g;
}

// Which layouts a side can have: channels-last, and blocked by the kernels' vectors.
std::vector<Layout> side_layouts(const CpuKernelContext& context, int64_t channels) {
  std::vector<Layout> out{{LayoutKind::channels_last, 0}};
  const int32_t width = context.kernels.width, block = context.block();
  if (width == block && channels % block == 0) out.push_back({LayoutKind::blocked, block});
  return out;
}

Conv1x1Arguments arguments_of(const CpuKernelContext& context, const Conv1x1Geometry& g,
                              const Layout& from, const Layout& to) {
  Conv1x1Arguments a{};
  int64_t width = context.kernels.width;
  bool blocked = from.kind == LayoutKind::blocked, strided = g.stride.h != 1 || g.stride.w != 1;
  a.channels_in = g.c;
  a.channels_out = g.k;
  a.groups = g.images;
  a.pixels = g.out.h * g.out.w;
  int64_t pixel = blocked ? width : g.c;
  a.in_pixel = pixel * g.stride.w;
  a.in_row = pixel * g.in.w * g.stride.h;
  a.in_row_pixels = g.out.w;
  a.in_chunk = blocked ? width * g.in.h * g.in.w : width;
  a.in_group = g.c * g.in.h * g.in.w;
  a.packs = !blocked || strided;
  a.out_pixel = to.kind == LayoutKind::blocked ? width : g.k;
  a.out_vector = to.kind == LayoutKind::blocked ? width * g.out.h * g.out.w : width;
  a.out_group = g.k * g.out.h * g.out.w;
  if (g.padded()) {  // one image at a time, its rows inside the border
    a.groups = g.in.h;
    a.pixels = g.in.w;
    a.in_row_pixels = g.in.w;
    a.in_group = g.c * g.in.w;
    a.out_group = g.k * g.out.w;
  }
  // A block of pixels stays in L2 while all weights pass by: as few blocks as fit, of equal size,
  // in whole tiles.
  constexpr int64_t kBlockBytes = 512 << 10;
  int64_t padded = (g.c + width - 1) / width * width, tile = width == 16 ? 14 : 6;
  int64_t blocks = (4 * padded * a.pixels + kBlockBytes - 1) / kBlockBytes;
  a.block_pixels = ((a.pixels + blocks - 1) / blocks + tile - 1) / tile * tile;
  a.scratch_floats = a.packs ? std::min(a.block_pixels, a.pixels) * padded : 0;
  return a;
}

constexpr int64_t kLineFloats = 16;

// [K, C] as panels of two vectors of output channels, [panel][C][2 * width], the rest zero.
Tensor pack_weights(const Tensor& weights, int64_t k, int64_t c, int64_t width) {
  const int64_t panel = 2 * width, panels = (k + panel - 1) / panel;
  Tensor out(DataType::float32, {panels, c, panel});
  float* to = out.mutable_data<float>().data();
  const float* from = weights.data<float>().data();
  for (int64_t first = 0; first < k; first += panel, from += panel * c, to += panel * c) {
    const int64_t channels = std::min(panel, k - first);
    if (channels < panel) std::fill(to, to + panel * c, 0.0f);
    // A cache line of each output channel at a time: column by column they would evict each other.
    for (int64_t begin = 0; begin < c; begin += kLineFloats) {
      const int64_t end = std::min(begin + kLineFloats, c);
      for (int64_t n = 0; n < channels; ++n) {
        for (int64_t i = begin; i < end; ++i) to[i * panel + n] = from[n * c + i];
      }
    }
  }
  return out;
}

Tensor pad_bias(const Tensor* bias, int64_t k, int64_t width) {
  int64_t panel = 2 * width;
  Tensor out(DataType::float32, {(k + panel - 1) / panel * panel});
  auto to = out.mutable_data<float>();
  std::ranges::fill(to, 0.0f);
  if (bias) std::ranges::copy(bias->data<float>(), to.begin());
  return out;
}

// Output pixels that see padding only: the clipped bias.
void fill_border(const Conv1x1Geometry& g, const float* pixel, float* image) {
  auto write = [&](int64_t y, int64_t begin, int64_t end) {
    for (int64_t x = begin; x < end; ++x) {
      std::memcpy(image + (y * g.out.w + x) * g.k, pixel, static_cast<size_t>(g.k) * sizeof(float));
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

Packed pack(const Conv1x1Geometry& g, const Conv1x1Arguments& a, int bias_input, int64_t width,
            Weights weights) {
  const Tensor* bias = bias_input >= 0 ? weights[static_cast<size_t>(bias_input)] : nullptr;
  Packed packed{pack_weights(*weights[1], g.k, g.c, width), pad_bias(bias, g.k, width), Tensor()};
  packed.border = Tensor(DataType::float32, {g.k});
  auto border = packed.border.mutable_data<float>();
  for (int64_t n = 0; n < g.k; ++n) {
    border[static_cast<size_t>(n)] =
        std::clamp(bias ? bias->data<float>()[static_cast<size_t>(n)] : 0.0f, a.low, a.high);
  }
  return packed;
}

CpuKernelCandidate conv1x1_candidate(const CpuKernelContext& context, const Problem& p,
                                     const Conv1x1Geometry& g, const Layout& from, const Layout& to,
                                     const Conv1x1Epilogue& epilogue, int bias) {
  Conv1x1Arguments a = arguments_of(context, g, from, to);
  a.low = epilogue.bounds.low;
  a.high = epilogue.bounds.high;
  Tactic tactic = cpu_kernel_tactic(p, "pixel_product");
  tactic.inputs[0].layout = from;
  tactic.outputs[0].layout = to;
  if (epilogue.residual >= 0) tactic.inputs[static_cast<size_t>(epilogue.residual)].layout = to;
  tactic.in_place_operand = epilogue.residual;
  tactic.workspace_bytes = a.scratch_floats * context.threads * static_cast<int64_t>(sizeof(float));
  double gigaflops = context.threads * (context.kernels.width == 16   ? 125.0
                                        : context.isa >= CpuIsa::avx2 ? 72.0
                                                                      : 15.0);
  tactic.estimated_us = 2 + std::max(flop_count(p) / (gigaflops * 1e3), least_bytes(p) / 20e3);
  auto build = [kernels = &context.kernels, a, g, bias,
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
      if (!g.padded()) return kernels->conv1x1(call);
      for (int64_t image = 0; image < g.images; ++image) {
        fill_border(g, packed.border.data<float>().data(), call.out);
        auto inside = call;
        inside.out += (g.pad.h * g.out.w + g.pad.w) * g.k;
        kernels->conv1x1(inside);
        call.in += g.c * g.in.h * g.in.w;
        call.out += g.k * g.out.h * g.out.w;
      }
    };
  };
  return {std::move(tactic), build};
}

}  // namespace

CpuKernelCandidates offer_cpu_conv1x1(const CpuKernelContext& context, const Problem& p) {
  TRY(Conv1x1Geometry g, read_geometry(p));
  bool own_bias = p.anchor_inputs > 2 && p.inputs[2].present;
  auto epilogue = read_conv1x1_epilogue(p, own_bias ? BiasAllowed::no : BiasAllowed::yes);
  if (!epilogue) return no_cpu_kernel("a 1x1 convolution with more than bias, residual and clip");
  int bias = own_bias ? 2 : epilogue->bounds.bias;
  if (bias >= 0 && !p.inputs[static_cast<size_t>(bias)].constant)
    return no_cpu_kernel("a convolution with a run-time bias");
  if (g.padded() && epilogue->residual >= 0)
    return no_cpu_kernel("a padded 1x1 convolution with a residual");
  std::vector<CpuKernelCandidate> out;
  for (const Layout& from : side_layouts(context, g.c)) {
    for (const Layout& to : side_layouts(context, g.k)) {
      if (g.padded() && (from.kind == LayoutKind::blocked || to.kind == LayoutKind::blocked))
        continue;
      out.push_back(conv1x1_candidate(context, p, g, from, to, *epilogue, bias));
    }
  }
  return out;
}

}  // namespace enginery
