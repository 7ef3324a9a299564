// Softmax along one axis: y = exp(x - max) / sum, or its logarithm x - max - log(sum).
//
// INNER 1: a block of THREADS threads owns one row of contiguous elements. Otherwise a thread owns
// one column of elements that lie `inner` apart, lanes along the inner dimension. Bytes moved: two
// reads through the caches, one read from memory and one write an element. Serves every SM.

__device__ __forceinline__ float block_reduce(float v, bool maximum) {
  __shared__ float warp_values[THREADS / 32];
#pragma unroll
  for (int lanes = 16; lanes > 0; lanes /= 2) {
    float other = __shfl_xor_sync(0xffffffffu, v, lanes);
    v = maximum ? fmaxf(v, other) : v + other;
  }
  __syncthreads();
  if (threadIdx.x % 32 == 0) warp_values[threadIdx.x / 32] = v;
  __syncthreads();
  v = warp_values[0];
#pragma unroll
  for (int i = 1; i < THREADS / 32; ++i)
    v = maximum ? fmaxf(v, warp_values[i]) : v + warp_values[i];
  return v;
}

__device__ __forceinline__ float softmax_of(float x, float top, float sum) {
  return LOGARITHM ? x - top - logf(sum) : expf(x - top) / sum;
}

#if INNER == 1
extern "C" __global__ void __launch_bounds__(THREADS) kernel(const SoftmaxArgs a) {
  await_predecessors();
  const TX* x = static_cast<const TX*>(a.x) + static_cast<long long>(blockIdx.x) * a.size;
  TY* y = static_cast<TY*>(a.y) + static_cast<long long>(blockIdx.x) * a.size;
  float top = -INFINITY, sum = 0;
  for (int i = threadIdx.x; i < a.size; i += THREADS) top = fmaxf(top, load_one(x + i));
  top = block_reduce(top, true);
  for (int i = threadIdx.x; i < a.size; i += THREADS) sum += expf(load_one(x + i) - top);
  sum = block_reduce(sum, false);
  for (int i = threadIdx.x; i < a.size; i += THREADS)
    store_one(y + i, softmax_of(load_one(x + i), top, sum));
}
#else
extern "C" __global__ void __launch_bounds__(THREADS) kernel(const SoftmaxArgs a) {
  await_predecessors();
  long long i = static_cast<long long>(blockIdx.x) * THREADS + threadIdx.x;
  if (i >= static_cast<long long>(a.outer) * a.inner) return;
  long long start = i / a.inner * a.size * a.inner + i % a.inner;
  const TX* x = static_cast<const TX*>(a.x) + start;
  TY* y = static_cast<TY*>(a.y) + start;
  float top = -INFINITY, sum = 0;
  for (int j = 0; j < a.size; ++j)
    top = fmaxf(top, load_one(x + static_cast<long long>(j) * a.inner));
  for (int j = 0; j < a.size; ++j)
    sum += expf(load_one(x + static_cast<long long>(j) * a.inner) - top);
  for (int j = 0; j < a.size; ++j) {
    long long at = static_cast<long long>(j) * a.inner;
    store_one(y + at, softmax_of(load_one(x + at), top, sum));
  }
}
#endif
