// Running sums along one dimension: y[s] = sum of x[0..s], without x[s] where EXCLUSIVE, from the
// end where REVERSE. TX is the type in memory, SUM that of the sums: float32 for floats; integers
// wrap.
//
// GROUP threads own one line: 1, which adds in order, where neighbouring lines lie side by side; a
// block of 256 where the line does: each 256 elements are summed in log2(256) steps, then the sum
// of all before them is added. Bytes moved an element: one read, one write. Serves every SM.

__device__ __forceinline__ SUM term_at(const CumSumArgs& a, long long line, unsigned s) {
  return LOAD(static_cast<const TX*>(a.x) + line + static_cast<long long>(s) * a.inner);
}
__device__ __forceinline__ void keep_sum(const CumSumArgs& a, long long line, unsigned s, SUM sum) {
  STORE(static_cast<TX*>(a.y) + line + static_cast<long long>(s) * a.inner, sum);
}
// The s-th element in the order of the sums.
__device__ __forceinline__ unsigned in_order(const CumSumArgs& a, unsigned s) {
  return REVERSE ? a.size - 1 - s : s;
}

extern "C" __global__ void __launch_bounds__(256) kernel(const CumSumArgs a) {
  await_predecessors();
  const unsigned thread = blockIdx.x * 256u + threadIdx.x, number = thread / GROUP;
  const long long line =
      static_cast<long long>(number / a.inner) * a.size * a.inner + number % a.inner;
#if GROUP == 1
  if (number >= a.lines) return;
  SUM sum = 0;
  for (unsigned s = 0; s < a.size; ++s) {
    const unsigned place = in_order(a, s);
    const SUM term = term_at(a, line, place), with = sum + term;
    keep_sum(a, line, place, EXCLUSIVE ? sum : with);
    sum = with;
  }
#else
  __shared__ SUM sums[256];
  SUM before = 0;
  for (unsigned first = 0; first < a.size; first += 256) {
    const unsigned s = first + threadIdx.x;
    sums[threadIdx.x] = s < a.size ? term_at(a, line, in_order(a, s)) : 0;
    __syncthreads();
    for (unsigned reach = 1; reach < 256; reach *= 2) {
      const SUM left = threadIdx.x >= reach ? sums[threadIdx.x - reach] : 0;
      __syncthreads();
      sums[threadIdx.x] += left;
      __syncthreads();
    }
#if EXCLUSIVE
    const SUM own = threadIdx.x > 0 ? sums[threadIdx.x - 1] : 0;
#else
    const SUM own = sums[threadIdx.x];
#endif
    if (s < a.size) keep_sum(a, line, in_order(a, s), before + own);
    before += sums[255];
    __syncthreads();
  }
#endif
}
