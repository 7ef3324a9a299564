// 3x3 convolutions of stride 1 as products at the points of Winograd's
// F(2 x 2, 3 x 3) and F(4 x 4, 3 x 3), channels-last or blocked on either side.
#include "engine/kernels/cpu/isa/products/winograd.h"

#include <algorithm>

#include "engine/tactics/cpu/kernel/convolution.h"

namespace enginery {
namespace {

constexpr int64_t kFilterTaps = 9;

Status require_winograd(const CpuKernelContext& context, const Problem& p) {
  CHECK_OK(require_plane(p, "a convolution"));
  const auto& op = std::get<Convolution>(p.op);
  const Dims& w = input_dims(p, 1);
  if (w.size() != 4 || w[2] != 3 || w[3] != 3) return no_cpu_kernel("a convolution of this window");
  const auto is_one = [](int64_t n) { return n == 1; };
  if (op.groups != 1 || !std::ranges::all_of(op.strides, is_one) ||
      !std::ranges::all_of(op.dilations, is_one))
    return no_cpu_kernel("a 3x3 convolution with strides, dilations or groups");
  if (!p.inputs[1].constant) return no_cpu_kernel("a convolution with run-time weights");
  // Fewer channels do not fill the products' registers: the transforms cost more than they save.
  if (w[0] < context.kernels.width || w[1] < context.kernels.width)
    return no_cpu_kernel("a 3x3 convolution of few channels");
  return {};
}

WinogradArguments arguments_of(const CpuKernelContext& context, const Problem& p, int64_t tile,
                               const Layout& from, const Layout& to) {
  const Plane in = plane_of_dims(input_dims(p, 0)), out = plane_of_dims(output_dims(p));
  const Plane pad = plane_of(std::get<Convolution>(p.op).pads_begin, 0);
  const int64_t width = context.kernels.width;
  WinogradArguments a{};
  a.images = input_dims(p, 0)[0];
  a.channels_in = input_dims(p, 0)[1];
  a.channels_out = output_dims(p)[1];
  a.in_h = in.h;
  a.in_w = in.w;
  a.out_h = out.h;
  a.out_w = out.w;
  a.pad_h = pad.h;
  a.pad_w = pad.w;
  const bool blocked_in = from.kind == LayoutKind::blocked;
  const bool blocked_out = to.kind == LayoutKind::blocked;
  a.in_pixel = blocked_in ? width : context.in_pitch > 0 ? context.in_pitch : a.channels_in;
  a.in_row = in.w * a.in_pixel;
  a.in_chunk = blocked_in ? in.h * a.in_row : width;
  a.in_image = blocked_in ? in.h * in.w * a.channels_in : in.h * a.in_row;
  a.out_pixel = blocked_out ? width : context.out_pitch > 0 ? context.out_pitch : a.channels_out;
  a.out_row = out.w * a.out_pixel;
  a.out_vector = blocked_out ? out.h * a.out_row : width;
  a.out_image = blocked_out ? out.h * out.w * a.channels_out : out.h * a.out_row;
  a.tile = tile;
  // What a block of tiles makes stays in L2 and a slice of L3 while the weights pass by; but each
  // weight should be multiplied with some rows of registers once it is there.
  constexpr int64_t kBlockBytes = 1 << 20, kLeastTiles = 48;
  const int64_t points = (tile + 2) * (tile + 2), tiles_h = (out.h + tile - 1) / tile,
                tiles_w = (out.w + tile - 1) / tile, tiles = a.images * tiles_h * tiles_w;
  const int64_t tile_bytes = 4 * points * (a.channels_in + 2 * width);
  a.block_tiles = std::min(tiles, std::max(kLeastTiles, kBlockBytes / tile_bytes));
  const WinogradScratch scratch = winograd_scratch(tile, a.block_tiles, a.channels_in, width);
  a.transformed_floats = scratch.transformed;
  a.product_floats = scratch.product;
  return a;
}

// Filters of several output channels at a time, a lane each.
constexpr int64_t kFilterLanes = 8;
struct FilterLanes {
  double of[kFilterLanes];
};

// g[0] * a + g[1] * b + g[2] * c.
inline FilterLanes combined(const double (&g)[3], const FilterLanes& a, const FilterLanes& b,
                            const FilterLanes& c) {
  FilterLanes out;
  for (int64_t i = 0; i < kFilterLanes; ++i)
    out.of[i] = g[0] * a.of[i] + g[1] * b.of[i] + g[2] * c.of[i];
  return out;
}

// G f G^T of every lane's filter f: point [i][j] goes to to[(i * kSide + j) * matrix], lane by
// lane.
template <size_t kSide>
void transform_filters(const double (&g)[kSide][3], const FilterLanes (&f)[kFilterTaps],
                       int64_t lanes, int64_t matrix, float* to) {
  for (size_t i = 0; i < kSide; ++i) {
    FilterLanes row[3];
    for (size_t j = 0; j < 3; ++j) row[j] = combined(g[i], f[j], f[3 + j], f[6 + j]);
    for (size_t j = 0; j < kSide; ++j, to += matrix) {
      const FilterLanes point = combined(g[j], row[0], row[1], row[2]);
      for (int64_t n = 0; n < lanes; ++n) to[n] = static_cast<float>(point.of[n]);
    }
  }
}

// [K, C, 3, 3] transformed, as panels of two vectors of output channels: [panel][point][C][2 *
// width], the rest zero.
template <size_t kSide>
Tensor pack_weights(const WinogradArguments& a, const double (&g)[kSide][3], const Tensor& weights,
                    int64_t width) {
  const int64_t panel = 2 * width, panels = (a.channels_out + panel - 1) / panel;
  const int64_t points = kSide * kSide, matrix = a.channels_in * panel;
  Tensor out(DataType::float32, {panels, points, a.channels_in, panel});
  float* to = out.mutable_data<float>().data();
  const float* from = weights.data<float>().data();
  if (a.channels_out % panel != 0) std::fill(to, to + panels * points * matrix, 0.0f);
  for (int64_t p = 0; p < panels; ++p, to += points * matrix) {
    for (int64_t c = 0; c < a.channels_in; ++c) {
      for (int64_t n = 0; n < panel; n += kFilterLanes) {
        const int64_t lanes = std::min(kFilterLanes, a.channels_out - p * panel - n);
        FilterLanes filters[kFilterTaps] = {};
        for (int64_t lane = 0; lane < lanes; ++lane) {
          const float* filter = from + ((p * panel + n + lane) * a.channels_in + c) * kFilterTaps;
          for (int64_t tap = 0; tap < kFilterTaps; ++tap)
            filters[tap].of[lane] = static_cast<double>(filter[tap]);
        }
        transform_filters(g, filters, lanes, matrix, to + c * panel + n);
      }
    }
  }
  return out;
}

Tensor transformed_weights(const WinogradArguments& a, const Tensor& weights, int64_t width) {
  if (a.tile == 2) {
    constexpr double g[4][3] = {{1, 0, 0}, {0.5, 0.5, 0.5}, {0.5, -0.5, 0.5}, {0, 0, 1}};
    return pack_weights(a, g, weights, width);
  }
  constexpr double near = kWinogradNear, far = kWinogradFar, near2 = near * near, far2 = far * far;
  constexpr double n = 1 / (2 * near2 * (near2 - far2)), f = 1 / (2 * far2 * (far2 - near2));
  constexpr double g[6][3] = {{1 / (near2 * far2), 0, 0}, {n, n * near, n * near2},
                              {n, -n * near, n * near2},  {f, f * far, f * far2},
                              {f, -f * far, f * far2},    {0, 0, 1}};
  return pack_weights(a, g, weights, width);
}

CpuKernelCandidate winograd_candidate(const CpuKernelContext& context, const Problem& p,
                                      int64_t tile, const Layout& from, const Layout& to,
                                      const ConvolutionEpilogue& epilogue) {
  WinogradArguments a = arguments_of(context, p, tile, from, to);
  a.low = epilogue.bounds.low;
  a.high = epilogue.bounds.high;
  a.steps = static_cast<int>(epilogue.activations.size());
  std::ranges::copy(epilogue.activations, a.step);
  Tactic tactic = cpu_kernel_tactic(p, "winograd/tile" + std::to_string(tile));
  tactic.algorithm = Algorithm::winograd;
  set_sides(from, to, epilogue, tactic);
  tactic.workspace_bytes = (a.transformed_floats + a.product_floats) * context.threads *
                           static_cast<int64_t>(sizeof(float));
  // Whole tiles are computed; the transforms take about as long as a fifth of the products.
  const int64_t points = (tile + 2) * (tile + 2), tiles_h = (a.out_h + tile - 1) / tile,
                tiles_w = (a.out_w + tile - 1) / tile;
  const double products = static_cast<double>(2 * a.images * tiles_h * tiles_w * points) *
                          static_cast<double>(a.channels_in * a.channels_out);
  const double more_weights = static_cast<double>(4 * a.channels_in * a.channels_out) *
                              static_cast<double>(points - kFilterTaps);
  tactic.estimated_us = product_us(context, 1.2 * products, least_bytes(p) + more_weights);
  auto build = [kernel = context.kernels.winograd, width = context.kernels.width, a,
                bias = epilogue.bounds.bias,
                residual = epilogue.residual](Weights weights) -> CpuKernelRun {
    const Tensor packed = transformed_weights(a, *weights[1], width);
    const Tensor padded =
        pad_bias(bias >= 0 ? weights[static_cast<size_t>(bias)] : nullptr, a.channels_out, width);
    return [=](const Arguments& arguments) {
      auto call = a;
      call.weights = packed.data<float>().data();
      call.bias = padded.data<float>().data();
      call.scratch = static_cast<float*>(arguments.workspace);
      call.in = static_cast<const float*>(arguments.inputs[0]);
      call.out = static_cast<float*>(arguments.outputs[0]);
      if (residual >= 0)
        call.residual = static_cast<const float*>(arguments.inputs[static_cast<size_t>(residual)]);
      kernel(call);
    };
  };
  const int64_t panel = 2 * context.kernels.width;
  const int64_t packed = (a.channels_out + panel - 1) / panel * panel * a.channels_in * points;
  return {std::move(tactic), build, {}, packed * static_cast<int64_t>(sizeof(float))};
}

}  // namespace

CpuKernelCandidates winograd_candidates(const CpuKernelContext& context, const Problem& p,
                                        const ConvolutionEpilogue& epilogue) {
  CHECK_OK(require_winograd(context, p));
  std::vector<CpuKernelCandidate> out;
  for (const int64_t tile : {4, 2}) {
    for (const Layout& from : side_layouts(context, input_dims(p, 0)[1])) {
      for (const Layout& to : side_layouts(context, output_dims(p)[1]))
        out.push_back(winograd_candidate(context, p, tile, from, to, epilogue));
    }
  }
  return out;
}

}  // namespace enginery
