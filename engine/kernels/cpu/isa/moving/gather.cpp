// Slices by index: each row is read and written once. Rows of one element go by a load and a store.
#include "engine/kernels/cpu/isa/moving/gather.h"
#include "engine/kernels/cpu/isa/moving/nearest_index.h"

namespace enginery {
namespace {

inline int64_t row_of(const GatherArguments& a, int64_t j) {
  return nearest_index(a.wide ? static_cast<const int64_t*>(a.indices)[j]
                              : static_cast<const int32_t*>(a.indices)[j],
                       a.size);
}

template <typename T>
void gather_elements(const GatherArguments& a, int64_t o, int64_t begin, int64_t end) {
  const T* in = static_cast<const T*>(a.in) + o * a.size;
  T* out = static_cast<T*>(a.out) + o * a.count;
  for (int64_t j = begin; j < end; ++j) out[j] = in[row_of(a, j)];
}

void gather_rows(const GatherArguments& a, int64_t o, int64_t begin, int64_t end) {
  const char* in = static_cast<const char*>(a.in) + o * a.size * a.row_bytes;
  char* out = static_cast<char*>(a.out) + o * a.count * a.row_bytes;
  for (int64_t j = begin; j < end; ++j)
    __builtin_memcpy(out + j * a.row_bytes, in + row_of(a, j) * a.row_bytes,
                     static_cast<unsigned long>(a.row_bytes));
}

}  // namespace

void ENGINERY_KERNEL(gather)(const GatherArguments& a) {
  constexpr int64_t kRows = 256;
  const int64_t pieces = (a.count + kRows - 1) / kRows,
                bytes = a.outer * a.count * (a.row_bytes + 8);
#pragma omp parallel for schedule(static) if (bytes > 4 * kMinParallelWork)
  for (int64_t task = 0; task < a.outer * pieces; ++task) {
    const int64_t o = task / pieces, begin = task % pieces * kRows,
                  end = least(begin + kRows, a.count);
    switch (a.row_bytes) {
      case 4:
        gather_elements<uint32_t>(a, o, begin, end);
        break;
      case 8:
        gather_elements<uint64_t>(a, o, begin, end);
        break;
      default:
        gather_rows(a, o, begin, end);
    }
  }
}

}  // namespace enginery
