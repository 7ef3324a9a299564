// Transposed convolution, NHWC: each output gathers the inputs that reach it. WIDTH output channels
// a thread; with groups 1.
//
// Lanes run along output channels; w is [r][s][c of the group][k with its padding], so that reads
// coalesce and x is read once for all lanes of a pixel. Bytes moved an output: c * r * s / strides
// elements of x and WIDTH times that of w, from the caches. Serves every SM.

extern "C" __global__ void __launch_bounds__(THREADS) kernel(const ConvArgs a) {
  await_predecessors();
  unsigned i = blockIdx.x * THREADS + threadIdx.x, vectors = static_cast<unsigned>(a.ldy) / WIDTH;
  int m = static_cast<int>(i / vectors), k = static_cast<int>(i % vectors) * WIDTH;
  if (m >= a.m) return;
  unsigned row = divide(static_cast<unsigned>(m), a.by_q);
  int q = m - static_cast<int>(row * a.by_q.divisor);
  unsigned n = divide(row, a.by_p);
  int p = static_cast<int>(row - n * a.by_p.divisor);
  float v[WIDTH] = {};
  if (k < a.k) {
    const TX* image = static_cast<const TX*>(a.x) +
                      static_cast<long long>(n) * a.h * a.width * a.c + k / a.group_k * a.group_c;
    for (int r = 0; r < a.r; ++r) {
      int up = p + a.pad_h - r * a.dilation_h, h = up / a.stride_h;
      if (up < 0 || h * a.stride_h != up || h >= a.h) continue;
      for (int s = 0; s < a.s; ++s) {
        int left = q + a.pad_w - s * a.dilation_w, x = left / a.stride_w;
        if (left < 0 || x * a.stride_w != left || x >= a.width) continue;
        const TX* pixel = image + (static_cast<long long>(h) * a.width + x) * a.c;
        const float* w = static_cast<const float*>(a.w) +
                         static_cast<long long>((r * a.s + s) * a.group_c) * a.ldy + k;
        for (int c = 0; c < a.group_c; ++c) {
          float f[WIDTH], u = load_one(pixel + c);
          load_vector<WIDTH>(w + static_cast<long long>(c) * a.ldy, f);
#pragma unroll
          for (int j = 0; j < WIDTH; ++j) v[j] += u * f[j];
        }
      }
    }
  }
  long long index = static_cast<long long>(m) * a.ldy + k;
  epilogue<WIDTH>(v, a.epilogue, static_cast<int>(divide(static_cast<unsigned>(m), a.by_pixels)), k,
                  index, a.ldy, a.k);
  store_vector<WIDTH>(static_cast<TY*>(a.y) + index, v);
}
