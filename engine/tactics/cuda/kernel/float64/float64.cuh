// Element-wise functions of float64: EXPRESSION of x, y, alpha and beta. a_place(i) and b_place(i)
// are generated.
//
// A thread computes one element. Bytes moved an element: each operand and the output once. Serves
// every SM.

extern "C" __global__ void __launch_bounds__(THREADS) kernel(const Float64Args a) {
  await_predecessors();
  const unsigned i = blockIdx.x * THREADS + threadIdx.x;
  if (i >= a.total) return;
  [[maybe_unused]] const double alpha = ALPHA, beta = BETA;
  const double x = static_cast<const double*>(a.a)[a_place(i)];
#if HAS_B
  const double y = static_cast<const double*>(a.b)[b_place(i)];
#endif
  static_cast<double*>(a.out)[i] = EXPRESSION;
}
