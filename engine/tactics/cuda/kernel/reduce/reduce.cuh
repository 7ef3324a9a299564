// Reductions over any dimensions: reduce_first(), reduce_each(x), reduce_join(p, q) and, of floats
// alone, reduce_last(p, n) are generated, as are the places. ACC is the type of what is reduced:
// float32 for floats; integers wrap.
//
// GROUP threads own one output: 1 where neighbouring outputs lie side by side, a warp or a block
// where the reduced elements do. Bytes moved: every element once. Serves every SM.

extern "C" __global__ void __launch_bounds__(256) kernel(const ReduceArgs a) {
  await_predecessors();
  unsigned thread = blockIdx.x * 256u + threadIdx.x, output = thread / GROUP,
           first = thread % GROUP;
  if (output >= a.outputs) return;
  const TX* x = static_cast<const TX*>(a.x) + kept_place(output);
  ACC v[1] = {reduce_first()};
  for (unsigned i = first; i < a.reduced; i += GROUP)
    v[0] = reduce_join(v[0], reduce_each(LOAD(x + reduced_place(i))));
#if GROUP > 1
#pragma unroll
  for (int lanes = 16; lanes > 0; lanes /= 2)
    v[0] = reduce_join(v[0], __shfl_xor_sync(0xffffffffu, v[0], lanes));
#endif
#if GROUP > 32
  __shared__ ACC parts[8];
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = v[0];
  __syncthreads();
  v[0] = parts[0];
#pragma unroll
  for (int i = 1; i < 8; ++i) v[0] = reduce_join(v[0], parts[i]);
#endif
  if (first > 0) return;
#if FLOATS
  v[0] = reduce_last(v[0], static_cast<float>(a.reduced));
  int k = static_cast<int>(output % static_cast<unsigned>(a.ldy));
  epilogue<1>(v, a.epilogue, 0, k, output, a.ldy, a.ldy);
#endif
  STORE(static_cast<TY*>(a.y) + output, v[0]);
}
