// Pooling of planes that lie one after the other. A window is a column, then a row: the rows under
// an output row become one first, whose elements then are joined along the windows. Reads each
// input element once an output row it lies under.
#include "engine/kernels/cpu/isa/pool.h"
#include "engine/kernels/cpu/isa/simd.h"
#include "engine/kernels/cpu/isa/windows.h"

namespace enginery {
namespace {

template <bool kAverage>
inline float pooled(float a, float b) {
  return kAverage ? a + b : larger(a, b);
}
template <bool kAverage>
constexpr float nothing() {
  return kAverage ? 0.0f : -__builtin_inff();
}

// Outputs [begin, end) of a row, and what lies under their windows: `row` holds what the input
// columns from `origin` on give, `width` of them, some of which lie outside of the image.
struct RowPiece {
  int64_t begin, end, origin, width;
};

// out[i] = what `count` elements from[i * stride + k * apart] give together, three at a time: most
// windows are that wide.
template <bool kAverage>
[[gnu::always_inline]] inline void join_each(const float* __restrict from, int64_t stride,
                                             int64_t apart, int64_t count, int64_t n,
                                             float* __restrict out) {
  int64_t k = 0;
  if (count >= 3) {
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) {
      const float* f = from + i * stride;
      out[i] = pooled<kAverage>(pooled<kAverage>(f[0], f[apart]), f[2 * apart]);
    }
    k = 3;
  } else {
    for (int64_t i = 0; i < n; ++i) out[i] = nothing<kAverage>();
  }
  for (; k < count; ++k) {
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) out[i] = pooled<kAverage>(out[i], from[i * stride + k * apart]);
  }
}

// Input rows under the window, joined column by column.
template <bool kAverage>
void join_rows(const PoolArguments& a, const float* plane, const Span& y, const RowPiece& p,
               float* row) {
  const int64_t first = most(p.origin, 0), last = least(p.origin + p.width, a.in_w);
  const int64_t before = most(first - p.origin, 0), n = most(last - first, 0);
  for (int64_t i = 0; i < least(before, p.width); ++i) row[i] = nothing<kAverage>();
  for (int64_t i = before + n; i < p.width; ++i) row[i] = nothing<kAverage>();
  const float* from = plane + (y.origin + y.begin * a.dilation_h) * a.in_w + first;
  join_each<kAverage>(from, 1, a.dilation_h * a.in_w, y.end - y.begin, n, row + before);
}

// The usual strides as constants, so that their loops become vector code.
template <bool kAverage>
void join_windows(const PoolArguments& a, const RowPiece& p, const float* row, float* out) {
  const int64_t n = p.end - p.begin;
  if (a.stride_w == 1)
    join_each<kAverage>(row, 1, a.dilation_w, a.kernel_w, n, out);
  else if (a.stride_w == 2)
    join_each<kAverage>(row, 2, a.dilation_w, a.kernel_w, n, out);
  else
    join_each<kAverage>(row, a.stride_w, a.dilation_w, a.kernel_w, n, out);
}

// Makes averages of sums. Away from the sides a window counts all of its columns.
void divide(const PoolArguments& a, const Span& y, const RowPiece& p, float* out) {
  const auto rows = static_cast<float>(
      counted(y, a.kernel_h, a.dilation_h, a.in_h, a.pad_end_h, a.count_padding));
  const float factor = 1.0f / (rows * static_cast<float>(a.kernel_w));
  const int64_t reach = (a.kernel_w - 1) * a.dilation_w;
  for (int64_t ox = p.begin; ox < p.end; ++ox) {
    const int64_t origin = ox * a.stride_w - a.pad_w;
    if (origin >= 0 && origin + reach < a.in_w) {
      out[ox - p.begin] *= factor;
      continue;
    }
    const Span x = span_of(ox, a.stride_w, a.pad_w, a.dilation_w, a.kernel_w, a.in_w);
    const int64_t columns =
        counted(x, a.kernel_w, a.dilation_w, a.in_w, a.pad_end_w, a.count_padding);
    out[ox - p.begin] *= 1.0f / larger(1.0f, rows * static_cast<float>(columns));
  }
}

template <bool kAverage>
void pool_row(const PoolArguments& a, const float* plane, int64_t oy, float* out) {
  const Span y = span_of(oy, a.stride_h, a.pad_h, a.dilation_h, a.kernel_h, a.in_h);
  const int64_t reach = (a.kernel_w - 1) * a.dilation_w + 1;
  const int64_t most_outputs = (kPoolRow - reach) / a.stride_w + 1;
  float row[kPoolRow];
  for (int64_t begin = 0; begin < a.out_w; begin += most_outputs) {
    RowPiece p{begin, least(a.out_w, begin + most_outputs), begin * a.stride_w - a.pad_w, 0};
    p.width = (p.end - p.begin - 1) * a.stride_w + reach;
    join_rows<kAverage>(a, plane, y, p, row);
    join_windows<kAverage>(a, p, row, out + p.begin);
    if (kAverage) divide(a, y, p, out + p.begin);
    for (int64_t ox = p.begin; ox < p.end; ++ox) out[ox] = clip(out[ox], a.low, a.high);
  }
}

}  // namespace

void ENGINERY_KERNEL(pool_planes)(const PoolArguments& a) {
  const int64_t rows = a.n * a.channels * a.out_h, work = rows * a.out_w * a.kernel_h;
#pragma omp parallel for schedule(static) if (work > 4 * kMinParallelWork)
  for (int64_t task = 0; task < rows; ++task) {
    const float* plane = static_cast<const float*>(a.in) + task / a.out_h * a.in_h * a.in_w;
    float* out = static_cast<float*>(a.out) + task * a.out_w;
    if (a.average)
      pool_row<true>(a, plane, task % a.out_h, out);
    else
      pool_row<false>(a, plane, task % a.out_h, out);
  }
}

}  // namespace enginery
