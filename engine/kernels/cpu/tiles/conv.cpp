// Convolutions as products in tiles. A copy of the images, padded or of what lies under the
// windows, is made in chunks that stay in the second cache; then each thread multiplies them with
// panels of its own, which stay in its second cache from chunk to chunk.
#include "engine/kernels/cpu/tiles/conv.h"

#include "engine/kernels/cpu/isa/windows.h"
#include "engine/kernels/cpu/tiles/product_block.h"

namespace enginery {
namespace {

inline void clear_values(uint16_t* to, int64_t n) {
  __builtin_memset(to, 0, static_cast<size_t>(n) * 2);
}
inline void copy_values(uint16_t* to, const uint16_t* from, int64_t n) {
  __builtin_memcpy(to, from, static_cast<size_t>(n) * 2);
}

// What lies under the taps of one row of the window: all of them in one piece where they lie so.
void gather_taps(const TileConvArguments& a, const uint16_t* row, const Span& x, uint16_t* to) {
  const TileWindow& w = a.window;
  const int64_t c = w.channels, apart = w.dilation_w * a.in_pixel;
  const uint16_t* from = row + x.origin * a.in_pixel + x.begin * apart;
  clear_values(to, x.begin * c);
  if (apart == c) {
    copy_values(to + x.begin * c, from, (x.end - x.begin) * c);
  } else {
    for (int64_t t = x.begin; t < x.end; ++t, from += apart) copy_values(to + t * c, from, c);
  }
  clear_values(to + x.end * c, (w.kernel_w - x.end) * c);
}

// span_of, also of windows that lie outside of the image as a whole.
inline Span taps_inside(int64_t out, int64_t stride, int64_t pad, int64_t dilation, int64_t kernel,
                        int64_t in) {
  Span s = span_of(out, stride, pad, dilation, kernel, in);
  s.begin = least(s.begin, kernel);
  s.end = least(s.end, kernel);
  return s;
}

void gather_row(const TileConvArguments& a, int64_t pixel, uint16_t* to) {
  const TileWindow& w = a.window;
  const int64_t out_row = pixel / w.out_w, image = out_row / w.out_h;
  const Span y =
      taps_inside(out_row % w.out_h, w.stride_h, w.pad_h, w.dilation_h, w.kernel_h, w.in_h);
  const Span x =
      taps_inside(pixel % w.out_w, w.stride_w, w.pad_w, w.dilation_w, w.kernel_w, w.in_w);
  const int64_t taps = w.kernel_w * w.channels;
  clear_values(to, y.begin * taps);
  for (int64_t t = y.begin; t < y.end; ++t) {
    const int64_t row = image * w.in_h + y.origin + t * w.dilation_h;
    gather_taps(a, a.product.x + row * w.in_w * a.in_pixel, x, to + t * taps);
  }
  clear_values(to + y.end * taps, a.product.k - y.end * taps);
}

// Moves the places of results `pixels` on.
void skip_results(TileProductArguments& p, int64_t pixels) {
  p.y = static_cast<char*>(p.y) + pixels * p.y_pitch * (p.narrow ? 2 : 4);
  for (MatrixOperand& o : p.operand)
    o.at = static_cast<const char*>(o.at) + pixels * o.row * (o.narrow ? 2 : 4);
}

// By the whole team.
void multiply_all(const TileProductArguments& p) {
  const int64_t panels = (p.n + kPanelColumns - 1) / kPanelColumns;
  const int64_t blocks = (p.m + kBlockRows - 1) / kBlockRows;
  configure_tiles(least(kBlockRows, p.m));
#pragma omp for schedule(static)
  for (int64_t task = 0; task < blocks * panels; ++task) {
    const int64_t place = task % blocks;
    multiply_block(p, {place * kBlockRows, task / blocks, panels, place, blocks});
  }
}

void convolve_gathered(const TileConvArguments& a) {
  const int64_t m = a.product.m;
  for (int64_t begin = 0; begin < m; begin += a.chunk) {
    const int64_t rows = least(a.chunk, m - begin);
#pragma omp for schedule(static)
    for (int64_t r = 0; r < rows; ++r) gather_row(a, begin + r, a.rows + r * a.product.k);
    TileProductArguments p = a.product;
    p.x = a.rows;
    p.m = rows;
    skip_results(p, begin);
    multiply_all(p);
  }
}

// One row of a padded image: the values of `row`, or zeros where it lies outside.
void pad_row(const TileConvArguments& a, int64_t image, int64_t y, uint16_t* to) {
  const TileWindow& w = a.window;
  const int64_t width = a.product.row_width, apart = a.product.x_pitch;
  if (y < 0 || y >= w.in_h) return clear_values(to, width * apart);
  const int64_t left = least(most(0, w.pad_w), width);
  const int64_t skipped = most(0, -w.pad_w), taken = most(0, least(w.in_w - skipped, width - left));
  clear_values(to, left * apart);
  const uint16_t* from = a.product.x + ((image * w.in_h + y) * w.in_w + skipped) * a.in_pixel;
  uint16_t* at = to + left * apart;
  if (apart == w.channels && apart == a.in_pixel) {
    copy_values(at, from, taken * apart);
  } else {
    for (int64_t i = 0; i < taken; ++i) {
      copy_values(at + i * apart, from + i * a.in_pixel, w.channels);
      clear_values(at + i * apart + w.channels, apart - w.channels);
    }
  }
  clear_values(at + taken * apart, (width - left - taken) * apart);
}

void convolve_padded(const TileConvArguments& a) {
  const TileWindow& w = a.window;
  const int64_t reach = (w.kernel_h - 1) * w.dilation_h, width = a.product.row_width;
  for (int64_t image = 0; image < w.n; ++image) {
    for (int64_t begin = 0; begin < w.out_h; begin += a.chunk) {
      const int64_t rows = least(a.chunk, w.out_h - begin);
#pragma omp for schedule(static)
      for (int64_t r = 0; r < rows + reach; ++r)
        pad_row(a, image, begin + r - w.pad_h, a.rows + r * width * a.product.x_pitch);
      TileProductArguments p = a.product;
      p.x = a.rows;
      p.m = (rows - 1) * width + w.out_w;
      skip_results(p, (image * w.out_h + begin) * w.out_w);
      multiply_all(p);
    }
  }
}

}  // namespace

void ENGINERY_KERNEL(tile_conv)(const TileConvArguments& a) {
  const TileProductArguments& p = a.product;
  const double work = static_cast<double>(p.m * p.n) * static_cast<double>(p.k);
#pragma omp parallel if (work > 16.0 * kMinParallelWork)
  {
    if (a.rows_of == TileRows::padded)
      convolve_padded(a);
    else if (a.rows_of == TileRows::gathered)
      convolve_gathered(a);
    else
      multiply_all(p);
    release_tiles();
  }
}

}  // namespace enginery
