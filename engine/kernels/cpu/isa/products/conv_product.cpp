// Convolutions as a matrix product of pixels and channels: out[m, n] = clip(sum over k of in[m, k]
// * w[k, n] + bias[n] + residual[m, n]), where k runs over the channels under each tap.
//
// A tile of up to kRows pixels by two vectors of output channels stays in registers while k runs.
// The pixels of a tile lie a vector of channels side by side (as the blocked layout has them).
// Other inputs, and all windows, are copied into that form first, a block that fits L2 at a time.
// Weights are packed in panels of two vectors of output channels, each read once a block; the next
// panel is fetched meanwhile. Bytes: input and weights once a block, residual and output once.
#include <omp.h>

#include "engine/kernels/cpu/isa/pointwise_steps.h"
#include "engine/kernels/cpu/isa/products/conv_product.h"
#include "engine/kernels/cpu/isa/products/product_panel.h"

namespace enginery {
namespace {

// Pixels [begin, end) of a group, a vector of channels side by side: to[chunk][pixel][lane].
void pack_pixels(const ConvProductArguments& a, const float* group, int64_t begin, int64_t end,
                 float* to) {
  int64_t chunks = (a.depth + kWidth - 1) / kWidth, count = end - begin;
  for (int64_t p = begin; p < end; ++p) {
    const float* from = group + p / a.in_row_pixels * a.in_row + p % a.in_row_pixels * a.in_pixel;
    float* pixel = to + (p - begin) * kWidth;
    for (int64_t c = 0; c < chunks; ++c, from += a.in_chunk, pixel += count * kWidth) {
      int64_t lanes = least(kWidth, a.depth - c * kWidth);
      if (lanes == kWidth)
        store(pixel, load(from));
      else
        for (int64_t i = 0; i < lanes; ++i) pixel[i] = from[i];
    }
  }
}

// What lies under the windows of pixels [begin, end) of an image: to[tap][chunk][pixel][lane].
void pack_windows(const ConvProductArguments& a, const float* image, int64_t begin, int64_t end,
                  float* to) {
  const int64_t chunks = (a.channels + kWidth - 1) / kWidth, count = end - begin;
  for (int64_t ky = 0; ky < a.kernel_h; ++ky) {
    for (int64_t kx = 0; kx < a.kernel_w; ++kx, to += chunks * count * kWidth) {
      for (int64_t p = begin; p < end; ++p) {
        const int64_t y = p / a.in_row_pixels * a.stride_h + ky * a.dilation_h - a.pad_h;
        const int64_t x = p % a.in_row_pixels * a.stride_w + kx * a.dilation_w - a.pad_w;
        const bool inside = y >= 0 && x >= 0 && y < a.in_h && x < a.in_w;
        const float* from = image + y * a.in_row + x * a.in_pixel;
        float* pixel = to + (p - begin) * kWidth;
        for (int64_t c = 0; c < chunks; ++c, pixel += count * kWidth) {
          const int64_t lanes = a.channels - c * kWidth;
          store(pixel, inside ? load_lanes(from + c * a.in_chunk, lanes) : Vector{});
        }
      }
    }
  }
}

// Rows of a panel's sums, one behind the other, and where their results are.
struct PanelRows {
  float* sums;  // [count][kPanel]
  int64_t first, count, column, columns;
  float* out;  // the first row's first column
};

void run_steps(const ConvProductArguments& a, const PanelRows& rows) {
  for (int s = 0; s < a.steps; ++s) {
    const PointwiseStep& step = a.step[s];
    if (step.operand < 0) {
      apply(step, rows.sums, rows.sums, rows.count * kPanel);
      continue;
    }
    const MatrixOperand& o = a.operand[step.operand];
    const float* from =
        static_cast<const float*>(o.at) + rows.first * o.row + rows.column * o.column;
    for (int64_t r = 0; r < rows.count; ++r, from += o.row) {
      float* row = rows.sums + r * kPanel;
      combine(step.function, row, row, from, o.column, rows.columns);
    }
  }
}

void store_rows(const ConvProductArguments& a, const PanelRows& rows) {
  for (int64_t r = 0; r < rows.count; ++r) {
    const float* from = rows.sums + r * kPanel;
    float* to = rows.out + r * a.out_pixel;
    store_lanes(to, load(from), rows.columns);
    if (rows.columns > kWidth)
      store_lanes(to + a.out_vector, load(from + kWidth), rows.columns - kWidth);
  }
}

// Panel after panel through `sums`, so that the steps find them in the first cache.
void run_stepped(const ConvProductArguments& a, const PackedProduct& product, int64_t row,
                 Share panels, PixelRun run, float* sums) {
  float* const out = run.out;
  run.out = sums;
  for (int64_t panel = panels.begin; panel < panels.end; ++panel) {
    const int64_t column = panel * kPanel, columns = least(kPanel, a.channels_out - column);
    PackedProduct one = product;
    one.weights += panel * a.depth * kPanel;
    one.bias += column;
    one.channels_out = columns;
    one.out_pixel = kPanel;
    one.out_vector = kWidth;
    run_panel(one, 0, panel + 1 < panels.end, run);
    const PanelRows rows{sums, row, run.count, column, columns, out + 2 * panel * a.out_vector};
    run_steps(a, rows);
    store_rows(a, rows);
  }
}

// A block of pixels against panels [panels.begin, panels.end).
void run_block(const ConvProductArguments& a, int64_t group, Share pixels, Share panels,
               float* scratch) {
  const float* in = a.in + group * a.in_group;
  int64_t chunk_stride = a.in_chunk, count = pixels.end - pixels.begin;
  if (a.packs) {
    if (a.has_window)
      pack_windows(a, in, pixels.begin, pixels.end, scratch);
    else
      pack_pixels(a, in, pixels.begin, pixels.end, scratch);
    in = scratch;
    chunk_stride = count * kWidth;
  } else {
    in += pixels.begin * kWidth;
  }
  const PackedProduct product{a.weights,   a.bias,       a.depth, a.channels_out,
                              a.out_pixel, a.out_vector, a.low,   a.high};
  const int64_t at = group * a.out_group + pixels.begin * a.out_pixel;
  const PixelRun run{in, chunk_stride, count, a.residual ? a.residual + at : nullptr, a.out + at};
  if (a.steps > 0)
    return run_stepped(a, product, group * a.pixels + pixels.begin, panels, run,
                       scratch + a.packed_floats);
  for (int64_t panel = panels.begin; panel < panels.end; ++panel)
    run_panel(product, panel, panel + 1 < panels.end, run);
}

}  // namespace

void ENGINERY_KERNEL(conv_product)(const ConvProductArguments& a) {
  int64_t panels = (a.channels_out + kPanel - 1) / kPanel;
  double work =
      static_cast<double>(a.groups * a.pixels) * static_cast<double>(a.depth * a.channels_out);
#pragma omp parallel if (work > 8.0 * kMinParallelWork)
  {
    int64_t threads = omp_get_num_threads(), thread = omp_get_thread_num();
    int64_t tiles = a.groups * ((a.pixels + kRows - 1) / kRows);
    ProductCut cut = choose_cut(tiles, panels, threads, a.channels_out > a.groups * a.pixels);
    Share mine = share_of(panels, cut.by_panel, thread % cut.by_panel);
    Share all = share_of(a.groups * a.pixels, cut.by_row, thread / cut.by_panel);
    float* scratch = a.scratch + thread * a.scratch_floats;
    for (int64_t begin = all.begin; begin < all.end;) {
      int64_t group = begin / a.pixels, first = begin % a.pixels;
      int64_t count = least(least(a.block_pixels, a.pixels - first), all.end - begin);
      run_block(a, group, {first, first + count}, mine, scratch);
      begin += count;
    }
  }
}

}  // namespace enginery
