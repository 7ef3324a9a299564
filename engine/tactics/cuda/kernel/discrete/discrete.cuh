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

// Divisors are not zero; the most negative number divided by -1 wraps to itself.
template <typename T>
__device__ __forceinline__ bool turns_sign(T divisor) {
  return T(-1) < T(0) && divisor == T(-1);
}
template <typename T>
__device__ __forceinline__ T quotient_of(T x, T y) {
  return turns_sign(y) ? T(0ull - static_cast<unsigned long long>(x)) : T(x / y);
}
template <typename T>  // with the sign of x
__device__ __forceinline__ T remainder_of(T x, T y) {
  return turns_sign(y) ? T(0) : T(x % y);
}
template <typename T>  // with the sign of y
__device__ __forceinline__ T modulus_of(T x, T y) {
  const T rest = remainder_of(x, y);
  return rest != T(0) && (rest < T(0)) != (y < T(0)) ? T(rest + y) : rest;
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
