// Rows by indices: each row is read and written once.
#include "engine/kernels/cpu/isa/moving/gather_nd.h"

#include "engine/kernels/cpu/isa/moving/copy_bytes.h"
#include "engine/kernels/cpu/isa/moving/row_at.h"

namespace enginery {

void ENGINERY_KERNEL(gather_nd)(const GatherNdArguments& a) {
  const int64_t bytes = a.from.row_bytes;
#pragma omp parallel for schedule(static) if (a.from.count * (bytes + 8) > 4 * kMinParallelWork)
  for (int64_t j = 0; j < a.from.count; ++j)
    copy_row(static_cast<char*>(a.out) + j * bytes,
             static_cast<const char*>(a.in) + row_at(a.from, j) * bytes, bytes);
}

}  // namespace enginery
