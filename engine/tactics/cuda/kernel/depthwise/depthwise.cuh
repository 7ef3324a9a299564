// Depthwise convolution, NHWC: y[n,p,q,c] = sum over (r, s) of x[n, p*stride-pad+r*dil,
// q*stride-pad+s*dil, c] * w[r,s,c].
//
// A thread computes WIDTH channels of STRIP outputs along a row and reads each input vector of a
// filter row once; lanes run along channels, so that accesses coalesce. Bytes moved an element: two
// at the ideal, (R * inputs of a strip / STRIP + 1) elements through the L1. R, S, strides and
// dilation are constants of the text. Serves every SM.

constexpr int kInputs = (STRIP - 1) * STRIDE_W + (S - 1) * DILATION_W + 1;

extern "C" __global__ void __launch_bounds__(128) kernel(const WindowArgs a) {
  await_predecessors();
  int i = static_cast<int>(blockIdx.x) * 128 + threadIdx.x;
  if (i >= a.total) return;
  unsigned rest = divide(static_cast<unsigned>(i), a.by_vectors);
  int c = (i - static_cast<int>(rest * a.by_vectors.divisor)) * WIDTH;
  unsigned row = divide(rest, a.by_strips);
  int q = static_cast<int>(rest - row * a.by_strips.divisor) * STRIP;
  unsigned n = divide(row, a.by_p);
  int p = static_cast<int>(row - n * a.by_p.divisor);
  int h0 = p * STRIDE_H - a.pad_h, x0 = q * STRIDE_W - a.pad_w;
  float acc[STRIP][WIDTH] = {};
#pragma unroll
  for (int r = 0; r < R; ++r) {
    int h = h0 + r * DILATION_H;
    const bool is_row = h >= 0 && h < a.h;  // no branch: rows are loaded side by side
    const TX* line =
        static_cast<const TX*>(a.x) + (static_cast<long long>(n) * a.h + h) * a.width * a.c + c;
    float w[S][WIDTH];
#pragma unroll
    for (int s = 0; s < S; ++s) load_vector<WIDTH>(a.w + (r * S + s) * a.c + c, w[s]);
#pragma unroll
    for (int j = 0; j < kInputs; ++j) {
      int x = x0 + j;
      float v[WIDTH] = {};
      if (is_row && x >= 0 && x < a.width)
        load_vector<WIDTH>(line + static_cast<long long>(x) * a.c, v);
#pragma unroll
      for (int o = 0; o < STRIP; ++o) {
        int tap = j - o * STRIDE_W;
        if (tap >= 0 && tap % DILATION_W == 0 && tap / DILATION_W < S) {
#pragma unroll
          for (int k = 0; k < WIDTH; ++k) acc[o][k] += v[k] * w[tap / DILATION_W][k];
        }
      }
    }
  }
#pragma unroll
  for (int o = 0; o < STRIP; ++o) {
    if (q + o >= a.q) break;
    long long index = (static_cast<long long>(row) * a.q + q + o) * a.c + c;
    epilogue<WIDTH>(acc[o], a.epilogue, static_cast<int>(n), c, index, a.c, a.channels);
    store_vector<WIDTH>(static_cast<TY*>(a.y) + index, acc[o]);
  }
}
