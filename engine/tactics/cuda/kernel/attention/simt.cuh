// Attention without tensor cores: y = softmax(scale * q k^T + masks) v with float32 sums, for any
// strides and head sizes.
//
// A block of four warps owns 4 * ROWS queries of one matrix, a warp ROWS of them. 32 keys a step, a
// key a lane; then a lane takes every 32nd column of the values. Keys, then values pass through one
// tile of shared memory as floats. Bytes moved a block: all keys and values, its queries and
// results. Serves every SM.

constexpr int kWarps = 4, kThreads = kWarps * 32;
constexpr int kPitchK = DEPTH + 1, kPitchV = WIDTH + 1;  // neighbouring rows in other banks
constexpr int kColumns = (WIDTH + 31) / 32;              // of a lane

// 32 rows of COLUMNS elements as floats, zeros beyond the last.
template <int COLUMNS>
__device__ __forceinline__ void load_rows(float* tile, const TX* from, const MatrixPlaces& places,
                                          int rows) {
  for (int i = static_cast<int>(threadIdx.x); i < 32 * COLUMNS; i += kThreads) {
    const int row = i / COLUMNS, column = i % COLUMNS;
    tile[row * (COLUMNS + 1) + column] =
        row < rows ? load_one(from + row * places.row + column * places.column) : 0.0f;
  }
}

extern "C" __global__ void __launch_bounds__(kThreads) kernel(const AttentionArgs a) {
  await_predecessors();
  __shared__ float tile[32 * (kPitchK > kPitchV ? kPitchK : kPitchV)];
  __shared__ float queries[kWarps * ROWS][DEPTH];
  __shared__ float weights[kWarps * ROWS][32];
  const int lane = static_cast<int>(threadIdx.x) % 32,
            own = static_cast<int>(threadIdx.x) / 32 * ROWS;
  const unsigned tiles = static_cast<unsigned>(a.tiles);
  const MatrixIndex m = matrix_index(a, blockIdx.x / tiles);
  const int first = static_cast<int>(blockIdx.x % tiles) * kWarps * ROWS;
  const TX* q = static_cast<const TX*>(a.q) + start_of(a.q_places, m);
  const TX* k = static_cast<const TX*>(a.k) + start_of(a.k_places, m);
  const TX* v = static_cast<const TX*>(a.v) + start_of(a.v_places, m);
  const Masks masks = masks_of(a, m);
  const float scale = scale_of(a);
  for (int i = static_cast<int>(threadIdx.x); i < kWarps * ROWS * DEPTH; i += kThreads) {
    const int row = i / DEPTH, column = i % DEPTH;
    queries[row][column] =
        first + row < a.queries
            ? load_one(q + (first + row) * a.q_places.row + column * a.q_places.column)
            : 0.0f;
  }
  float largest[ROWS], sum[ROWS], y[ROWS][kColumns];
#pragma unroll
  for (int r = 0; r < ROWS; ++r) {
    largest[r] = -INFINITY, sum[r] = 0;
#pragma unroll
    for (int c = 0; c < kColumns; ++c) y[r][c] = 0;
  }
  for (int key = 0; key < a.keys; key += 32) {
    __syncthreads();
    load_rows<DEPTH>(tile, k + key * a.k_places.row, a.k_places, a.keys - key);
    __syncthreads();
    float s[ROWS];
#pragma unroll
    for (int r = 0; r < ROWS; ++r) s[r] = 0;
#pragma unroll 4
    for (int d = 0; d < DEPTH; ++d) {
      const float x = tile[lane * kPitchK + d];
#pragma unroll
      for (int r = 0; r < ROWS; ++r) s[r] += queries[own + r][d] * x;
    }
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
      const float score = score_of(a, masks, s[r], scale, first + own + r, key + lane);
      float top = score;
#pragma unroll
      for (int lanes = 16; lanes > 0; lanes /= 2)
        top = larger(top, __shfl_xor_sync(0xffffffffu, top, lanes));
      top = larger(largest[r], top);
      const float measure = measure_of(top), factor = weight_of(largest[r], measure);
      const float weight = weight_of(score, measure);
      largest[r] = top;
      sum[r] = sum[r] * factor + weight;
      weights[own + r][lane] = weight;
#pragma unroll
      for (int c = 0; c < kColumns; ++c) y[r][c] *= factor;
    }
    __syncthreads();
    load_rows<WIDTH>(tile, v + key * a.v_places.row, a.v_places, a.keys - key);
    __syncthreads();
#pragma unroll 4
    for (int j = 0; j < 32; ++j) {
#pragma unroll
      for (int c = 0; c < kColumns; ++c) {
        const int column = c * 32 + lane;
        const float x = column < WIDTH ? tile[j * kPitchV + column] : 0.0f;
#pragma unroll
        for (int r = 0; r < ROWS; ++r) y[r][c] += weights[own + r][j] * x;
      }
    }
  }
  TY* out = static_cast<TY*>(a.y) + start_of(a.y_places, m);
#pragma unroll
  for (int r = 0; r < ROWS; ++r) {
#pragma unroll
    for (int lanes = 16; lanes > 0; lanes /= 2)
      sum[r] += __shfl_xor_sync(0xffffffffu, sum[r], lanes);
    const float factor = 1.0f / sum[r];
    const int row = first + own + r;
#pragma unroll
    for (int c = 0; c < kColumns; ++c) {
      const int column = c * 32 + lane;
      if (row < a.queries && column < WIDTH)
        store_one(out + row * a.y_places.row + column * a.y_places.column,
                  result_of(y[r][c], sum[r], factor));
    }
  }
}
