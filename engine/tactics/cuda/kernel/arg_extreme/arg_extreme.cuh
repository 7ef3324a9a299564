// The place of the largest or smallest element along one dimension: the first of equal ones, or the
// last where LAST is set. An element that is NaN is passed over; where the first one is NaN, it is
// the answer.
//
// GROUP threads own one output: 1 where neighbouring outputs lie side by side, a warp or a block
// where the elements along the dimension do. Each begins with the first element, which makes NaN
// there win in every lane. Bytes moved: every element once. Serves every SM.
//
// TV: in what elements are compared, float or the integers that they are (INTEGERS).

#if INTEGERS
__device__ __forceinline__ TV element_at(const TX* x) {
  return *x;
}
#else
__device__ __forceinline__ TV element_at(const TX* x) {
  return load_one(x);
}
#endif

struct Extreme {
  TV value;
  unsigned place;
};

// Whether q stands for p from now on.
__device__ __forceinline__ bool takes_over(const Extreme& q, const Extreme& p) {
#if LARGEST
  const bool better = q.value > p.value;
#else
  const bool better = q.value < p.value;
#endif
#if LAST
  return better || (q.value == p.value && q.place > p.place);
#else
  return better || (q.value == p.value && q.place < p.place);
#endif
}

extern "C" __global__ void __launch_bounds__(256) kernel(const ArgExtremeArgs a) {
  await_predecessors();
  const unsigned thread = blockIdx.x * 256u + threadIdx.x, output = thread / GROUP,
                 first = thread % GROUP;
  const bool is_there = output < a.outputs;
  Extreme best = {static_cast<TV>(0), 0u};
  if (is_there) {
    const TX* x = static_cast<const TX*>(a.x) +
                  static_cast<long long>(output / a.inner) * a.size * a.inner + output % a.inner;
    best.value = element_at(x);
    for (unsigned s = first; s < a.size; s += GROUP) {
      const Extreme next = {element_at(x + static_cast<long long>(s) * a.inner), s};
      if (takes_over(next, best)) best = next;
    }
  }
#if GROUP > 1
  __shared__ Extreme found[256];
  found[threadIdx.x] = best;
  for (unsigned lanes = GROUP / 2; lanes > 0; lanes /= 2) {
    __syncthreads();
    if (first < lanes && takes_over(found[threadIdx.x + lanes], found[threadIdx.x]))
      found[threadIdx.x] = found[threadIdx.x + lanes];
  }
  best = found[threadIdx.x];
#endif
  if (is_there && first == 0) a.y[output] = static_cast<long long>(best.place);
}
