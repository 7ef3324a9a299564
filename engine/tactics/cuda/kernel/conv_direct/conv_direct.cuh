// Convolution straight from its definition, one output element a thread: any groups, dilation,
// filter and type. The last choice. Lanes run along output channels; w is [r][s][c of the
// group][k], so that reads coalesce. Bytes moved an element: 2 * r * s * c elements, from the
// caches. Serves every SM.

extern "C" __global__ void __launch_bounds__(THREADS) kernel(const ConvArgs a) {
  await_predecessors();
  long long i = static_cast<long long>(blockIdx.x) * THREADS + threadIdx.x;
  int m = static_cast<int>(i / a.ldy), k = static_cast<int>(i - static_cast<long long>(m) * a.ldy);
  if (m >= a.m) return;
  unsigned row = divide(static_cast<unsigned>(m), a.by_q);
  int q = m - static_cast<int>(row * a.by_q.divisor);
  unsigned n = divide(row, a.by_p);
  int p = static_cast<int>(row - n * a.by_p.divisor);
  float v[1] = {0};
  if (k < a.k) {
    int group = k / a.group_k;
    const TX* image = static_cast<const TX*>(a.x) +
                      static_cast<long long>(n) * a.h * a.width * a.c + group * a.group_c;
    const float* w = static_cast<const float*>(a.w) + k;
    for (int r = 0; r < a.r; ++r) {
      int h = p * a.stride_h - a.pad_h + r * a.dilation_h;
      if (h < 0 || h >= a.h) continue;
      for (int s = 0; s < a.s; ++s) {
        int x = q * a.stride_w - a.pad_w + s * a.dilation_w;
        if (x < 0 || x >= a.width) continue;
        const TX* pixel = image + (static_cast<long long>(h) * a.width + x) * a.c;
        const float* filter = w + static_cast<long long>((r * a.s + s) * a.group_c) * a.k;
        for (int c = 0; c < a.group_c; ++c)
          v[0] += load_one(pixel + c) * filter[static_cast<long long>(c) * a.k];
      }
    }
  }
  epilogue<1>(v, a.epilogue, static_cast<int>(divide(static_cast<unsigned>(m), a.by_pixels)), k, i,
              a.ldy, a.k);
  store_one(static_cast<TY*>(a.y) + i, v[0]);
}
