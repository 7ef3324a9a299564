// Pooling over windows, NHWC: max, or average over the window's elements inside the input (or
// inside input and padding).
//
// A thread computes WIDTH channels of one output; lanes run along channels. Bytes moved an element:
// r * s reads from the L1, each input about once from memory. Serves every SM.

extern "C" __global__ void __launch_bounds__(128) kernel(const WindowArgs a) {
  await_predecessors();
  int i = static_cast<int>(blockIdx.x) * 128 + threadIdx.x;
  if (i >= a.total) return;
  unsigned pixel = divide(static_cast<unsigned>(i), a.by_vectors);
  int c = (i - static_cast<int>(pixel * a.by_vectors.divisor)) * WIDTH;
  unsigned row = divide(pixel, a.by_strips);
  int q = static_cast<int>(pixel - row * a.by_strips.divisor);
  unsigned n = divide(row, a.by_p);
  int p = static_cast<int>(row - n * a.by_p.divisor);
  int h0 = p * a.stride_h - a.pad_h, x0 = q * a.stride_w - a.pad_w;
  float v[WIDTH];
#pragma unroll
  for (int k = 0; k < WIDTH; ++k) v[k] = MAXIMUM ? -INFINITY : 0.0f;
  int counted = 0;
  for (int r = 0; r < a.r; ++r) {
    int h = h0 + r * a.dilation_h;
    for (int s = 0; s < a.s; ++s) {
      int x = x0 + s * a.dilation_w;
      bool in_padding =
          h >= -a.pad_h && h < a.h + a.pad_h_end && x >= -a.pad_w && x < a.width + a.pad_w_end;
      bool in_input = h >= 0 && h < a.h && x >= 0 && x < a.width;
      counted += COUNT_PADDING ? in_padding : in_input;
      if (!in_input) continue;
      float u[WIDTH];
      load_vector<WIDTH>(static_cast<const TX*>(a.x) +
                             ((static_cast<long long>(n) * a.h + h) * a.width + x) * a.x_pitch + c,
                         u);
#pragma unroll
      for (int k = 0; k < WIDTH; ++k) v[k] = MAXIMUM ? larger(v[k], u[k]) : v[k] + u[k];
    }
  }
  if (!MAXIMUM) {
    float share = counted ? 1.0f / counted : 0.0f;
#pragma unroll
    for (int k = 0; k < WIDTH; ++k) v[k] *= share;
  }
  long long index = static_cast<long long>(pixel) * a.c + c;
  epilogue<WIDTH>(v, a.epilogue, static_cast<int>(n), c, index, a.c, a.channels);
  store_vector<WIDTH>(static_cast<TY*>(a.y) + static_cast<long long>(pixel) * a.y_pitch + c, v);
}
