// A copy in pieces, then the rows in order, since of two for one place the last one stays: long
// rows are shared by the team column by column.
#include "engine/kernels/cpu/isa/moving/scatter_nd.h"

#include "engine/kernels/cpu/isa/moving/combine.h"
#include "engine/kernels/cpu/isa/moving/copy_bytes.h"
#include "engine/kernels/cpu/isa/moving/row_at.h"

namespace enginery {
namespace {

constexpr int64_t kColumns = 4096;  // bytes

// row(out, update, n): n bytes of a row and of its update, the rows in order.
template <typename Row>
void each_row(const ScatterNdArguments& a, const Row& row) {
  const int64_t bytes = a.to.row_bytes;
#pragma omp parallel for schedule(static) if (bytes > kColumns && \
                                                  a.to.count * bytes > 16 * kMinParallelWork)
  for (int64_t first = 0; first < bytes; first += kColumns) {
    const int64_t n = least(kColumns, bytes - first);
    for (int64_t j = 0; j < a.to.count; ++j)
      row(static_cast<char*>(a.out) + row_at(a.to, j) * bytes + first,
          static_cast<const char*>(a.updates) + j * bytes + first, n);
  }
}

struct CombinedRows {
  const ScatterNdArguments& a;
  template <CombiningKind kKind, typename T>
  void run() const {
    each_row(a, [](char* out, const char* update, int64_t bytes) {
      T* const y = reinterpret_cast<T*>(out);
      const T* const x = reinterpret_cast<const T*>(update);
#pragma omp simd
      for (int64_t i = 0; i < bytes / static_cast<int64_t>(sizeof(T)); ++i)
        y[i] = combined<kKind>(y[i], x[i]);
    });
  }
};

}  // namespace

void ENGINERY_KERNEL(scatter_nd)(const ScatterNdArguments& a) {
  copy_all(static_cast<const char*>(a.in), static_cast<char*>(a.out), a.bytes);
  if (a.combining.kind == CombiningKind::replace)
    each_row(a, [](char* out, const char* update, int64_t n) { copy_row(out, update, n); });
  else
    for_numbers(a.combining, CombinedRows{a});
}

}  // namespace enginery
