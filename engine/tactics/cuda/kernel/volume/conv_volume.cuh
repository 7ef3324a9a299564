// Convolution along three dimensions straight from its definition, one output element a thread: any
// groups, dilation, filter and type. Lanes run along output channels, so that reads of the filter
// coalesce. Bytes moved an element: 2 * taps * c elements, from the caches. Serves every SM.

extern "C" __global__ void __launch_bounds__(THREADS) kernel(const VolumeArgs a) {
  await_predecessors();
  const long long i = static_cast<long long>(blockIdx.x) * THREADS + threadIdx.x;
  if (i >= a.total) return;
  const unsigned m = static_cast<unsigned>(i / a.ldy);
  const int k = static_cast<int>(i - static_cast<long long>(m) * a.ldy);
  const VolumePlace at = volume_place(a, m);
  float v[1] = {0};
  if (k < a.k) {
    const TX* group = static_cast<const TX*>(a.x) + k / a.group_k * a.group_c;
    const float* filter = a.w + k;
    for (int t = 0; t < a.side[0].taps; ++t) {
      for (int r = 0; r < a.side[1].taps; ++r) {
        for (int s = 0; s < a.side[2].taps;
             ++s, filter += static_cast<long long>(a.group_c) * a.k) {
          const long long pixel = volume_pixel(a, at, t, r, s);
          if (pixel < 0) continue;
          const TX* x = group + pixel * a.c;
          for (int c = 0; c < a.group_c; ++c)
            v[0] += load_one(x + c) * filter[static_cast<long long>(c) * a.k];
        }
      }
    }
  }
  epilogue<1>(v, a.epilogue, static_cast<int>(at.n), k, i, a.ldy, a.k);
  store_one(static_cast<TY*>(a.y) + i, v[0]);
}
