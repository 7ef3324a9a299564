// A matrix product with few rows (batch-1 fully connected): four weight rows at a time, each read
// once from memory.
#include "engine/kernels/cpu/isa/products/gemv_rows.h"

namespace enginery {

void ENGINERY_KERNEL(gemv)(const GemvArguments& a) {
  const int64_t groups = gemv_groups(a);
#pragma omp parallel for schedule(static) if (a.n * a.k > 2 * kMinParallelWork)
  for (int64_t group = 0; group < groups; ++group) run_gemv_group(a, group);
}

}  // namespace enginery
