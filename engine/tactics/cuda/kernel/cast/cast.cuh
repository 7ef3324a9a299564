// Another element type: TX to TY; TO_BOOLEAN: whether it is not zero; TO_INTEGER: NaN becomes 0,
// which processors make the least integer of 64 bits. A thread changes one element.
// Serves every SM.

template <typename T>
__device__ __forceinline__ T value_of(const T* p) {
  return *p;
}
__device__ __forceinline__ float value_of(const half_t* p) {
  return load_one(p);
}
__device__ __forceinline__ float value_of(const bfloat_t* p) {
  return load_one(p);
}
template <typename T, typename V>
__device__ __forceinline__ void store_as(T* p, V v) {
  *p = static_cast<T>(v);
}
template <typename V>
__device__ __forceinline__ void store_as(half_t* p, V v) {
  store_one(p, static_cast<float>(v));
}
template <typename V>
__device__ __forceinline__ void store_as(bfloat_t* p, V v) {
  store_one(p, static_cast<float>(v));
}

extern "C" __global__ void __launch_bounds__(THREADS) kernel(const CastArgs a) {
  await_predecessors();
  int i = static_cast<int>(blockIdx.x) * THREADS + static_cast<int>(threadIdx.x);
  if (i >= a.total) return;
  auto x = value_of(static_cast<const TX*>(a.x) + i);
#if TO_BOOLEAN
  store_as(static_cast<TY*>(a.y) + i, x != 0);
#elif TO_INTEGER
  store_as(static_cast<TY*>(a.y) + i, x == x ? x : 0);
#else
  store_as(static_cast<TY*>(a.y) + i, x);
#endif
}
