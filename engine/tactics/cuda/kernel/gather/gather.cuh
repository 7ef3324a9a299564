// Slices of a tensor by index: UNIT the type that moves, INDEX the indices'.
//
// A thread moves one unit. Indices count from the end where they are negative; one outside takes
// the nearest that is inside. Bytes moved an output element: one read, one write. Serves every SM.

extern "C" __global__ void __launch_bounds__(THREADS) kernel(const GatherArgs a) {
  await_predecessors();
  int i = static_cast<int>(blockIdx.x) * THREADS + static_cast<int>(threadIdx.x);
  if (i >= a.total) return;
  unsigned row = divide(static_cast<unsigned>(i), a.by_inner),
           inner = static_cast<unsigned>(i) - row * a.by_inner.divisor;
  unsigned outer = divide(row, a.by_count), place = row - outer * a.by_count.divisor;
  INDEX index = static_cast<const INDEX*>(a.indices)[place];
  if (index < 0) index += a.size;
  index = index < 0 ? 0 : index < a.size ? index : a.size - 1;
  long long from = (static_cast<long long>(outer) * a.size + static_cast<long long>(index)) *
                       a.by_inner.divisor +
                   inner;
  static_cast<UNIT*>(a.y)[i] = static_cast<const UNIT*>(a.data)[from];
}
