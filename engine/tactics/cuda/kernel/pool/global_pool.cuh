// Average or maximum over all pixels, [n][pixels][c] -> [n][c].
//
// A block of 256 threads serves one image and 8 vectors of WIDTH channels: 8 lanes along channels,
// 32 along pixels, then a tree through shared memory in a fixed order. Bytes moved: each input
// once. Serves every SM.

extern "C" __global__ void __launch_bounds__(256) kernel(const WindowArgs a) {
  await_predecessors();
  __shared__ float parts[32][8 * WIDTH + 1];
  int lane = threadIdx.x % 8, line = threadIdx.x / 8;
  int n = blockIdx.y, c = (static_cast<int>(blockIdx.x) * 8 + lane) * WIDTH;
  int pixels = a.h * a.width;
  float v[WIDTH];
#pragma unroll
  for (int k = 0; k < WIDTH; ++k) v[k] = MAXIMUM ? -INFINITY : 0.0f;
  if (c < a.c) {
    for (int i = line; i < pixels; i += 32) {
      float u[WIDTH];
      load_vector<WIDTH>(
          static_cast<const TX*>(a.x) + (static_cast<long long>(n) * pixels + i) * a.c + c, u);
#pragma unroll
      for (int k = 0; k < WIDTH; ++k) v[k] = MAXIMUM ? larger(v[k], u[k]) : v[k] + u[k];
    }
  }
#pragma unroll
  for (int k = 0; k < WIDTH; ++k) parts[line][lane * WIDTH + k] = v[k];
  for (int half = 16; half > 0; half /= 2) {
    __syncthreads();
    if (line < half) {
#pragma unroll
      for (int k = 0; k < WIDTH; ++k) {
        float other = parts[line + half][lane * WIDTH + k];
        float& mine = parts[line][lane * WIDTH + k];
        mine = MAXIMUM ? larger(mine, other) : mine + other;
      }
    }
  }
  if (line != 0 || c >= a.c) return;
  float scale = MAXIMUM ? 1.0f : 1.0f / pixels;
#pragma unroll
  for (int k = 0; k < WIDTH; ++k) v[k] = parts[0][lane * WIDTH + k] * scale;
  long long index = static_cast<long long>(n) * a.c + c;
  epilogue<WIDTH>(v, a.epilogue, n, c, index, a.c, a.channels);
  store_vector<WIDTH>(static_cast<TY*>(a.y) + index, v);
}
