// Pooling of planes that lie one after the other. A window is a column, then a row: the rows under
// an output row become one first, whose elements then are joined along the windows. Reads each
// input element once an output row it lies under.
#include "engine/kernels/cpu/isa/pool.h"
#include "engine/kernels/cpu/isa/simd.h"
#include "engine/kernels/cpu/isa/windows.h"

namespace enginery {
namespace {

template <bool kAverage, typename T>
inline T pooled(T a, T b) {
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

#if defined(__AVX512F__)
#define ENGINERY_EVENS 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30
#elif defined(__AVX__)
#define ENGINERY_EVENS 0, 2, 4, 6, 8, 10, 12, 14
#else
#define ENGINERY_EVENS 0, 2, 4, 6
#endif
// The elements from[0], from[kStride], ...
template <int kStride>
inline Vector load_every(const float* from) {
  static_assert(kStride == 1 || kStride == 2);
  if (kStride == 1) return load(from);
  return __builtin_shufflevector(load(from), load(from + kWidth), ENGINERY_EVENS);
}
#undef ENGINERY_EVENS

// What `count` elements from[k * apart] give together, of each of a vector's places. Most windows
// are three wide.
template <bool kAverage, int kStride>
inline Vector join(const float* from, int64_t apart, int64_t count) {
  const auto element = [&](int64_t k) { return load_every<kStride>(from + k * apart); };
  Vector out = element(0);
  if (count == 3) return pooled<kAverage>(pooled<kAverage>(out, element(1)), element(2));
  for (int64_t k = 1; k < count; ++k) out = pooled<kAverage>(out, element(k));
  return out;
}

// Input rows under the window, joined column by column.
template <bool kAverage>
void join_rows(const PoolArguments& a, const float* plane, const Span& y, const RowPiece& p,
               float* row) {
  const int64_t first = most(p.origin, 0), last = least(p.origin + p.width, a.in_w);
  const int64_t before = most(first - p.origin, 0), count = y.end - y.begin;
  const int64_t n = count > 0 ? most(last - first, 0) : 0;
  for (int64_t i = 0; i < least(before, p.width); ++i) row[i] = nothing<kAverage>();
  const float* from = plane + (y.origin + y.begin * a.dilation_h) * a.in_w + first;
  const int64_t apart = a.dilation_h * a.in_w;
  if (n >= kWidth) {  // the last vector overlaps the one before it
    for (int64_t next = 0; next < n; next += kWidth) {
      const int64_t i = least(next, n - kWidth);
      store(row + before + i, join<kAverage, 1>(from + i, apart, count));
    }
  } else if (n > 0) {
    Vector joined = load_lanes(from, n);
    for (int64_t k = 1; k < count; ++k)
      joined = pooled<kAverage>(joined, load_lanes(from + k * apart, n));
    store_lanes(row + before, joined, n);
  }
  for (int64_t i = before + n; i < p.width; ++i) row[i] = nothing<kAverage>();
}

// Windows of a usual stride. They may read beyond the row's width; nothing of that is kept.
template <bool kAverage, int kStride>
void join_windows_by(const PoolArguments& a, int64_t n, const float* row, float* out) {
  for (int64_t next = 0; next < n; next += kWidth) {
    const int64_t i = n >= kWidth ? least(next, n - kWidth) : 0;
    store_lanes(out + i, join<kAverage, kStride>(row + i * kStride, a.dilation_w, a.kernel_w),
                n - i);
  }
}

template <bool kAverage>
void join_windows(const PoolArguments& a, const RowPiece& p, const float* row, float* out) {
  const int64_t n = p.end - p.begin;
  if (a.stride_w == 1) return join_windows_by<kAverage, 1>(a, n, row, out);
  if (a.stride_w == 2) return join_windows_by<kAverage, 2>(a, n, row, out);
  for (int64_t i = 0; i < n; ++i) {
    const float* from = row + i * a.stride_w;
    out[i] = from[0];
    for (int64_t k = 1; k < a.kernel_w; ++k)
      out[i] = pooled<kAverage>(out[i], from[k * a.dilation_w]);
  }
}

// Makes averages of sums. Away from the sides a window counts all of its columns.
void divide(const PoolArguments& a, const Span& y, const RowPiece& p, float* out) {
  const auto rows = static_cast<float>(
      counted(y, a.kernel_h, a.dilation_h, a.in_h, a.pad_end_h, a.count_padding));
  const float factor = 1.0f / larger(1.0f, rows * static_cast<float>(a.kernel_w));
  const auto divide_at_side = [&](int64_t ox) {
    const Span x = span_of(ox, a.stride_w, a.pad_w, a.dilation_w, a.kernel_w, a.in_w);
    const int64_t columns =
        counted(x, a.kernel_w, a.dilation_w, a.in_w, a.pad_end_w, a.count_padding);
    out[ox - p.begin] *= 1.0f / larger(1.0f, rows * static_cast<float>(columns));
  };
  const int64_t room = a.in_w + a.pad_w - (a.kernel_w - 1) * a.dilation_w - 1;
  const int64_t begin = least(p.end, most(p.begin, (a.pad_w + a.stride_w - 1) / a.stride_w));
  const int64_t end = room < 0 ? begin : least(p.end, most(begin, room / a.stride_w + 1));
  for (int64_t ox = p.begin; ox < begin; ++ox) divide_at_side(ox);
  for (int64_t ox = begin; ox < end; ++ox) out[ox - p.begin] *= factor;
  for (int64_t ox = end; ox < p.end; ++ox) divide_at_side(ox);
}

template <bool kAverage>
void pool_row(const PoolArguments& a, const float* plane, int64_t oy, float* out) {
  const Span y = span_of(oy, a.stride_h, a.pad_h, a.dilation_h, a.kernel_h, a.in_h);
  const int64_t reach = (a.kernel_w - 1) * a.dilation_w + 1;
  const int64_t most_outputs = (kPoolRow - reach) / a.stride_w + 1;
  float row[kPoolRow + 2 * kWidth];
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
