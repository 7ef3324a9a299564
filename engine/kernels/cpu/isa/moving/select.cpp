// A choice element by element, rows of the innermost loop by vector code: whether an operand
// repeats along it is a constant there.
#include "engine/kernels/cpu/isa/moving/select.h"
#include "engine/kernels/cpu/isa/broadcast_rows.h"

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
  const auto moves = [&](int o) { return s.over.stride[o][s.over.loops - 1] != 0; };
  const SelectRow<T> row = row_for<T>(moves(0), moves(1), moves(2));
  for_each_piece_of_rows<3>(s.over, [&s, row](const int64_t* at, int64_t first, int64_t n) {
    row(s.condition + at[0], static_cast<const T*>(s.a) + at[1], static_cast<const T*>(s.b) + at[2],
        static_cast<T*>(s.out) + first, n);
  });
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
