// A choice element by element, rows of the innermost loop by vector code: whether an operand
// repeats along it is a constant there.
#include "engine/kernels/cpu/isa/select.h"
#include "engine/kernels/cpu/isa/simd.h"

namespace enginery {
namespace {

template <typename T, int kC, int kA, int kB>
void select_row(const uint8_t* __restrict c, const T* __restrict a, const T* __restrict b,
                T* __restrict out, int64_t n) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) {
    const T x = a[kA * i], y = b[kB * i];
    out[i] = c[kC * i] ? x : y;
  }
}

template <typename T>
using SelectRow = void (*)(const uint8_t*, const T*, const T*, T*, int64_t);

template <typename T>
SelectRow<T> row_for(bool c, bool a, bool b) {
  if (c) {
    if (a) return b ? select_row<T, 1, 1, 1> : select_row<T, 1, 1, 0>;
    return b ? select_row<T, 1, 0, 1> : select_row<T, 1, 0, 0>;
  }
  if (a) return b ? select_row<T, 0, 1, 1> : select_row<T, 0, 1, 0>;
  return b ? select_row<T, 0, 0, 1> : select_row<T, 0, 0, 0>;
}

template <typename T>
void select_all(const SelectArguments& s) {
  constexpr int64_t kPiece = 4096;
  const int inner = s.loops - 1;
  const int64_t length = s.extent[inner], pieces = (length + kPiece - 1) / kPiece;
  int64_t rows = 1;
  for (int d = 0; d < inner; ++d) rows *= s.extent[d];
  const SelectRow<T> row =
      row_for<T>(s.stride[0][inner] != 0, s.stride[1][inner] != 0, s.stride[2][inner] != 0);
#pragma omp parallel for schedule(static) if (rows * length > kMinParallelWork)
  for (int64_t task = 0; task < rows * pieces; ++task) {
    const int64_t begin = task % pieces * kPiece, n = least(kPiece, length - begin);
    int64_t at[3], rest = task / pieces;
    for (int o = 0; o < 3; ++o) at[o] = begin * s.stride[o][inner];
    for (int d = inner - 1; d >= 0; --d) {
      const int64_t i = rest % s.extent[d];
      rest /= s.extent[d];
      for (int o = 0; o < 3; ++o) at[o] += i * s.stride[o][d];
    }
    row(s.condition + at[0], static_cast<const T*>(s.a) + at[1], static_cast<const T*>(s.b) + at[2],
        static_cast<T*>(s.out) + task / pieces * length + begin, n);
  }
}

}  // namespace

void ENGINERY_KERNEL(select)(const SelectArguments& a) {
  switch (a.element_bytes) {
    case 1:
      return select_all<uint8_t>(a);
    case 2:
      return select_all<uint16_t>(a);
    case 4:
      return select_all<uint32_t>(a);
    default:
      return select_all<uint64_t>(a);
  }
}

}  // namespace enginery
