// Changes of layout between [n][c][pixels] and [n][pixels][pitch], pitch >= c, with or without a
// change of type.
//
// gather: a thread writes WIDTH channels of one pixel, lanes along pixels: for few channels
// (pictures). tile: a block turns a 32 x 32 tile of (c, pixels) through shared memory, so that both
// sides coalesce. rows: [n * pixels][pitch_in] -> [n * pixels][pitch_out], WIDTH elements a thread.
// pixels: as gather, four pixels of up to 4 channels a thread.
// Padding channels are written as zeros. Bytes moved an element: one read, one write. Serves every
// SM.

#if MODE == 0
extern "C" __global__ void __launch_bounds__(THREADS) kernel(const ReformatArgs a) {
  await_predecessors();
  int i = static_cast<int>(blockIdx.x) * THREADS + threadIdx.x;
  if (i >= a.total) return;
  unsigned rest = divide(static_cast<unsigned>(i), a.by_pixels);
  int pixel = i - static_cast<int>(rest * a.by_pixels.divisor);
  unsigned n = divide(rest, a.by_vectors);
  int c = static_cast<int>(rest - n * a.by_vectors.divisor) * WIDTH;
  float v[WIDTH];
#pragma unroll
  for (int k = 0; k < WIDTH; ++k) {
    v[k] = c + k < a.c ? load_one(static_cast<const TX*>(a.x) +
                                  (static_cast<long long>(n) * a.c + c + k) * a.pixels + pixel)
                       : 0.0f;
  }
  store_vector<WIDTH>(
      static_cast<TY*>(a.y) + (static_cast<long long>(n) * a.pixels + pixel) * a.pitch + c, v);
}
#elif MODE == 4
extern "C" __global__ void __launch_bounds__(THREADS) kernel(const ReformatArgs a) {
  await_predecessors();
  const unsigned i = blockIdx.x * THREADS + threadIdx.x;
  if (i >= static_cast<unsigned>(a.total)) return;
  const unsigned n = divide(i, a.by_pixels), four = i - n * a.by_pixels.divisor;
  const long long plane = a.pixels;
  float v[4][4];
  load_pixels(static_cast<const TX*>(a.x) + n * a.c * plane + 4 * four, plane, a.c, v);
  store_pixels(static_cast<TY*>(a.y) + (n * plane + 4 * four) * 4, v);
}
#elif MODE == 1 || MODE == 2
// 1: to channels last, 2: to linear. blockIdx: (tile of pixels, tile of channels, n)
extern "C" __global__ void __launch_bounds__(THREADS) kernel(const ReformatArgs a) {
  await_predecessors();
  __shared__ float tile[32][33];
  int column = threadIdx.x % 32, line = threadIdx.x / 32;
  int pixel0 = blockIdx.x * 32, c0 = blockIdx.y * 32;
  long long n = blockIdx.z;
  for (int i = line; i < 32; i += THREADS / 32) {
    int c = MODE == 1 ? c0 + i : c0 + column, pixel = MODE == 1 ? pixel0 + column : pixel0 + i;
    long long from =
        MODE == 1 ? (n * a.c + c) * a.pixels + pixel : (n * a.pixels + pixel) * a.pitch + c;
    float v = c < a.c && pixel < a.pixels ? load_one(static_cast<const TX*>(a.x) + from) : 0.0f;
    if (MODE == 1)
      tile[i][column] = v;
    else
      tile[column][i] = v;
  }
  __syncthreads();
  for (int i = line; i < 32; i += THREADS / 32) {
    int c = MODE == 1 ? c0 + column : c0 + i, pixel = MODE == 1 ? pixel0 + i : pixel0 + column;
    if (pixel >= a.pixels || c >= (MODE == 1 ? a.pitch : a.c)) continue;
    long long to =
        MODE == 1 ? (n * a.pixels + pixel) * a.pitch + c : (n * a.c + c) * a.pixels + pixel;
    store_one(static_cast<TY*>(a.y) + to, MODE == 1 ? tile[column][i] : tile[i][column]);
  }
}
#else
// `pixels` is the input's pitch here, by_vectors divides by the output's vectors. WIDTH divides
// both.
extern "C" __global__ void __launch_bounds__(THREADS) kernel(const ReformatArgs a) {
  await_predecessors();
  const unsigned i = blockIdx.x * THREADS + threadIdx.x;
  if (i >= static_cast<unsigned>(a.total)) return;
  const unsigned row = divide(i, a.by_vectors);
  const int c = static_cast<int>(i - row * a.by_vectors.divisor) * WIDTH;
  float v[WIDTH] = {};
  if (c < a.pixels)
    load_vector<WIDTH>(static_cast<const TX*>(a.x) + static_cast<long long>(row) * a.pixels + c, v);
#pragma unroll
  for (int j = 0; j < WIDTH; ++j) v[j] = c + j < a.c ? v[j] : 0.0f;
  store_vector<WIDTH>(static_cast<TY*>(a.y) + static_cast<long long>(i) * WIDTH, v);
}
#endif
