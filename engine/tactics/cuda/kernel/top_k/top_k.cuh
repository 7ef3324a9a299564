// The k largest or smallest elements along one dimension, in order, and their places. Of equal
// elements the first comes first; NaN is larger than any number. TX is the type in memory, KEY what
// is compared.
//
// A thread owns one element and counts those that come before it: that is its place in the order. A
// block has 256 elements of one line and walks over the whole line, 256 elements at a time in
// shared memory; who has k before it counts no further. Bytes moved: each line once for every 256
// of its elements, mostly from the L2 cache. Serves every SM.

__device__ __forceinline__ bool is_larger(KEY p, KEY q) {
  return p > q || (p != p && q == q);
}
// Whether element p, at place i, comes before q at place j.
__device__ __forceinline__ bool comes_before(KEY p, unsigned i, KEY q, unsigned j) {
#if LARGEST
  const bool first = is_larger(p, q), last = is_larger(q, p);
#else
  const bool first = is_larger(q, p), last = is_larger(p, q);
#endif
  return first || (!last && i < j);
}

extern "C" __global__ void __launch_bounds__(256) kernel(const TopKArgs a) {
  __shared__ KEY seen[256];
  await_predecessors();
  const unsigned number = blockIdx.x / a.chunks,
                 own = (blockIdx.x - number * a.chunks) * 256u + threadIdx.x;
  const unsigned outer = number / a.inner, within = number - outer * a.inner;
  const TX* x =
      static_cast<const TX*>(a.x) + static_cast<long long>(outer) * a.size * a.inner + within;
  const bool is_there = own < a.size;
  const KEY mine = is_there ? LOAD(x + static_cast<long long>(own) * a.inner) : static_cast<KEY>(0);
  unsigned before = 0;
  for (unsigned first = 0; first < a.size; first += 256) {
    const unsigned there = first + threadIdx.x;
    __syncthreads();
    if (there < a.size) seen[threadIdx.x] = LOAD(x + static_cast<long long>(there) * a.inner);
    __syncthreads();
    const unsigned count = a.size - first < 256 ? a.size - first : 256;
    for (unsigned s = 0; s < count && before < a.k; ++s)
      before += comes_before(seen[s], first + s, mine, own) ? 1u : 0u;
  }
  if (!is_there || before >= a.k) return;
  const long long to = (static_cast<long long>(outer) * a.k + before) * a.inner + within;
  static_cast<TX*>(a.values)[to] = x[static_cast<long long>(own) * a.inner];
  a.indices[to] = static_cast<long long>(own);
}
