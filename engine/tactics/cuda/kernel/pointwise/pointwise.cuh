// Element-wise functions of operands that lie alike, or repeat along channels, or are single
// values; with their chain.
//
// A thread computes WIDTH consecutive elements of storage; elements() is generated. Bytes moved an
// element: each operand and the output once. Serves every SM.

extern "C" __global__ void __launch_bounds__(THREADS) kernel(const PointwiseArgs a) {
  await_predecessors();
  int i = (static_cast<int>(blockIdx.x) * THREADS + static_cast<int>(threadIdx.x)) * WIDTH;
  if (i >= a.total) return;
  unsigned m = divide(static_cast<unsigned>(i), a.by_ldy);
  int k = i - static_cast<int>(m * a.by_ldy.divisor);
  int image = static_cast<int>(divide(m, a.by_pixels));
  float v[WIDTH];
  elements(a.operands, image, k, i, a.ldy, v);
  epilogue<WIDTH>(v, a.epilogue, image, k, i, a.ldy, a.ldy);
  store_vector<WIDTH>(static_cast<TY*>(a.y) + i, v);
}
