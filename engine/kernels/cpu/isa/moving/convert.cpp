// Conversions of element types along strided loops: each element is read and written once, in
// pieces that stay in L1: a row is widened to float32 (or float64, int64), then narrowed. Where
// input and output run along different loops, tiles of 16 rows are turned in between.
#include "engine/kernels/cpu/isa/moving/convert.h"

#include "engine/kernels/cpu/isa/bfloat16.h"

namespace enginery {
namespace {

constexpr int64_t kStretch = 512;
constexpr int64_t kTileRows = 16, kTileColumns = 64;

struct Half {
  uint16_t bits;
};
struct BFloat16 {
  uint16_t bits;
};
struct Boolean {
  uint8_t byte;
};

// Without arithmetic on subnormal numbers, which are flushed here.
inline float half_to_float(uint16_t h) {
  constexpr uint32_t kRebias = 112u << 23, kLeast = 113u << 23, kInfinite = 0x0f800000u;
  const uint32_t sign = (h & 0x8000u) << 16, rest = (h & 0x7fffu) << 13;
  const uint32_t subnormal = bits_of(float_of(rest + kLeast) - float_of(kLeast));
  uint32_t bits = rest + kRebias;
  bits = rest >= kInfinite ? bits + kRebias : bits;
  bits = rest < 0x00800000u ? subnormal : bits;
  return float_of(bits | sign);
}

inline uint16_t float_to_half(float v) {
  constexpr uint32_t kRebias = 112u << 23, kOverflow = 0x477ff000u, kLeast = 0x38800000u;
  const uint32_t all = bits_of(v), sign = (all >> 16) & 0x8000u, a = all & 0x7fffffffu;
  const uint32_t subnormal = bits_of(float_of(a) + 0.5f) - bits_of(0.5f);
  uint32_t half = (a - kRebias + 0xfffu + ((a >> 13) & 1u)) >> 13;
  half = a < kLeast ? subnormal : half;
  half = a >= kOverflow ? 0x7c00u : half;
  half = a > 0x7f800000u ? 0x7e00u : half;
  return static_cast<uint16_t>(half | sign);
}

template <typename T>
inline float widen(T v) {
  return static_cast<float>(v);
}
inline float widen(Half v) {
  return half_to_float(v.bits);
}
inline float widen(BFloat16 v) {
  return value_of(v.bits);
}
inline float widen(Boolean v) {
  return v.byte != 0 ? 1.0f : 0.0f;
}

// The least value and the one beyond the largest: powers of two, or 0.
template <typename T>
struct Limits {
  static constexpr bool kSigned = static_cast<T>(-1) < static_cast<T>(0);
  static constexpr int kBits = sizeof(T) * 8 - (kSigned ? 1 : 0);
  static constexpr float kEnd = 2.0f * static_cast<float>(uint64_t{1} << (kBits - 1));
  static constexpr float kLeast = kSigned ? -kEnd : 0.0f;
  static constexpr T kLargest = static_cast<T>(~uint64_t{0} >> (64 - kBits));
};

template <typename V, typename T>
inline T to_integer(V v) {
  using L = Limits<T>;
  const bool inside = v > L::kLeast && v < L::kEnd;
  const T whole = static_cast<T>(inside ? v : V{0});
  const T least = static_cast<T>(L::kLeast);
  return v >= L::kEnd ? L::kLargest : v <= L::kLeast ? least : whole;
}

template <typename T>
inline void narrow(float v, T& to) {
  to = to_integer<float, T>(v);
}
inline void narrow(float v, float& to) {
  to = v;
}
inline void narrow(float v, Half& to) {
  to.bits = float_to_half(v);
}
inline void narrow(float v, BFloat16& to) {
  to.bits = float_to_bfloat16(v);
}
inline void narrow(float v, Boolean& to) {
  to.byte = (bits_of(v) & 0x7fffffffu) != 0;
}

template <typename T>
inline double exact(T v) {
  return static_cast<double>(v);
}
inline double exact(Half v) {
  return static_cast<double>(widen(v));
}
inline double exact(BFloat16 v) {
  return static_cast<double>(widen(v));
}
inline double exact(Boolean v) {
  return v.byte != 0 ? 1.0 : 0.0;
}

// Rounded to odd: towards zero, and what was cut off sets the last bit. Rounded to fewer bits
// afterwards, that is v rounded once.
inline float to_odd_float(double v) {
  const float nearest = static_cast<float>(v);
  const double back = static_cast<double>(nearest);
  if (back == v || v != v) return nearest;
  const bool is_beyond = v > 0 ? back > v : back < v;
  return float_of((bits_of(nearest) - (is_beyond ? 1u : 0u)) | 1u);
}

template <typename T>
inline void narrow(double v, T& to) {
  to = to_integer<double, T>(v);
}
inline void narrow(double v, double& to) {
  to = v;
}
inline void narrow(double v, float& to) {
  to = static_cast<float>(v);
}
inline void narrow(double v, Half& to) {
  to.bits = float_to_half(to_odd_float(v));
}
inline void narrow(double v, BFloat16& to) {
  to.bits = float_to_bfloat16(to_odd_float(v));
}
inline void narrow(double v, Boolean& to) {
  to.byte = v != 0;
}

template <typename T>
inline int64_t whole(T v) {
  return static_cast<int64_t>(v);
}
inline int64_t whole(Boolean v) {
  return v.byte != 0;
}
template <typename T>
inline void narrow(int64_t v, T& to) {
  to = static_cast<T>(v);
}
inline void narrow(int64_t v, Boolean& to) {
  to.byte = v != 0;
}

template <typename T>
inline void read_row(const T* __restrict from, int64_t stride, float* __restrict to, int64_t n) {
  if (stride == 1) {
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) to[i] = widen(from[i]);
  } else {
    for (int64_t i = 0; i < n; ++i) to[i] = widen(from[i * stride]);
  }
}
template <typename T>
inline void read_row(const T* __restrict from, int64_t stride, double* __restrict to, int64_t n) {
  for (int64_t i = 0; i < n; ++i) to[i] = exact(from[i * stride]);
}
template <typename T>
inline void read_row(const T* __restrict from, int64_t stride, int64_t* __restrict to, int64_t n) {
  for (int64_t i = 0; i < n; ++i) to[i] = whole(from[i * stride]);
}

template <typename T, typename Wide>
inline void write_row(const Wide* __restrict from, T* __restrict to, int64_t stride, int64_t n) {
  if (stride == 1) {
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) narrow(from[i], to[i]);
  } else {
    for (int64_t i = 0; i < n; ++i) narrow(from[i], to[i * stride]);
  }
}

