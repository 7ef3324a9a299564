// Local response normalisation across channels, NHWC: y = x / (bias + alpha / size * sum of squares
// of the window)^beta.
//
// A thread computes one element and reads the window through the L1; lanes run along channels.
// Serves every SM.

extern "C" __global__ void __launch_bounds__(THREADS) kernel(const LrnArgs a) {
  await_predecessors();
  int i = static_cast<int>(blockIdx.x) * THREADS + threadIdx.x;
  if (i >= a.total) return;
  int c = i - static_cast<int>(divide(static_cast<unsigned>(i), a.by_c) * a.by_c.divisor);
  const TX* x = static_cast<const TX*>(a.x);
  int low = (a.size - 1) / 2, high = a.size - 1 - low;
  float sum = 0;
  for (int d = -low; d <= high; ++d) {
    if (c + d < 0 || c + d >= a.c) continue;
    float u = load_one(x + i + d);
    sum += u * u;
  }
  float v = load_one(x + i) * powf(a.bias + a.alpha / a.size * sum, -a.beta);
  store_one(static_cast<TY*>(a.y) + i, v);
}
