// 1x1 convolution as a matrix product of pixels and channels: out[m, n] = clip(sum over k of in[m,
// k] * w[k, n] + bias[n]
// + residual[m, n]).
//
// A tile of up to kRows pixels by two vectors of output channels stays in registers while k runs.
// The pixels of a tile lie a vector of channels side by side (as the blocked layout has them):
// addresses are constants, and pixels whose distance is a power of two do not fight for one cache
// set. Other inputs are copied into that form first, a block that fits L2 at a time. Weights are
// packed in panels of two vectors of output channels, each read once a block; the next panel is
// fetched meanwhile. Bytes: input and weights once a block, residual and output once.
#include <omp.h>

#include "engine/kernels/cpu/isa/conv1x1.h"
#include "engine/kernels/cpu/isa/simd.h"

namespace enginery {
namespace {

constexpr int kRows = kWidth == 16 ? 14 : 6;  // 28 of 32 registers, 12 of 16
constexpr int kPanel = 2 * kWidth;
constexpr int64_t kLine = 16;  // floats in a cache line

// Where a tile reads and writes.
struct Tile {
  const float* in;        // pixels side by side
  int64_t chunk_stride;   // floats from one vector of input channels to the next
  const float* weights;   // the panel
  const float* next;      // what to fetch meanwhile, or null
  const float* bias;      // of the panel
  const float* residual;  // or null; placed as out
  float* out;
  int lanes;  // output channels that exist in the panel
};

template <int kR, int kV>
inline void step(const float* in, const float* weights, Vector (&acc)[kR][kV]) {
  Vector w[kV];
  for (int v = 0; v < kV; ++v) w[v] = load(weights + v * kWidth);
  for (int r = 0; r < kR; ++r) {
    Vector x = broadcast(in[r * kWidth]);
    for (int v = 0; v < kV; ++v) acc[r][v] += x * w[v];
  }
}

// Output channels that fill no vector, one by one.
void store_lanes(const Conv1x1Arguments& a, const float* values, const float* residual, float* out,
                 int lanes) {
  for (int i = 0; i < lanes; ++i) {
    float x = values[i] + (residual ? residual[i] : 0.0f);
    out[i] = clip(x, a.low, a.high);
  }
}

template <int kR, int kV>
inline void finish(const Conv1x1Arguments& a, const Tile& t, Vector (&acc)[kR][kV]) {
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
  float values[kR][kV * kWidth];
#pragma GCC unroll 16
  for (int r = 0; r < kR; ++r) {
#pragma GCC unroll 2
    for (int v = 0; v < kV; ++v) store(values[r] + v * kWidth, acc[r][v]);
  }
  for (int r = 0; r < kR; ++r) {
    for (int v = 0; v < kV; ++v) {
      int64_t at = r * a.out_pixel + v * a.out_vector;
      int lanes = static_cast<int>(least(kWidth, t.lanes - v * kWidth));
      store_lanes(a, values[r] + v * kWidth, t.residual ? t.residual + at : nullptr, t.out + at,
                  lanes);
    }
  }
}

template <int kR, int kV>
void run_tile(const Conv1x1Arguments& a, const Tile& t) {
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
  const float *in = t.in, *weights = t.weights, *next = t.next;
  int64_t whole = a.channels_in / kWidth;
  for (int64_t c = 0; c < whole; ++c) {
    // The next vector of channels lies a plane further: no hardware prefetcher sees that coming.
#pragma GCC unroll 16
    for (int r = 0; r < kR; ++r) __builtin_prefetch(in + t.chunk_stride + r * kWidth, 0, 3);
#pragma GCC unroll 4
    for (int i = 0; i < kWidth; ++i) step<kR, kV>(in + i, weights + i * kPanel, acc);
    if (next) {  // half of what the other panel has here; the tile after this fetches the other
                 // half
      for (int i = 0; i < kWidth * kPanel / 2; i += kLine) __builtin_prefetch(next + i, 0, 2);
      next += kWidth * kPanel;
    }
    in += t.chunk_stride;
    weights += kWidth * kPanel;
  }
  for (int i = 0; i < a.channels_in % kWidth; ++i) step<kR, kV>(in + i, weights + i * kPanel, acc);
  finish(a, t, acc);
}

template <int kR>
void run_tile_of(const Conv1x1Arguments& a, const Tile& t, int rows) {
  if constexpr (kR > 0) {
    if (rows != kR) return run_tile_of<kR - 1>(a, t, rows);
    if (t.lanes > kWidth)
      run_tile<kR, 2>(a, t);
    else
      run_tile<kR, 1>(a, t);
  }
}

// Pixels [begin, end) of a group, a vector of channels side by side: to[chunk][pixel][lane].
void pack_pixels(const Conv1x1Arguments& a, const float* group, int64_t begin, int64_t end,
                 float* to) {
  int64_t chunks = (a.channels_in + kWidth - 1) / kWidth, count = end - begin;
  for (int64_t p = begin; p < end; ++p) {
    const float* from = group + p / a.in_row_pixels * a.in_row + p % a.in_row_pixels * a.in_pixel;
    float* pixel = to + (p - begin) * kWidth;
    for (int64_t c = 0; c < chunks; ++c, from += a.in_chunk, pixel += count * kWidth) {
      int64_t lanes = least(kWidth, a.channels_in - c * kWidth);
      if (lanes == kWidth)
        store(pixel, load(from));
      else
        for (int64_t i = 0; i < lanes; ++i) pixel[i] = from[i];
    }
  }
}

struct Share {
  int64_t begin, end;
};

inline Share share_of(int64_t n, int64_t parts, int64_t part) {
  return {n * part / parts, n * (part + 1) / parts};
}

// A block of pixels against panels [panels.begin, panels.end).
void run_block(const Conv1x1Arguments& a, int64_t group, Share pixels, Share panels,
               float* scratch) {
  const float* in = a.in + group * a.in_group;
  int64_t chunk_stride = a.in_chunk, count = pixels.end - pixels.begin;
  if (a.packs) {
    pack_pixels(a, in, pixels.begin, pixels.end, scratch);
    in = scratch;
    chunk_stride = count * kWidth;
  } else {
    in += pixels.begin * kWidth;
  }
  int64_t tiles = (count + kRows - 1) / kRows, panel_floats = a.channels_in * kPanel;
  for (int64_t panel = panels.begin; panel < panels.end; ++panel) {
    Tile t{};
    t.chunk_stride = chunk_stride;
    t.weights = a.weights + panel * panel_floats;
    t.bias = a.bias + panel * kPanel;
    t.lanes = static_cast<int>(least(kPanel, a.channels_out - panel * kPanel));
    for (int64_t i = 0; i < tiles; ++i) {
      Share rows = share_of(count, tiles, i);
      int64_t at = group * a.out_group + (pixels.begin + rows.begin) * a.out_pixel +
                   2 * panel * a.out_vector;
      bool fetches = panel + 1 < panels.end && i < 2;
      t.next = fetches ? t.weights + panel_floats + i * (kWidth * kPanel / 2) : nullptr;
      t.in = in + rows.begin * kWidth;
      t.residual = a.residual ? a.residual + at : nullptr;
      t.out = a.out + at;
      run_tile_of<kRows>(a, t, static_cast<int>(rows.end - rows.begin));
    }
  }
}

// How the work is cut: `by_pixel` times `by_panel` parts.
struct Cut {
  int64_t by_pixel, by_panel;
};

// The cut whose largest part is smallest; on a tie the one that reads the larger operand once.
Cut choose_cut(int64_t tiles, int64_t panels, int64_t threads, bool many_channels) {
  Cut best{1, 1};
  double best_work = 1e300;
  for (int64_t by_panel = 1; by_panel <= threads; ++by_panel) {
    if (threads % by_panel != 0) continue;
    int64_t by_pixel = threads / by_panel;
    double work = static_cast<double>((tiles + by_pixel - 1) / by_pixel) *
                  static_cast<double>((panels + by_panel - 1) / by_panel);
    bool better = work < best_work * 0.99 || (work < best_work * 1.01 && many_channels);
    if (!better) continue;
    best = {by_pixel, by_panel};
    best_work = work;
  }
  return best;
}

}  // namespace

void ENGINERY_KERNEL(conv1x1)(const Conv1x1Arguments& a) {
  int64_t panels = (a.channels_out + kPanel - 1) / kPanel;
  double work = static_cast<double>(a.groups * a.pixels) *
                static_cast<double>(a.channels_in * a.channels_out);
#pragma omp parallel if (work > 8.0 * kMinParallelWork)
  {
    int64_t threads = omp_get_num_threads(), thread = omp_get_thread_num();
    int64_t tiles = a.groups * ((a.pixels + kRows - 1) / kRows);
    Cut cut = choose_cut(tiles, panels, threads, a.channels_out > a.groups * a.pixels);
    Share mine = share_of(panels, cut.by_panel, thread % cut.by_panel);
    Share all = share_of(a.groups * a.pixels, cut.by_pixel, thread / cut.by_panel);
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