#if defined(__F16C__)
typedef float Eight __attribute__((vector_size(32)));
typedef float UnalignedEight __attribute__((vector_size(32), aligned(4), may_alias));
typedef short EightHalves __attribute__((vector_size(16)));
typedef short UnalignedHalves __attribute__((vector_size(16), aligned(2), may_alias));

inline void read_row(const Half* __restrict from, int64_t stride, float* __restrict to, int64_t n) {
  int64_t i = 0;
  for (; stride == 1 && i + 8 <= n; i += 8) {
    const EightHalves halves = *reinterpret_cast<const UnalignedHalves*>(from + i);
    *reinterpret_cast<UnalignedEight*>(to + i) = __builtin_ia32_vcvtph2ps256(halves);
  }
  for (; i < n; ++i) to[i] = widen(from[i * stride]);
}

inline void write_row(const float* __restrict from, Half* __restrict to, int64_t stride,
                      int64_t n) {
  int64_t i = 0;
  for (; stride == 1 && i + 8 <= n; i += 8) {
    const Eight floats = *reinterpret_cast<const UnalignedEight*>(from + i);
    *reinterpret_cast<UnalignedHalves*>(to + i) = __builtin_ia32_vcvtps2ph256(floats, 0);
  }
  for (; i < n; ++i) narrow(from[i], to[i * stride]);
}
#endif

// f(T{}) with the C++ type of an integer type or of boolean.
template <typename F>
inline void with_integer(ElementType type, F&& f) {
  switch (type) {
    case ElementType::int8:
      return f(int8_t{});
    case ElementType::uint8:
      return f(uint8_t{});
    case ElementType::int16:
      return f(int16_t{});
    case ElementType::uint16:
      return f(uint16_t{});
    case ElementType::int32:
      return f(int32_t{});
    case ElementType::uint32:
      return f(uint32_t{});
    case ElementType::int64:
      return f(int64_t{});
    case ElementType::uint64:
      return f(uint64_t{});
    default:
      return f(Boolean{});
  }
}

inline bool is_float(ElementType type) {
  return type <= ElementType::float64;
}

template <typename F>
inline void with_element(ElementType type, F&& f) {
  if (type == ElementType::float32) return f(float{});
  if (type == ElementType::float16) return f(Half{});
  if (type == ElementType::bfloat16) return f(BFloat16{});
  with_integer(type, f);
}

// Those that values in float64 are read from and written to.
template <typename F>
inline void with_any(ElementType type, F&& f) {
  if (type == ElementType::float64) return f(double{});
  with_element(type, f);
}

