// Strided copies: concat, split, slice, transpose and every change between dense layouts. Each
// element is read and written once. Rows that are contiguous on both sides go vector by vector;
// where input and output run along different loops, 8x8 tiles are turned in registers; the rest
// goes element by element.
#include "engine/kernels/cpu/isa/moving/copy.h"
#include "engine/kernels/cpu/isa/simd.h"

namespace enginery {
namespace {

// Where one combination of the outer loops starts.
struct Offsets {
  int64_t in = 0, out = 0;
};

// The outer `count` loops' combination number `index`.
inline Offsets offsets_of(const CopyArguments& a, int count, int64_t index) {
  Offsets at;
  for (int d = count - 1; d >= 0; --d) {
    int64_t i = index % a.loop[d].extent;
    index /= a.loop[d].extent;
    at.in += i * a.loop[d].in_stride;
    at.out += i * a.loop[d].out_stride;
  }
  return at;
}

inline int64_t combinations(const CopyArguments& a, int count) {
  int64_t n = 1;
  for (int d = 0; d < count; ++d) n *= a.loop[d].extent;
  return n;
}

inline void copy_row(float* __restrict to, const float* __restrict from, int64_t n) {
  int64_t i = 0;
  for (; i + kWidth <= n; i += kWidth) store(to + i, load(from + i));
  if (i == n) return;
  if (n >= kWidth) return store(to + n - kWidth, load(from + n - kWidth));
  for (; i < n; ++i) to[i] = from[i];
}
template <typename T>
inline void copy_row(T* __restrict to, const T* __restrict from, int64_t n) {
  for (int64_t i = 0; i < n; ++i) to[i] = from[i];
}

// Many rows of kN elements: too short for vectors, and for a call each.
template <typename T, int kN>
void copy_short(T* __restrict to, const T* __restrict from, const CopyLoop& rows, int64_t begin,
                int64_t end) {
  for (int64_t m = begin; m < end; ++m) {
    for (int i = 0; i < kN; ++i) to[m * rows.out_stride + i] = from[m * rows.in_stride + i];
  }
}

template <typename T>
void copy_some_rows(T* __restrict to, const T* __restrict from, const CopyLoop& rows, int64_t n,
                    int64_t begin, int64_t end) {
  if (n == 1) return copy_short<T, 1>(to, from, rows, begin, end);
  if (n == 2) return copy_short<T, 2>(to, from, rows, begin, end);
  if (n == 3) return copy_short<T, 3>(to, from, rows, begin, end);
  if (n == 4) return copy_short<T, 4>(to, from, rows, begin, end);
  for (int64_t m = begin; m < end; ++m)
    copy_row(to + m * rows.out_stride, from + m * rows.in_stride, n);
}

// The same with a long loop, where there is one, next to the innermost: the order of the others is
// free, and finding the place of each of their combinations takes as long as copying some rows.
CopyArguments with_long_middle(const CopyArguments& a) {
  constexpr int64_t kLong = 8;
  const int middle = a.loops - 2;
  if (middle < 1) return a;
  int from = middle;
  while (from > 0 && a.loop[from].extent < kLong) --from;
  if (a.loop[from].extent <= a.loop[middle].extent) return a;
  CopyArguments out = a;
  for (int d = from; d < middle; ++d) out.loop[d] = a.loop[d + 1];
  out.loop[middle] = a.loop[from];
  return out;
}

template <typename T>
void copy_rows(const CopyArguments& arguments) {
  const CopyArguments a = with_long_middle(arguments);
  auto* in = static_cast<const T*>(a.in);
  auto* out = static_cast<T*>(a.out);
  int last = a.loops - 1;
  int64_t n = a.loop[last].extent, rows = combinations(a, last), bytes = n * rows * a.element_bytes;
  if (rows == 1) {  // one long row: cut it
    constexpr int64_t kPiece = 8192;
#pragma omp parallel for schedule(static) if (bytes > 4 * kMinParallelWork)
    for (int64_t i = 0; i < n; i += kPiece) copy_row(out + i, in + i, least(kPiece, n - i));
    return;
  }
  CopyLoop middle = a.loop[last - 1];
  int64_t tasks = combinations(a, last - 1), pieces = 1;
  if (tasks < 8) pieces = least(8, middle.extent);
#pragma omp parallel for schedule(static) if (bytes > 4 * kMinParallelWork)
  for (int64_t task = 0; task < tasks * pieces; ++task) {
    Offsets at = offsets_of(a, last - 1, task / pieces);
    int64_t begin = middle.extent * (task % pieces) / pieces,
            end = middle.extent * (task % pieces + 1) / pieces;
    copy_some_rows(out + at.out, in + at.in, middle, n, begin, end);
  }
}

typedef float Eight __attribute__((vector_size(32), aligned(4), may_alias));

// to[j][i] = from[i][j] for an 8x8 tile.
inline void turn_tile(const float* from, int64_t from_stride, float* to, int64_t to_stride) {
  typedef float E __attribute__((vector_size(32)));
  E r[8], t[8];
  for (int i = 0; i < 8; ++i) r[i] = *reinterpret_cast<const Eight*>(from + i * from_stride);
  for (int i = 0; i < 4; ++i) {
    t[2 * i] = __builtin_shufflevector(r[2 * i], r[2 * i + 1], 0, 8, 1, 9, 4, 12, 5, 13);
    t[2 * i + 1] = __builtin_shufflevector(r[2 * i], r[2 * i + 1], 2, 10, 3, 11, 6, 14, 7, 15);
  }
  for (int i = 0; i < 2; ++i) {
    E* u = r + 4 * i;
    E* v = t + 4 * i;
    u[0] = __builtin_shufflevector(v[0], v[2], 0, 1, 8, 9, 4, 5, 12, 13);
    u[1] = __builtin_shufflevector(v[0], v[2], 2, 3, 10, 11, 6, 7, 14, 15);
    u[2] = __builtin_shufflevector(v[1], v[3], 0, 1, 8, 9, 4, 5, 12, 13);
    u[3] = __builtin_shufflevector(v[1], v[3], 2, 3, 10, 11, 6, 7, 14, 15);
  }
  for (int i = 0; i < 4; ++i) {
    *reinterpret_cast<Eight*>(to + i * to_stride) =
        __builtin_shufflevector(r[i], r[i + 4], 0, 1, 2, 3, 8, 9, 10, 11);
    *reinterpret_cast<Eight*>(to + (i + 4) * to_stride) =
        __builtin_shufflevector(r[i], r[i + 4], 4, 5, 6, 7, 12, 13, 14, 15);
  }
}

inline void turn_rest(const float* from, int64_t from_stride, float* to, int64_t to_stride,
                      int64_t rows, int64_t columns) {
  for (int64_t j = 0; j < columns; ++j) {
    for (int64_t i = 0; i < rows; ++i) to[j * to_stride + i] = from[i * from_stride + j];
  }
}

// Columns [begin, end) of to[j][i] = from[i][j], `rows` values of i.
inline void turn_strip(const float* from, int64_t from_stride, float* to, int64_t to_stride,
                       int64_t rows, int64_t begin, int64_t end) {
  if (rows == 3) {  // a picture's three planes
    const float *p = from, *q = from + from_stride, *s = from + 2 * from_stride;
    for (int64_t j = begin; j < end; ++j) {
      float* pixel = to + j * to_stride;
      pixel[0] = p[j];
      pixel[1] = q[j];
      pixel[2] = s[j];
    }
    return;
  }
  int64_t j = begin;
  for (; j + 8 <= end; j += 8) {
    int64_t i = 0;
    for (; i + 8 <= rows; i += 8)
      turn_tile(from + i * from_stride + j, from_stride, to + j * to_stride + i, to_stride);
    turn_rest(from + i * from_stride + j, from_stride, to + j * to_stride + i, to_stride, rows - i,
              8);
  }
  turn_rest(from + j, from_stride, to + j * to_stride, to_stride, rows, end - j);
}

// The innermost loop runs along the output, loop `along` along the input; both in steps of one.
void copy_turned(const CopyArguments& a, int along) {
  auto* in = static_cast<const float*>(a.in);
  auto* out = static_cast<float*>(a.out);
  CopyArguments outer = a;
  int count = 0;
  for (int d = 0; d < a.loops - 1; ++d) {
    if (d != along) outer.loop[count++] = a.loop[d];
  }
  const CopyLoop &columns = a.loop[along], &rows = a.loop[a.loops - 1];
  constexpr int64_t kStrip = 64;
  int64_t strips = (columns.extent + kStrip - 1) / kStrip,
          tasks = combinations(outer, count) * strips;
#pragma omp parallel for schedule(static) if (tasks * kStrip * rows.extent > kMinParallelWork)
  for (int64_t task = 0; task < tasks; ++task) {
    Offsets at = offsets_of(outer, count, task / strips);
    int64_t begin = task % strips * kStrip;
    turn_strip(in + at.in, rows.in_stride, out + at.out, columns.out_stride, rows.extent, begin,
               least(columns.extent, begin + kStrip));
  }
}

template <typename T>
void copy_elements(const CopyArguments& a) {
  auto* in = static_cast<const T*>(a.in);
  auto* out = static_cast<T*>(a.out);
  int last = a.loops - 1;
  const CopyLoop inner = a.loop[last];
  int64_t tasks = combinations(a, last);
#pragma omp parallel for schedule(static) if (tasks * inner.extent > kMinParallelWork)
  for (int64_t task = 0; task < tasks; ++task) {
    Offsets at = offsets_of(a, last, task);
    for (int64_t i = 0; i < inner.extent; ++i)
      out[at.out + i * inner.out_stride] = in[at.in + i * inner.in_stride];
  }
}

template <typename T>
void copy_any(const CopyArguments& a) {
  const CopyLoop& inner = a.loop[a.loops - 1];
  if (inner.in_stride == 1 && inner.out_stride == 1)
    copy_rows<T>(a);
  else
    copy_elements<T>(a);
}

}  // namespace

void ENGINERY_KERNEL(copy)(const CopyArguments& a) {
  const CopyLoop& inner = a.loop[a.loops - 1];
  if (a.element_bytes == 4 && inner.out_stride == 1 && inner.in_stride != 1) {
    for (int d = a.loops - 2; d >= 0; --d) {
      if (a.loop[d].in_stride == 1 && a.loop[d].extent >= 4) return copy_turned(a, d);
    }
  }
  switch (a.element_bytes) {
    case 1:
      return copy_any<uint8_t>(a);
    case 2:
      return copy_any<uint16_t>(a);
    case 4:
      return copy_any<float>(a);
    default:
      return copy_any<uint64_t>(a);
  }
}

}  // namespace enginery
