// Average or maximum over all pixels, [n][pixels][c] -> [n][c].
//
// A block of THREADS serves one image and LANES vectors of WIDTH channels: LANES threads along
// channels, the others along pixels, then a tree through shared memory in a fixed order. PARTS > 1:
// as many blocks share the pixels of an image and a second launch, of the entry join_parts, joins
// what each has found in the same way, so that the result does not depend on timing; the entry's
// name is in code that engine files hold. Bytes moved: each input once, 8 a part and channel.
// Serves every SM.

constexpr int kLines = THREADS / LANES;
using Parts = float[kLines][LANES * WIDTH + 1];  // of a block, shared

__device__ __forceinline__ void join(float& mine, float other) {
  mine = MAXIMUM ? larger(mine, other) : mine + other;
}

struct PoolPlace {
  int lane, line, n, c;
};
__device__ __forceinline__ PoolPlace pool_place() {
  const int thread = static_cast<int>(threadIdx.x), lane = thread % LANES;
  return {lane, thread / LANES, static_cast<int>(blockIdx.y),
          (static_cast<int>(blockIdx.x) * LANES + lane) * WIDTH};
}

// Of rows [begin, end) of `pitch` elements, by all threads of a block; whole in line 0.
template <typename T>
__device__ __forceinline__ void join_rows(const T* x, int begin, int end, int pitch,
                                          const PoolPlace& at, Parts& parts, float (&v)[WIDTH]) {
#pragma unroll
  for (int k = 0; k < WIDTH; ++k) v[k] = MAXIMUM ? -INFINITY : 0.0f;
  if (at.c < pitch) {
#pragma unroll 4
    for (int i = begin + at.line; i < end; i += kLines) {
      float u[WIDTH];
      load_vector<WIDTH>(x + static_cast<long long>(i) * pitch + at.c, u);
#pragma unroll
      for (int k = 0; k < WIDTH; ++k) join(v[k], u[k]);
    }
  }
  const int line = at.line;
#pragma unroll
  for (int k = 0; k < WIDTH; ++k) parts[line][at.lane * WIDTH + k] = v[k];
  for (int half = kLines / 2; half > 0; half /= 2) {
    __syncthreads();
    if (line < half) {
#pragma unroll
      for (int k = 0; k < WIDTH; ++k)
        join(parts[line][at.lane * WIDTH + k], parts[line + half][at.lane * WIDTH + k]);
    }
  }
#pragma unroll
  for (int k = 0; k < WIDTH; ++k) v[k] = parts[line][at.lane * WIDTH + k];
}

__device__ __forceinline__ void store_joined(const WindowArgs& a, const PoolPlace& at,
                                             float (&v)[WIDTH]) {
  const float scale = MAXIMUM ? 1.0f : 1.0f / (a.h * a.width);
#pragma unroll
  for (int k = 0; k < WIDTH; ++k) v[k] *= scale;
  const long long index = static_cast<long long>(at.n) * a.c + at.c;
  epilogue<WIDTH>(v, a.epilogue, at.n, at.c, index, a.c, a.channels);
  store_vector<WIDTH>(static_cast<TY*>(a.y) + index, v);
}

extern "C" __global__ void __launch_bounds__(THREADS) kernel(const WindowArgs a) {
  __shared__ Parts parts;
  await_predecessors();
  const PoolPlace at = pool_place();
  const int pixels = a.h * a.width, share = (pixels + PARTS - 1) / PARTS,
            part = static_cast<int>(blockIdx.z), begin = part * share;
  const int end = begin + share < pixels ? begin + share : pixels;
  float v[WIDTH];
  join_rows(static_cast<const TX*>(a.x) + static_cast<long long>(at.n) * pixels * a.c, begin, end,
            a.c, at, parts, v);
  if (at.line != 0 || at.c >= a.c) return;
#if PARTS > 1
  store_vector<WIDTH>(a.sums + (static_cast<long long>(at.n) * PARTS + part) * a.c + at.c, v);
#else
  store_joined(a, at, v);
#endif
}

#if PARTS > 1
extern "C" __global__ void __launch_bounds__(THREADS) join_parts(const WindowArgs a) {
  __shared__ Parts parts;
  await_predecessors();
  const PoolPlace at = pool_place();
  float v[WIDTH];
  join_rows(static_cast<const float*>(a.sums) + static_cast<long long>(at.n) * PARTS * a.c, 0,
            PARTS, a.c, at, parts, v);
  if (at.line == 0 && at.c < a.c) store_joined(a, at, v);
}
#endif