// n elements from `in[at]` on, in steps of `stride`.
inline void read(const ConvertArguments& a, int64_t at, int64_t stride, float* to, int64_t n) {
  with_element(a.from, [&](auto type) {
    using T = decltype(type);
    read_row(static_cast<const T*>(a.in) + at, stride, to, n);
  });
}
inline void read(const ConvertArguments& a, int64_t at, int64_t stride, double* to, int64_t n) {
  with_any(a.from, [&](auto type) {
    using T = decltype(type);
    read_row(static_cast<const T*>(a.in) + at, stride, to, n);
  });
}
inline void read(const ConvertArguments& a, int64_t at, int64_t stride, int64_t* to, int64_t n) {
  with_integer(a.from, [&](auto type) {
    using T = decltype(type);
    read_row(static_cast<const T*>(a.in) + at, stride, to, n);
  });
}
inline void write(const ConvertArguments& a, const float* from, int64_t at, int64_t stride,
                  int64_t n) {
  with_element(a.to, [&](auto type) {
    using T = decltype(type);
    write_row(from, static_cast<T*>(a.out) + at, stride, n);
  });
}
inline void write(const ConvertArguments& a, const double* from, int64_t at, int64_t stride,
                  int64_t n) {
  with_any(a.to, [&](auto type) {
    using T = decltype(type);
    write_row(from, static_cast<T*>(a.out) + at, stride, n);
  });
}
inline void write(const ConvertArguments& a, const int64_t* from, int64_t at, int64_t stride,
                  int64_t n) {
  with_integer(a.to, [&](auto type) {
    using T = decltype(type);
    write_row(from, static_cast<T*>(a.out) + at, stride, n);
  });
}

struct Start {
  int64_t in = 0, out = 0;
};

// Where combination number `index` of all loops but the innermost and loop `left_out` begins.
inline Start start_of(const ConvertArguments& a, int left_out, int64_t index) {
  Start at;
  for (int d = a.loops - 2; d >= 0; --d) {
    if (d == left_out) continue;
    const int64_t i = index % a.loop[d].extent;
    index /= a.loop[d].extent;
    at.in += i * a.loop[d].in_stride;
    at.out += i * a.loop[d].out_stride;
  }
  return at;
}

inline int64_t starts(const ConvertArguments& a, int left_out) {
  int64_t n = 1;
  for (int d = 0; d < a.loops - 1; ++d) n *= d == left_out ? 1 : a.loop[d].extent;
  return n;
}

template <typename Wide>
void convert_rows(const ConvertArguments& a) {
  const CopyLoop& row = a.loop[a.loops - 1];
  const int64_t pieces = (row.extent + kStretch - 1) / kStretch, tasks = starts(a, -1) * pieces;
#pragma omp parallel for schedule(static) if (tasks / pieces * row.extent > kMinParallelWork)
  for (int64_t task = 0; task < tasks; ++task) {
    const Start at = start_of(a, -1, task / pieces);
    const int64_t begin = task % pieces * kStretch, n = least(kStretch, row.extent - begin);
    Wide values[kStretch];
    read(a, at.in + begin * row.in_stride, row.in_stride, values, n);
    write(a, values, at.out + begin * row.out_stride, row.out_stride, n);
  }
}

// A tile of `rows` by `columns`: read along the columns, written along the rows.
void convert_tile(const ConvertArguments& a, const CopyLoop& row, const CopyLoop& column, Start at,
                  int64_t rows, int64_t columns) {
  float read_tile[kTileRows][kTileColumns], turned[kTileColumns][kTileRows];
  for (int64_t r = 0; r < rows; ++r) read(a, at.in + r * row.in_stride, 1, read_tile[r], columns);
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < columns; ++c) turned[c][r] = read_tile[r][c];
  }
  for (int64_t c = 0; c < columns; ++c)
    write(a, turned[c], at.out + c * column.out_stride, 1, rows);
}

// The innermost loop runs along the output, loop `along` along the input; both in steps of one.
void convert_turned(const ConvertArguments& a, int along) {
  const CopyLoop &row = a.loop[a.loops - 1], &column = a.loop[along];
  const int64_t strips = (column.extent + kTileColumns - 1) / kTileColumns;
  const int64_t tasks = starts(a, along) * strips;
#pragma omp parallel for schedule(static) if (tasks * kTileColumns * row.extent > kMinParallelWork)
  for (int64_t task = 0; task < tasks; ++task) {
    const Start start = start_of(a, along, task / strips);
    const int64_t c = task % strips * kTileColumns,
                  columns = least(kTileColumns, column.extent - c);
    for (int64_t r = 0; r < row.extent; r += kTileRows) {
      const Start at{start.in + r * row.in_stride + c, start.out + r + c * column.out_stride};
      convert_tile(a, row, column, at, least(kTileRows, row.extent - r), columns);
    }
  }
}

}  // namespace

void ENGINERY_KERNEL(convert)(const ConvertArguments& a) {
  if (a.from == ElementType::float64 || a.to == ElementType::float64)
    return convert_rows<double>(a);
  if (!is_float(a.from) && !is_float(a.to)) return convert_rows<int64_t>(a);
  const CopyLoop& inner = a.loop[a.loops - 1];
  if (inner.out_stride == 1 && inner.in_stride != 1) {
    for (int d = a.loops - 2; d >= 0; --d) {
      if (a.loop[d].in_stride == 1 && a.loop[d].extent >= 4) return convert_turned(a, d);
    }
  }
  convert_rows<float>(a);
}

}  // namespace enginery
