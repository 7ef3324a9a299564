// To small integers and back. TO_INTEGERS: y = saturate(round_half_even(x / scale) + zero) within
// LOW and HIGH, NaN becomes 0; else y = (x - zero) * scale. A thread changes one element.
//
// Bytes moved: every element once. Serves every SM.

extern "C" __global__ void __launch_bounds__(THREADS) kernel(const QuantizeArgs a) {
  await_predecessors();
  const unsigned i = blockIdx.x * THREADS + threadIdx.x;
  if (i >= a.total) return;
  const unsigned s = i / a.inner % a.size;
  const float scale = a.scale[s], zero = a.zero[s];
#if TO_INTEGERS
  float q = rintf(static_cast<const TX*>(a.x)[i] / scale) + zero;
  q = q != q ? 0.0f : clip(q, LOW, HIGH);
  static_cast<TY*>(a.y)[i] = static_cast<TY>(static_cast<int>(q));
#else
  static_cast<TY*>(a.y)[i] = (static_cast<float>(static_cast<const TX*>(a.x)[i]) - zero) * scale;
#endif
}
