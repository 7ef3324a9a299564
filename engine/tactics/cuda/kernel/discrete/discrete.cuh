// Element-wise operators whose result is an integer or a boolean: comparisons, logic, sums of
// integers. discrete_of(p, q), p_place(i) and q_place(i) are generated; TP, TQ and TY are the types
// in memory.
//
// A thread computes one element. Bytes moved an element: each operand and the output once. Serves
// every SM.

__device__ __forceinline__ float value_at(const float* p) {
  return *p;
}
__device__ __forceinline__ float value_at(const half_t* p) {
  return load_one(p);
}
__device__ __forceinline__ float value_at(const bfloat_t* p) {
  return load_one(p);
}
template <typename T>
__device__ __forceinline__ T value_at(const T* p) {
  return *p;
}

extern "C" __global__ void __launch_bounds__(THREADS) kernel(const DiscreteArgs a) {
  await_predecessors();
  const unsigned i = blockIdx.x * THREADS + threadIdx.x;
  if (i >= a.total) return;
  const auto p = value_at(static_cast<const TP*>(a.p) + p_place(i));
#if HAS_Q
  const auto q = value_at(static_cast<const TQ*>(a.q) + q_place(i));
#endif
  static_cast<TY*>(a.y)[i] = static_cast<TY>(EXPRESSION);
}
