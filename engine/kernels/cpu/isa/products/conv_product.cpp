// Convolutions as a matrix product of pixels and channels: out[m, n] = clip(sum over k of in[m, k]
// * w[k, n] + bias[n] + residual[m, n]), where k runs over the channels under each tap.
//
// A tile of up to kRows pixels by two vectors of output channels stays in registers while k runs.
// The pixels of a tile lie a vector of channels side by side (as the blocked layout has them).
// Other inputs, and all windows, are copied into that form first, a block that fits L2 at a time.
// Weights are packed in panels of two vectors of output channels, each read once a block; the next
// panel is fetched meanwhile. Bytes: input and weights once a block, residual and output once.
#include <omp.h>

#include "engine/kernels/cpu/isa/products/conv_product.h"
#include "engine/kernels/cpu/isa/products/product_tile.h"

namespace enginery {
namespace {

// Where a tile reads and writes.
struct Tile {
  ProductOperands operands;
  const float* bias;      // of the panel
  const float* residual;  // or null; placed as out
  float* out;
  int lanes;  // output channels that exist in the panel
};

template <int kR, int kV>
inline void finish(const ConvProductArguments& a, const Tile& t, Vector (&acc)[kR][kV]) {
  if (t.lanes >= kV * kWidth) {
#pragma GCC unroll 16
    for (int r = 0; r < kR; ++r) {
#pragma GCC unroll 2
      for (int v = 0; v < kV; ++v) {
        int64_t at = r * a.out_pixel + v * a.out_vector;
        if (t.residual) acc[r][v] += load(t.residual + at);
        store(t.out + at, clip(acc[r][v], a.low, a.high));
      }
    }
    return;
  }
#pragma GCC unroll 16
  for (int r = 0; r < kR; ++r) {
#pragma GCC unroll 2
    for (int v = 0; v < kV; ++v) {
      const int64_t at = r * a.out_pixel + v * a.out_vector, lanes = t.lanes - v * kWidth;
      if (t.residual) acc[r][v] += load_lanes(t.residual + at, lanes);
      store_lanes(t.out + at, clip(acc[r][v], a.low, a.high), lanes);
    }
  }
}

template <int kR, int kV>
void run_tile(const ConvProductArguments& a, const Tile& t) {
  Vector acc[kR][kV];
#pragma GCC unroll 2
  for (int v = 0; v < kV; ++v) {
    Vector bias = load(t.bias + v * kWidth);
#pragma GCC unroll 16
    for (int r = 0; r < kR; ++r) acc[r][v] = bias;
  }
  for (int v = 0; v < kV; ++v) {  // fetched while k runs
    for (int r = 0; r < kR; ++r) {
      int64_t at = r * a.out_pixel + v * a.out_vector;
      __builtin_prefetch(t.out + at, 1, 3);
      if (t.residual) __builtin_prefetch(t.residual + at, 0, 3);
    }
  }
  multiply(t.operands, acc);
  finish(a, t, acc);
}

template <int kR>
void run_tile_of(const ConvProductArguments& a, const Tile& t, int rows) {
  if constexpr (kR > 0) {
    if (rows != kR) return run_tile_of<kR - 1>(a, t, rows);
    if (t.lanes > kWidth)
      run_tile<kR, 2>(a, t);
    else
      run_tile<kR, 1>(a, t);
  }
}

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
  int64_t tiles = (count + kRows - 1) / kRows, panel_floats = a.depth * kPanel;
  for (int64_t panel = panels.begin; panel < panels.end; ++panel) {
    Tile t{};
    const float* weights = a.weights + panel * panel_floats;
    t.bias = a.bias + panel * kPanel;
    t.lanes = static_cast<int>(least(kPanel, a.channels_out - panel * kPanel));
    for (int64_t i = 0; i < tiles; ++i) {
      Share rows = share_of(count, tiles, i);
      int64_t at = group * a.out_group + (pixels.begin + rows.begin) * a.out_pixel +
                   2 * panel * a.out_vector;
      bool fetches = panel + 1 < panels.end && i < 2;
      t.operands = {in + rows.begin * kWidth, chunk_stride, weights,
                    fetches ? weights + panel_floats + i * (kWidth * kPanel / 2) : nullptr,
                    a.depth};
      t.residual = a.residual ? a.residual + at : nullptr;
      t.out = a.out + at;
      run_tile_of<kRows>(a, t, static_cast<int>(rows.end - rows.begin));
    }
  }
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
