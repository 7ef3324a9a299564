// Dense convolutions in bfloat16 as products in tiles, channels-last, with any epilogue of
// constants and values by channel or by pixel.
#include "engine/kernels/cpu/tiles/conv.h"

#include <algorithm>

#include "engine/tactics/cpu/kernel/convolution.h"
#include "engine/tactics/cpu/kernel/tile_panels.h"

namespace enginery {
namespace {

// Operands by channel, the same everywhere, or of the output's size, which lie as it does.
Result<ProductOperand> conv_operand(const Problem& p, const EpilogueStep& step, int64_t channels,
                                    bool narrow) {
  const TensorDesc& desc = p.inputs[static_cast<size_t>(step.operand)];
  const Dims& own = desc.type.dims;
  if (step.kind == EpilogueKind::bias) return ProductOperand{step.operand, false, 0, 1, false};
  if (volume(own) == 1) return ProductOperand{step.operand, false, 0, 0, false};
  if (own == output_dims(p) && !desc.constant && volume(own) > channels)
    return ProductOperand{step.operand, false, channels, 1, narrow};
  const Dims dims = aligned(own, output_dims(p).size());
  if (volume(own) == channels && dims[1] == channels)
    return ProductOperand{step.operand, false, 0, 1, false};
  return no_cpu_kernel("a convolution with an operand of other dims");
}

// As few chunks as leave room in the second cache, of about the same size: `bytes` of each of `all`
// and `reach` more, in multiples of `step`.
int64_t chunk_of(int64_t all, int64_t bytes, int64_t reach, int64_t step) {
  constexpr int64_t kChunkBytes = 512 << 10;
  const int64_t most = std::max(step, kChunkBytes / bytes - reach);
  const int64_t chunks = (all + most - 1) / most;
  return ((all + chunks - 1) / chunks + step - 1) / step * step;
}

// A convolution as the kernel runs it, all but its addresses.
struct TileConv {
  TileConvArguments arguments;
  std::vector<int64_t> piece_at;  // of `padded`
  int64_t row_values = 0;         // of the copies
  int64_t depth = 0;              // of a piece of the product, without what fills it up
};

void set_padded(TileConv& conv) {
  TileConvArguments& a = conv.arguments;
  const TileWindow& w = a.window;
  TileProductArguments& p = a.product;
  a.rows_of = TileRows::padded;
  const int64_t filled = (w.channels + kTileStep - 1) / kTileStep * kTileStep;
  const int64_t reach = (w.kernel_h - 1) * w.dilation_h;
  p.row_width = w.out_w + (w.kernel_w - 1) * w.dilation_w;
  p.row_kept = w.out_w;
  p.pieces = w.kernel_h * w.kernel_w;
  p.k = p.pieces * filled;
  p.x_pitch = filled;
  for (int64_t y = 0; y < w.kernel_h; ++y) {
    for (int64_t x = 0; x < w.kernel_w; ++x)
      conv.piece_at.push_back((y * w.dilation_h * p.row_width + x * w.dilation_w) * filled);
  }
  a.chunk = chunk_of(w.out_h, 2 * p.row_width * filled, reach, 1);
  conv.row_values = (a.chunk + reach) * p.row_width * filled;
  conv.depth = w.channels;
}

void set_gathered(TileConv& conv) {
  TileConvArguments& a = conv.arguments;
  const TileWindow& w = a.window;
  TileProductArguments& p = a.product;
  a.rows_of = TileRows::gathered;
  conv.depth = w.kernel_h * w.kernel_w * w.channels;
  p.k = p.x_pitch = (conv.depth + kTileStep - 1) / kTileStep * kTileStep;
  a.chunk = chunk_of(p.m, 2 * p.k, 0, 32);
  conv.row_values = std::min(a.chunk, p.m) * p.k;
}

Result<TileConv> read_conv(const CpuKernelContext& context, const Problem& p) {
  const auto& op = std::get<Convolution>(p.op);
  CHECK_OK(require_plane(p, "a convolution"));
  if (op.groups != 1) return no_cpu_kernel("a convolution in groups");
  if (!p.inputs[1].constant) return no_cpu_kernel("a convolution with run-time weights");
  TileConv conv{};
  TileConvArguments& a = conv.arguments;
  set_windows(p, op, plane_of_dims(input_dims(p, 1)), a.window);
  const TileWindow& w = a.window;
  TileProductArguments& product = a.product;
  product.m = w.n * w.out_h * w.out_w;
  product.n = input_dims(p, 1)[0];
  product.pieces = 1;
  a.in_pixel = context.in_pitch > 0 ? context.in_pitch : w.channels;
  product.y_pitch = context.out_pitch > 0 ? context.out_pitch : product.n;
  const bool has_steps = w.stride_h != 1 || w.stride_w != 1;
  const bool has_window =
      w.kernel_h * w.kernel_w > 1 || has_steps || w.out_h != w.in_h || w.out_w != w.in_w;
  // Rows of a picture are not cut: those of a long signal would be as large as the signal.
  constexpr int64_t kMostRowValues = 4 << 20;
  const int64_t row_values = (w.out_w + w.kernel_w * w.dilation_w) * w.channels;
  const bool fills_tiles = 2 * w.channels >= kTileStep;
  if (has_window && !has_steps && fills_tiles && row_values <= kMostRowValues) {
    set_padded(conv);
  } else if (has_window || w.channels % kTileStep != 0) {
    set_gathered(conv);
  } else {
    a.rows_of = TileRows::pixels;
    product.k = conv.depth = w.channels;
    product.x_pitch = a.in_pixel;
  }
  return conv;
}

// Row by row of the product: what lies under a tap, channel by channel.
Tensor conv_panels(const TileConv& conv, const Tensor& weights) {
  const TileProductArguments& p = conv.arguments.product;
  const TileWindow& w = conv.arguments.window;
  const int64_t taps = w.kernel_h * w.kernel_w, piece = p.k / p.pieces;
  const Tensor rounded = convert(weights, DataType::bfloat16);
  const auto* from = static_cast<const uint16_t*>(rounded.raw());
  return pack_tile_panels(p.n, p.k, [&](int64_t column, int64_t row) -> uint16_t {
    if (row % piece >= conv.depth) return 0;
    const int64_t at = row / piece * conv.depth + row % piece;  // among those of all taps
    const int64_t tap = at / w.channels, channel = at % w.channels;
    return from[(column * w.channels + channel) * taps + tap];
  });
}

// Of the product with what fills it up, and of the copies: 15 ns for each piece that is gathered,
// 10 GB/s of each thread where whole rows are.
double estimate_us(const CpuKernelContext& context, const Problem& p, const TileConv& conv) {
  const TileProductArguments& product = conv.arguments.product;
  const TileWindow& w = conv.arguments.window;
  const bool is_padded = conv.arguments.rows_of == TileRows::padded;
  const double filled = static_cast<double>(product.k) / static_cast<double>(product.pieces) /
                        static_cast<double>(conv.depth),
               beside = is_padded ? static_cast<double>(product.row_width) /
                                        static_cast<double>(product.row_kept)
                                  : 1.0;
  double copies_us = 0;
  if (is_padded)
    copies_us = static_cast<double>(w.n * w.in_h * product.row_width * product.x_pitch) * 2e-4;
  else if (conv.arguments.rows_of == TileRows::gathered)
    copies_us = static_cast<double>(product.m * w.kernel_h) * 15e-3;
  return copies_us / context.threads +
         movement_and_arithmetic_us(context, p, tile_flops_per_us(context) / (filled * beside));
}

CpuKernelCandidate tile_conv_candidate(const CpuKernelContext& context, const Problem& p,
                                       const TileConv& conv, const ProductChain& chain) {
  Tactic tactic = cpu_kernel_tactic(p, "tile_conv");
  tactic.compute = Precision::bf16;
  tactic.inputs[0] = {DataType::bfloat16, channels_last_layout()};
  tactic.outputs[0] = {conv.arguments.product.narrow ? DataType::bfloat16 : DataType::float32,
                       channels_last_layout()};
  tactic.reads_pitched = tactic.writes_pitched = true;
  for (const ProductOperand& o : chain.operands) {
    if (o.row == 0) continue;
    tactic.inputs[static_cast<size_t>(o.input)] = tactic.outputs[0];
    tactic.in_place_operand = o.input;
    tactic.writes_pitched = false;
  }
  tactic.workspace_bytes = 2 * conv.row_values;
  tactic.estimated_us = estimate_us(context, p, conv);
  auto prepare = [kernel = context.tiles->tile_conv, conv, chain](Weights weights) -> CpuKernelRun {
    PreparedTiles all = prepare_tiles(conv.arguments.product, chain, conv_panels(conv, *weights[1]),
                                      Tensor(), weights);
    return [kernel, conv, all = std::move(all)](const Arguments& arguments) {
      TileConvArguments call = conv.arguments;
      call.product = all.at(arguments);
      call.product.piece_at = conv.piece_at.empty() ? nullptr : conv.piece_at.data();
      call.rows = static_cast<uint16_t*>(arguments.workspace);
      kernel(call);
    };
  };
  return {std::move(tactic), prepare};
}

}  // namespace

CpuKernelCandidates tile_conv_candidates(const CpuKernelContext& context, const Problem& p) {
  if (!context.tiles) return no_cpu_kernel("a convolution without instructions for bfloat16");
  TRY(TileConv conv, read_conv(context, p));
  TileProductArguments& product = conv.arguments.product;
  std::vector<CpuKernelCandidate> out;
  for (const bool narrow : {true, false}) {
    product.narrow = narrow;
    ProductChain chain;
    if (p.anchor_inputs > 2 && p.inputs[2].present) {
      if (!p.inputs[2].constant) return no_cpu_kernel("a convolution with a run-time bias");
      chain.append(PointwiseFunction::add, {2, false, 0, 1, false});
    }
    const auto place = [&](const EpilogueStep& step) {
      return conv_operand(p, step, product.n, narrow);
    };
    CHECK_OK(append_epilogue(p, place, chain));
    out.push_back(tile_conv_candidate(context, p, conv, chain));
  }
  return out;
}

}  // namespace enginery
