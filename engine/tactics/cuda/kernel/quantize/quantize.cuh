// To small integers and back. TO_INTEGERS: y = saturate(round_half_even(x / scale) + zero), NaN
// becomes 0; else y = (x - zero) * scale.
//
// flat (MODE 0): a thread changes one element, in order. rows (1): WIDTH channels of a pixel from
// channels-last to channels-last with other padding, which is written as zeros; one scale. gather
// (2): the same from planes in order, lanes along pixels, for pictures. pixels (3): as gather, four
// pixels of up to 4 channels a thread. Bytes moved: every element once. Serves every SM.

struct Factors {
  float scale, zero, reciprocal;
};
__device__ __forceinline__ Factors factors_of(const QuantizeArgs& a, unsigned i) {
  return {a.scale[i], a.zero[i], TO_INTEGERS ? reciprocal_of(a.scale[i]) : 0.0f};
}

__device__ __forceinline__ float converted(float x, const Factors& f) {
#if TO_INTEGERS
  return rounded_quotient(x, f.scale, f.reciprocal) + f.zero;
#else
  return (x - f.zero) * f.scale;
#endif
}

#if MODE == 3
extern "C" __global__ void __launch_bounds__(THREADS) kernel(const QuantizeArgs a) {
  await_predecessors();
  const unsigned i = blockIdx.x * THREADS + threadIdx.x;
  if (i >= a.total) return;
  const unsigned n = divide(i, a.by_pixels), four = i - n * a.by_pixels.divisor;
  const long long plane = 4LL * a.by_pixels.divisor;
  float v[4][4];
  load_pixels(static_cast<const TX*>(a.x) + n * a.channels * plane + 4 * four, plane, a.channels,
              v);
  const Factors f = factors_of(a, 0);
#pragma unroll
  for (int j = 0; j < 16; ++j)
    v[j / 4][j % 4] = j / 4 < a.channels ? converted(v[j / 4][j % 4], f) : 0.0f;
  store_pixels(static_cast<TY*>(a.y) + (n * plane + 4 * four) * 4, v);
}
#else

extern "C" __global__ void __launch_bounds__(THREADS) kernel(const QuantizeArgs a) {
  await_predecessors();
  const unsigned i = blockIdx.x * THREADS + threadIdx.x;
  if (i >= a.total) return;
  const TX* x = static_cast<const TX*>(a.x);
  TY* y = static_cast<TY*>(a.y);
#if MODE == 0
  const unsigned s = i / a.inner % a.size;
  store_one(y + i, converted(load_one(x + i), factors_of(a, s)));
#else
  float v[WIDTH] = {};
#if MODE == 1
  const unsigned row = divide(i, a.by_vectors);
  const int c = static_cast<int>(i - row * a.by_vectors.divisor) * WIDTH;
  if (c < a.x_pitch) load_vector<WIDTH>(x + static_cast<long long>(row) * a.x_pitch + c, v);
#else
  const unsigned rest = divide(i, a.by_pixels), n = divide(rest, a.by_vectors);
  const unsigned pixel = i - rest * a.by_pixels.divisor;
  const int c = static_cast<int>(rest - n * a.by_vectors.divisor) * WIDTH;
  const long long row = static_cast<long long>(n) * a.by_pixels.divisor + pixel;
#pragma unroll
  for (int j = 0; j < WIDTH; ++j) {
    if (c + j < a.channels)
      v[j] = load_one(x + (static_cast<long long>(n) * a.channels + c + j) * a.by_pixels.divisor +
                      pixel);
  }
#endif
  const Factors f = factors_of(a, 0);
#pragma unroll
  for (int j = 0; j < WIDTH; ++j) v[j] = c + j < a.channels ? converted(v[j], f) : 0.0f;
  store_vector<WIDTH>(y + static_cast<long long>(row) * a.y_pitch + c, v);
#endif
}
#endif
