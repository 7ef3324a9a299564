// Blocks of mobile networks: the widest tensor of the network, what the first product makes, lives
// for a few rows at a time in a core's cache.
//
// A thread walks down its share of the output's rows. It keeps the rows of e that the windows of
// its next rows see, [row][chunk][column][lane], with the padding's zeros in place: no window has a
// border. Bytes: the input once (and its rows that two threads need twice), weights once for `rows`
// rows, residual and output once.
#include "engine/kernels/cpu/isa/products/depthwise_block.h"

#include <omp.h>

#include "engine/kernels/cpu/isa/products/product_panel.h"

namespace enginery {
namespace {

// The parts of a thread's scratch.
struct Scratch {
  float *window, *middle, *packed;  // rows of e; rows of d; rows of the input
  int64_t row;                      // floats of a row of e
  int64_t columns;                  // of a row of e, with the padding
  int64_t chunks;                   // vectors of channels
};

inline int64_t window_rows(const DepthwiseBlockArguments& a, int64_t rows) {
  return (rows - 1) * a.stride_h + a.kernel_h;
}

inline Scratch scratch_of(const DepthwiseBlockArguments& a, float* at) {
  Scratch s{};
  s.columns = most(a.in_w + a.pad_w, (a.out_w - 1) * a.stride_w + a.kernel_w);
  s.chunks = (a.channels + kWidth - 1) / kWidth;
  s.row = s.chunks * s.columns * kWidth;
  s.window = at;
  s.middle = s.window + window_rows(a, a.rows) * s.row;
  s.packed = s.middle + s.chunks * a.rows * a.out_w * kWidth;
  return s;
}

// Rows of an image, [begin, end) of those in it, to [chunk][pixel][lane].
void pack_rows(const DepthwiseBlockArguments& a, const float* image, Share rows, float* to) {
  const int64_t count = (rows.end - rows.begin) * a.in_w;
  const float* from = image + rows.begin * a.in_w * a.in_pixel;
  for (int64_t first = 0; first < a.channels_in; first += kWidth, from += a.in_chunk) {
    const int64_t lanes = a.channels_in - first;
    for (int64_t p = 0; p < count; ++p, to += kWidth)
      store(to, load_lanes(from + p * a.in_pixel, lanes));
  }
}

// The same rows of e, to rows of the window from `to` on.
void expand_rows(const DepthwiseBlockArguments& a, const Scratch& s, const float* image, Share rows,
                 float* to) {
  const PackedProduct product{a.expand.weights,  a.expand.bias, a.channels_in,
                              s.chunks * kWidth, kWidth,        s.columns * kWidth,
                              a.expand.low,      a.expand.high};
  const bool lies_so =
      a.in_pixel == kWidth && (a.channels_in <= kWidth || a.in_chunk == a.in_h * a.in_w * kWidth);
  if (!lies_so) pack_rows(a, image, rows, s.packed);
  const float* in = lies_so ? image + rows.begin * a.in_w * kWidth : s.packed;
  const int64_t stride = lies_so ? a.in_chunk : (rows.end - rows.begin) * a.in_w * kWidth;
  const int64_t panels = (s.chunks + 1) / 2;
  for (int64_t panel = 0; panel < panels; ++panel) {
    for (int64_t y = rows.begin; y < rows.end; ++y) {
      const int64_t row = y - rows.begin;
      run_panel(product, panel, row == 0 && panel + 1 < panels,
                {in + row * a.in_w * kWidth, stride, a.in_w, nullptr,
                 to + row * s.row + a.pad_w * kWidth});
    }
  }
}

// The same without a first product: the input's rows.
void copy_rows(const DepthwiseBlockArguments& a, const Scratch& s, const float* image, Share rows,
               float* to) {
  for (int64_t y = rows.begin; y < rows.end; ++y, to += s.row) {
    const float* from = image + y * a.in_w * a.in_pixel;
    float* at = to + a.pad_w * kWidth;
    for (int64_t first = 0; first < a.channels; first += kWidth, from += a.in_chunk) {
      const int64_t lanes = a.channels - first;
      for (int64_t x = 0; x < a.in_w; ++x)
        store(at + x * kWidth, load_lanes(from + x * a.in_pixel, lanes));
      at += s.columns * kWidth;
    }
  }
}

inline void zero(float* at, int64_t floats) {
  for (int64_t i = 0; i < floats; i += kWidth) store(at + i, Vector{});
}

// Rows [begin, end) of e to the window, whose row 0 is row `origin`; zeros outside of the image.
void fill_window(const DepthwiseBlockArguments& a, const Scratch& s, const float* image,
                 int64_t origin, Share rows) {
  float* const at = s.window - origin * s.row;
  const Share inside{least(most(rows.begin, 0), rows.end),
                     most(least(rows.end, a.in_h), rows.begin)};
  for (int64_t y = rows.begin; y < rows.end; ++y) {
    if (y < 0 || y >= a.in_h) zero(at + y * s.row, s.row);
  }
  if (inside.begin >= inside.end) return;
  if (a.expand.weights)
    expand_rows(a, s, image, inside, at + inside.begin * s.row);
  else
    copy_rows(a, s, image, inside, at + inside.begin * s.row);
}

// kPixels pixels of d side by side.
template <int kKernel, int kStride, int kPixels>
[[gnu::always_inline]] inline void pixels_of(const DepthwiseBlockArguments& a, const Scratch& s,
                                             const float* in, const float* taps, Vector bias,
                                             float* out) {
  constexpr int kReach = (kPixels - 1) * kStride + kKernel;
  Vector acc[kPixels];
  for (int i = 0; i < kPixels; ++i) acc[i] = bias;
  const int64_t tap = s.chunks * kWidth;
#pragma GCC unroll 5
  for (int ky = 0; ky < kKernel; ++ky, in += s.row) {
    Vector x[kReach];
#pragma GCC unroll 16
    for (int i = 0; i < kReach; ++i) x[i] = load(in + i * kWidth);
#pragma GCC unroll 5
    for (int kx = 0; kx < kKernel; ++kx) {
      const Vector w = load(taps + (ky * kKernel + kx) * tap);
#pragma GCC unroll 8
      for (int i = 0; i < kPixels; ++i) acc[i] += x[i * kStride + kx] * w;
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < kPixels; ++i) store(out + i * kWidth, clip(acc[i], a.taps.low, a.taps.high));
}

// A row of d for one vector of channels; `in`: the window's corner.
template <int kKernel, int kStride>
void row_of(const DepthwiseBlockArguments& a, const Scratch& s, const float* in, const float* taps,
            Vector bias, float* out) {
  constexpr int kAtOnce = kWidth == 16 ? 7 : 3;
  int64_t x = 0;
  for (; x + kAtOnce <= a.out_w; x += kAtOnce)
    pixels_of<kKernel, kStride, kAtOnce>(a, s, in + x * kStride * kWidth, taps, bias,
                                         out + x * kWidth);
  for (; x + 2 <= a.out_w; x += 2)
    pixels_of<kKernel, kStride, 2>(a, s, in + x * kStride * kWidth, taps, bias, out + x * kWidth);
  if (x < a.out_w)
    pixels_of<kKernel, kStride, 1>(a, s, in + x * kStride * kWidth, taps, bias, out + x * kWidth);
}

// The same with any window.
void row_of_any(const DepthwiseBlockArguments& a, const Scratch& s, const float* in,
                const float* taps, Vector bias, float* out) {
  for (int64_t x = 0; x < a.out_w; ++x) {
    Vector acc = bias;
    const float* tap = taps;
    for (int64_t ky = 0; ky < a.kernel_h; ++ky) {
      const float* row = in + ky * s.row + x * a.stride_w * kWidth;
      for (int64_t kx = 0; kx < a.kernel_w; ++kx, tap += s.chunks * kWidth)
        acc += load(row + kx * kWidth) * load(tap);
    }
    store(out + x * kWidth, clip(acc, a.taps.low, a.taps.high));
  }
}

auto row_function(const DepthwiseBlockArguments& a) {
  const bool three = a.kernel_h == 3 && a.kernel_w == 3, five = a.kernel_h == 5 && a.kernel_w == 5;
  if (three && a.stride_w == 1) return row_of<3, 1>;
  if (three && a.stride_w == 2) return row_of<3, 2>;
  if (five && a.stride_w == 1) return row_of<5, 1>;
  if (five && a.stride_w == 2) return row_of<5, 2>;
  return row_of_any;
}

// `rows` rows of the output from row `y` on, whose windows are there.
void run_rows(const DepthwiseBlockArguments& a, const Scratch& s, int64_t image, int64_t y,
              int64_t rows) {
  const auto row_of_d = row_function(a);
  const int64_t stride = rows * a.out_w * kWidth;
  for (int64_t chunk = 0; chunk < s.chunks; ++chunk) {
    const float* in = s.window + chunk * s.columns * kWidth;
    const Vector bias = load(a.taps.bias + chunk * kWidth);
    for (int64_t row = 0; row < rows; ++row)
      row_of_d(a, s, in + row * a.stride_h * s.row, a.taps.weights + chunk * kWidth, bias,
               s.middle + chunk * stride + row * a.out_w * kWidth);
  }
  const PackedProduct product{a.project.weights, a.project.bias, a.channels,    a.channels_out,
                              a.out_pixel,       a.out_vector,   a.project.low, a.project.high};
  const int64_t at = image * a.out_image + y * a.out_w * a.out_pixel;
  const PixelRun run{s.middle, stride, rows * a.out_w, a.residual ? a.residual + at : nullptr,
                     a.out + at};
  const int64_t panels = (a.channels_out + kPanel - 1) / kPanel;
  for (int64_t panel = 0; panel < panels; ++panel)
    run_panel(product, panel, panel + 1 < panels, run);
}

// Rows [begin, end) of all images' outputs.
void run_share(const DepthwiseBlockArguments& a, const Scratch& s, Share share) {
  zero(s.window, window_rows(a, a.rows) * s.row);  // the padding's columns stay
  int64_t filled = 0;                              // the row of e behind the last one in the window
  int64_t image = -1, origin = 0;
  for (int64_t next = share.begin; next < share.end;) {
    const int64_t y = next % a.out_h, rows = least(least(a.rows, a.out_h - y), share.end - next);
    const int64_t first = y * a.stride_h - a.pad_h, end = first + window_rows(a, rows);
    int64_t begin = first;
    if (next / a.out_h == image && filled > first) {  // what this window shares with the last one
      __builtin_memmove(s.window, s.window + (first - origin) * s.row,
                        static_cast<uint64_t>((filled - first) * s.row) * sizeof(float));
      begin = filled;
    }
    image = next / a.out_h;
    origin = first;
    fill_window(a, s, a.in + image * a.in_image, origin, {begin, end});
    filled = end;
    run_rows(a, s, image, y, rows);
    next += rows;
  }
}

}  // namespace

void ENGINERY_KERNEL(depthwise_block)(const DepthwiseBlockArguments& a) {
  const int64_t rows = a.images * a.out_h;
  const double work = static_cast<double>(rows * a.out_w) * static_cast<double>(a.channels) *
                      static_cast<double>(a.channels_in + a.channels_out);
#pragma omp parallel if (work > 8.0 * kMinParallelWork)
  {
    const int64_t threads = omp_get_num_threads(), thread = omp_get_thread_num();
    run_share(a, scratch_of(a, a.scratch + thread * a.scratch_floats),
              share_of(rows, threads, thread));
  }
}

}  // namespace enginery
