// A copy in pieces, then the rows in order, since of two for one place the last one stays: long
// rows are shared by the team column by column.
#include "engine/kernels/cpu/isa/moving/scatter_nd.h"

#include "engine/kernels/cpu/isa/moving/copy_bytes.h"
#include "engine/kernels/cpu/isa/moving/row_at.h"

namespace enginery {

void ENGINERY_KERNEL(scatter_nd)(const ScatterNdArguments& a) {
  constexpr int64_t kColumns = 4096;
  copy_all(static_cast<const char*>(a.in), static_cast<char*>(a.out), a.bytes);
  const int64_t row = a.to.row_bytes;
#pragma omp parallel for schedule(static) if (row > kColumns && \
                                                  a.to.count * row > 16 * kMinParallelWork)
  for (int64_t first = 0; first < row; first += kColumns) {
    const int64_t n = least(kColumns, row - first);
    for (int64_t j = 0; j < a.to.count; ++j)
      copy_row(static_cast<char*>(a.out) + row_at(a.to, j) * row + first,
               static_cast<const char*>(a.updates) + j * row + first, n);
  }
}

}  // namespace enginery
