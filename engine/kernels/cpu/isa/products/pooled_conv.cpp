// Convolutions of pictures with the max pooling behind them: what the convolution makes lives for
// the rows of one pooling window in a core's cache.
//
// A thread walks down its share of the output's rows. It keeps the last rows of c that a window
// sees, [slot][vector of channels][column][lane], row y in slot y modulo their number, with the
// pooling's padding in place. The picture's rows under a row of c are copied with the padding's
// zeros first, so that every tap is a load. Bytes: the picture and the weights once a row of c, the
// output once.
#include "engine/kernels/cpu/isa/products/pooled_conv.h"

#include <omp.h>

#include "engine/kernels/cpu/isa/products/product_tile.h"

namespace enginery {
namespace {

// The parts of a thread's scratch, and the sizes of rows in it.
struct Rows {
  float *window, *largest, *picture;  // rows of c; the largest of their columns; the picture's
  int64_t panels, columns, slot;      // slot: floats of a row of c
  int64_t picture_columns;

  float* slot_of(const PooledConvArguments& a, int64_t y) const {
    return window + y % a.pool_h * slot;
  }
};

inline Rows rows_of(const PooledConvArguments& a, float* at) {
  Rows r{};
  r.panels = (a.channels_out + kPanel - 1) / kPanel;
  r.columns = pooled_columns(a);
  r.slot = r.panels * kPanel * r.columns;
  r.picture_columns = picture_columns(a);
  r.window = at;
  r.largest = at + a.pool_h * r.slot;
  r.picture = r.largest + r.columns * kWidth;
  return r;
}

// The picture's rows under row y of c, [channel][tap's row][column].
void copy_picture(const PooledConvArguments& a, const Rows& r, const float* image, int64_t y) {
  float* to = r.picture;
  for (int64_t c = 0; c < a.channels_in; ++c) {
    for (int64_t ky = 0; ky < a.kernel_h; ++ky, to += r.picture_columns) {
      const int64_t row = y * a.stride_h + ky - a.pad_h;
      const bool inside = row >= 0 && row < a.in_h;
      const float* from = image + c * a.in_channel + row * a.in_row;
      const int64_t begin = inside ? least(a.pad_w, r.picture_columns) : r.picture_columns,
                    end = most(begin, least(r.picture_columns, a.pad_w + a.in_w));
      for (int64_t x = 0; x < begin; ++x) to[x] = 0;
      if (a.in_pixel == 1)
        for (int64_t x = begin; x < end; ++x) to[x] = from[x - a.pad_w];
      else
        for (int64_t x = begin; x < end; ++x) to[x] = from[(x - a.pad_w) * a.in_pixel];
      for (int64_t x = end; x < r.picture_columns; ++x) to[x] = 0;
    }
  }
}

// What a tile of pixels multiplies: `rows` rows of the picture, `taps` columns of each.
struct PictureOperands {
  const float* in;  // the first row's column under the tile's first pixel
  int64_t row;      // floats from one row to the next
  int64_t rows, taps, stride;
  const float* weights;  // [row][tap][kPanel]
};

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline void touch_picture(const PictureOperands& t, int pixels) {
  for (int64_t row = 0; row < t.rows; ++row) {
    touch(t.in + row * t.row);
    touch(t.in + row * t.row + (pixels - 1) * t.stride + t.taps - 1);
  }
  touch(t.weights);
  touch(t.weights + t.rows * t.taps * kPanel - 1);
}
#else
inline void touch_picture(const PictureOperands&, int) {}
#endif

// One tap of a row under all of a tile's pixels.
template <int kR>
ENGINERY_INNER_STEP inline void multiply_tap(const float* in, int64_t stride, const float* weights,
                                             Vector (&acc)[kR][2]) {
  Vector w[2];
  for (int v = 0; v < 2; ++v)
    w[v] = *reinterpret_cast<const UnalignedVector*>(weights + v * kWidth);
  for (int r = 0; r < kR; ++r) {
    Vector x = in[r * stride] - Vector{};
    __asm__ volatile("" : "+x"(x));  // used at once: GCC would load all first, and spill them
    for (int v = 0; v < 2; ++v) acc[r][v] += x * w[v];
  }
}

// kStride: the stride, or 0 where it is another one than those that are constants.
template <int kR, int64_t kStride>
ENGINERY_INNER_LOOP inline void multiply_picture(const PictureOperands& t, Vector (&acc)[kR][2]) {
  const int64_t stride = kStride > 0 ? kStride : t.stride;
  const float *in = t.in, *weights = t.weights;
  for (int64_t row = 0; row < t.rows; ++row, in += t.row) {
    for (int64_t tap = 0; tap < t.taps; ++tap, weights += kPanel)
      multiply_tap<kR>(in + tap, stride, weights, acc);
  }
}

// A tile of kR pixels of c, to [vector][column][lane].
template <int kR>
void picture_tile(const PictureOperands& t, const float* bias, float* out, int64_t columns) {
  Vector acc[kR][2];
  for (int r = 0; r < kR; ++r) {
    acc[r][0] = load(bias);
    acc[r][1] = load(bias + kWidth);
  }
  touch_picture(t, kR);
  if (t.stride == 1)
    multiply_picture<kR, 1>(t, acc);
  else if (t.stride == 2)
    multiply_picture<kR, 2>(t, acc);
  else
    multiply_picture<kR, 0>(t, acc);
#pragma GCC unroll 16
  for (int r = 0; r < kR; ++r) {
    store(out + r * kWidth, acc[r][0]);
    store(out + (columns + r) * kWidth, acc[r][1]);
  }
}

template <int kR>
void picture_tile_of(const PictureOperands& t, const float* bias, float* out, int64_t columns,
                     int64_t pixels) {
  if constexpr (kR > 0) {
    if (pixels != kR) return picture_tile_of<kR - 1>(t, bias, out, columns, pixels);
    picture_tile<kR>(t, bias, out, columns);
  }
}

// Row y of c into its slot.
void convolve_row(const PooledConvArguments& a, const Rows& r, const float* image, int64_t y) {
  copy_picture(a, r, image, y);
  const int64_t depth = a.channels_in * a.kernel_h * a.kernel_w,
                tiles = (a.conv_w + kRows - 1) / kRows;
  float* const row = r.slot_of(a, y) + a.pool_pad_w * kWidth;
  for (int64_t panel = 0; panel < r.panels; ++panel) {
    for (int64_t i = 0; i < tiles; ++i) {
      const Share pixels = share_of(a.conv_w, tiles, i);
      const PictureOperands t{r.picture + pixels.begin * a.stride_w,
                              r.picture_columns,
                              a.channels_in * a.kernel_h,
                              a.kernel_w,
                              a.stride_w,
                              a.weights + panel * depth * kPanel};
      picture_tile_of<kRows>(t, a.bias + panel * kPanel,
                             row + (2 * panel * r.columns + pixels.begin) * kWidth, r.columns,
                             pixels.end - pixels.begin);
    }
  }
}

// Row y of the output from the rows of c that are in it, [begin, end): the largest of each column,
// then of each window. The clip never falls, so it may come last.
void pool_row(const PooledConvArguments& a, const Rows& r, Share rows, float* out) {
  for (int64_t c = 0; c < a.channels_out; c += kWidth, out += a.out_vector) {
    const int64_t floats = r.columns * kWidth;
    const float* first = r.slot_of(a, rows.begin) + c * r.columns;
    for (int64_t i = 0; i < floats; i += kWidth) store(r.largest + i, load(first + i));
    for (int64_t y = rows.begin + 1; y < rows.end; ++y) {
      const float* row = r.slot_of(a, y) + c * r.columns;
      for (int64_t i = 0; i < floats; i += kWidth)
        store(r.largest + i, larger(load(r.largest + i), load(row + i)));
    }
    for (int64_t x = 0; x < a.out_w; ++x) {
      const float* window = r.largest + x * a.pool_stride_w * kWidth;
      Vector largest = load(window);
      for (int64_t k = 1; k < a.pool_w; ++k) largest = larger(largest, load(window + k * kWidth));
      store_lanes(out + x * a.out_pixel, clip(largest, a.low, a.high), a.channels_out - c);
    }
  }
}

// Rows [begin, end) of all images' outputs.
void pool_share(const PooledConvArguments& a, const Rows& r, Share share) {
  for (int64_t i = 0; i < a.pool_h * r.slot; i += kWidth)  // the padding's columns stay
    store(r.window + i, broadcast(-__builtin_inff()));
  int64_t image = -1, done = 0;  // rows of c of that image so far
  for (int64_t next = share.begin; next < share.end; ++next) {
    const int64_t y = next % a.out_h, first = y * a.pool_stride_h - a.pool_pad_h;
    const Share rows{most(first, 0), least(first + a.pool_h, a.conv_h)};
    if (next / a.out_h != image) done = 0;
    image = next / a.out_h;
    for (done = most(done, rows.begin); done < rows.end; ++done)
      convolve_row(a, r, a.in + image * a.in_image, done);
    pool_row(a, r, rows, a.out + image * a.out_image + y * a.out_w * a.out_pixel);
  }
}

}  // namespace

void ENGINERY_KERNEL(pooled_conv)(const PooledConvArguments& a) {
  const int64_t rows = a.images * a.out_h;
#pragma omp parallel if (rows * a.out_w * a.channels_out > kMinParallelWork / 8)
  {
    const int64_t threads = omp_get_num_threads(), thread = omp_get_thread_num();
    pool_share(a, rows_of(a, a.scratch + thread * a.scratch_floats),
               share_of(rows, threads, thread));
  }
}

}  // namespace enginery
