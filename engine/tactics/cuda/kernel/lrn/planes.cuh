// Local response normalisation across channels, each of which is a plane: y = x / (bias + scale *
// sum of squares of the window)^beta, of LOW channels before an element and HIGH after it.
//
// A thread computes RUN channels of WIDTH adjacent pixels; lanes run along pixels. It reads all
// that they need before it computes. Bytes moved an element: one write, 1 + (LOW + HIGH) / RUN
// reads, of which one is from memory where the L2 holds what runs side by side share. Serves every
// SM.

constexpr int kHeld = LOW + RUN + HIGH;

extern "C" __global__ void __launch_bounds__(THREADS) kernel(const LrnWindowArgs a) {
  await_predecessors();
  const unsigned i = blockIdx.x * THREADS + threadIdx.x;
  if (i >= static_cast<unsigned>(a.total)) return;
  const unsigned row = divide(i, a.by_row), n = divide(row, a.by_runs);
  const int c = static_cast<int>(row - n * a.by_runs.divisor) * RUN;
  const long long first = (static_cast<long long>(n) * a.channels + c) * a.inner +
                          static_cast<long long>(i - row * a.by_row.divisor) * WIDTH;
  const TX* x = static_cast<const TX*>(a.x) + first;
  float u[kHeld][WIDTH];
#pragma unroll
  for (int k = 0; k < kHeld; ++k) {
#pragma unroll
    for (int j = 0; j < WIDTH; ++j) u[k][j] = 0;
    const int channel = c + k - LOW;
    if (channel >= 0 && channel < a.channels)
      load_vector<WIDTH>(x + static_cast<long long>(k - LOW) * a.inner, u[k]);
  }
  TY* y = static_cast<TY*>(a.y) + first;
#pragma unroll
  for (int k = 0; k < RUN; ++k) {
    float v[WIDTH];
#pragma unroll
    for (int j = 0; j < WIDTH; ++j) {
      float sum = 0;
#pragma unroll
      for (int d = 0; d <= LOW + HIGH; ++d) sum += u[k + d][j] * u[k + d][j];
      v[j] = over_power(u[k + LOW][j], a.bias + a.scale * sum, a.beta);
    }
    if (c + k < a.channels) store_vector<WIDTH>(y + static_cast<long long>(k) * a.inner, v);
  }
}
