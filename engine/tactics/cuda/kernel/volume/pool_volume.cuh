// Pooling along three dimensions: maxima, or averages over a window's elements inside the input (or
// inside input and padding). A thread computes WIDTH channels of one output; lanes run along
// channels. Bytes moved an element: one a tap, from the caches. Serves every SM.

extern "C" __global__ void __launch_bounds__(THREADS) kernel(const VolumeArgs a) {
  await_predecessors();
  const long long i = static_cast<long long>(blockIdx.x) * THREADS + threadIdx.x;
  if (i >= a.total) return;
  const int vectors = a.c / WIDTH;
  const unsigned m = static_cast<unsigned>(i / vectors);
  const int c = static_cast<int>(i - static_cast<long long>(m) * vectors) * WIDTH;
  const VolumePlace at = volume_place(a, m);
  float v[WIDTH];
#pragma unroll
  for (int k = 0; k < WIDTH; ++k) v[k] = MAXIMUM ? -INFINITY : 0.0f;
  int counted = 0;
  for (int t = 0; t < a.side[0].taps; ++t) {
    for (int r = 0; r < a.side[1].taps; ++r) {
      for (int s = 0; s < a.side[2].taps; ++s) {
        const long long pixel = volume_pixel(a, at, t, r, s);
        counted += COUNT_PADDING ? is_in_padding(a, at, t, r, s) : pixel >= 0;
        if (pixel < 0) continue;
        float u[WIDTH];
        load_vector<WIDTH>(static_cast<const TX*>(a.x) + pixel * a.c + c, u);
#pragma unroll
        for (int k = 0; k < WIDTH; ++k) v[k] = MAXIMUM ? larger(v[k], u[k]) : v[k] + u[k];
      }
    }
  }
  if (!MAXIMUM) {
    const float share = counted ? 1.0f / counted : 0.0f;
#pragma unroll
    for (int k = 0; k < WIDTH; ++k) v[k] *= share;
  }
  const long long index = static_cast<long long>(m) * a.c + c;
  epilogue<WIDTH>(v, a.epilogue, static_cast<int>(at.n), c, index, a.c, a.k);
  store_vector<WIDTH>(static_cast<TY*>(a.y) + index, v);
}
