// Element-wise functions of operands that lie alike, or repeat along channels, or are single
// values; with their chain.
//
// A thread computes WIDTH consecutive elements of storage; elements() is generated. PITCHED: the
// output is some of the channels of a wider tensor; READS_PITCHED: the first operand is. Bytes
// moved an element: each operand and the output once. Serves every SM.

extern "C" __global__ void __launch_bounds__(THREADS) kernel(const PointwiseArgs a) {
  await_predecessors();
  int i = (static_cast<int>(blockIdx.x) * THREADS + static_cast<int>(threadIdx.x)) * WIDTH;
  if (i >= a.total) return;
  unsigned m = divide(static_cast<unsigned>(i), a.by_ldy);
  int k = i - static_cast<int>(m * a.by_ldy.divisor);
  int image = static_cast<int>(divide(m, a.by_pixels));
  float v[WIDTH];
  long long from = i, to = i;
#if READS_PITCHED
  from = static_cast<long long>(m) * a.x_pitch + k;
#endif
#if PITCHED
  to = static_cast<long long>(m) * a.y_pitch + k;
#endif
  elements(a.operands, image, k, i, from, a.ldy, v);
  epilogue<WIDTH>(v, a.epilogue, image, k, i, a.ldy, a.ldy);
  store_vector<WIDTH>(static_cast<TY*>(a.y) + to, v);
}
