// Attention on tensor cores: y = softmax(scale * q k^T + masks) v in TX with float32 scores
// and sums, without the scores in memory. Source: Dao, "FlashAttention-2" (2023), section 3.1.
//
// A block of QUERY_WARPS * KEY_WARPS warps owns 16 * QUERY_WARPS queries of one matrix, a warp 16
// of them and, of BK keys a step, BK / KEY_WARPS. Keys and values pass through STAGES buffers of
// shared memory. Each warp keeps its largest scores, sums and weighted values in registers (the
// fragments of the scores are those of the second product's left operand); where several warps have
// the same queries they are joined through shared memory at the end. DEPTH and WIDTH are padded to
// 16 with zeros. Bytes moved a block: all keys and values, its queries and results. SMs: 75
// (STAGES 1, register copies), 80 and later.

constexpr int kThreads = QUERY_WARPS * KEY_WARPS * 32;
constexpr int kQueries = QUERY_WARPS * 16;
constexpr int kPitchK = DEPTH + 8, kPitchV = WIDTH + 8;  // an odd number of 16 bytes: no conflicts
constexpr int kStageElements = BK * (kPitchK + kPitchV);
constexpr int kSlice = BK / KEY_WARPS;  // keys of a step that a warp takes
constexpr int kTiles = kSlice / 8;
static_assert(kSlice % 16 == 0 && DEPTH % 16 == 0 && WIDTH % 16 == 0, "tile");

// Two floats as the halves of a word.
__device__ __forceinline__ unsigned pack_pair(float low, float high) {
#if __CUDA_ARCH__ >= 800 && !defined(ENGINERY_EMULATE)
  unsigned word;
#if BFLOAT
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(high), "f"(low));
#else
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(high), "f"(low));
#endif
  return word;
#else
  return pack<TX>(low, high);
#endif
}

__device__ __forceinline__ void copy_chunk(TX* to, const TX* from, bool valid) {
#if HAVE_ASYNC_COPY
  copy_async<16>(to, from, valid);
#else
  *reinterpret_cast<Bytes16*>(to) =
      valid ? *reinterpret_cast<const Bytes16*>(from) : Bytes16{0, 0, 0, 0};
#endif
}

// ROWS rows of COLUMNS elements, `own` of which exist, to shared memory; zeros beyond.
template <int ROWS, int COLUMNS>
__device__ __forceinline__ void copy_rows(TX* to, const TX* from, int stride, int rows, int own) {
  constexpr int kChunks = COLUMNS / 8;
#pragma unroll
  for (int first = 0; first < ROWS * kChunks; first += kThreads) {
    const int i = first + static_cast<int>(threadIdx.x);
    if (ROWS * kChunks % kThreads != 0 && i >= ROWS * kChunks) break;
    const int row = i / kChunks, column = i % kChunks * 8;
    const bool valid = row < rows && column < own;
    copy_chunk(to + row * (COLUMNS + 8) + column, valid ? from + row * stride + column : from,
               valid);
  }
}

struct KeysAndValues {
  const TX* k;
  const TX* v;
};

__device__ __forceinline__ void copy_step(const AttentionArgs& a, const KeysAndValues& from,
                                          int step, TX* stage) {
  const int first = step * BK, rows = a.keys - first;
  copy_rows<BK, DEPTH>(stage, from.k + first * a.k_places.row, a.k_places.row, rows, OWN_DEPTH);
  copy_rows<BK, WIDTH>(stage + BK * kPitchK, from.v + first * a.v_places.row, a.v_places.row, rows,
                       OWN_WIDTH);
}

// What a warp knows of its 16 queries: of rows lane / 4 and lane / 4 + 8.
struct Rows {
  float largest[2], sum[2];
  float y[WIDTH / 8][4];
};

// The products of a warp's queries with its keys of a step.
__device__ __forceinline__ void multiply_keys(const unsigned (&q)[DEPTH / 16][4], const TX* k,
                                              float (&s)[kTiles][4]) {
  const int lane = static_cast<int>(threadIdx.x) % 32, matrix = lane / 8;
#pragma unroll
  for (int t = 0; t < kTiles; ++t)
#pragma unroll
    for (int e = 0; e < 4; ++e) s[t][e] = 0;
#pragma unroll
  for (int d = 0; d < DEPTH / 16; ++d) {
#pragma unroll
    for (int t = 0; t < kTiles; t += 2) {
      unsigned b[4];
      load_matrices(b, k + (t * 8 + matrix / 2 * 8 + lane % 8) * kPitchK + d * 16 + matrix % 2 * 8);
      multiply_as(TX(), s[t], q[d], b[0], b[1]);
      multiply_as(TX(), s[t + 1], q[d], b[2], b[3]);
    }
  }
}

// Scores become weights; what was summed before is measured by the new largest score.
__device__ __forceinline__ void weigh(Rows& rows, float (&s)[kTiles][4]) {
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    float largest = rows.largest[r];
#pragma unroll
    for (int t = 0; t < kTiles; ++t)
      largest = larger(larger(largest, s[t][2 * r]), s[t][2 * r + 1]);
    largest = larger(largest, __shfl_xor_sync(0xffffffffu, largest, 1));
    largest = larger(largest, __shfl_xor_sync(0xffffffffu, largest, 2));
    const float measure = measure_of(largest), factor = weight_of(rows.largest[r], measure);
    rows.largest[r] = largest;
    float sum = 0;
#pragma unroll
    for (int t = 0; t < kTiles; ++t) {
#pragma unroll
      for (int e = 2 * r; e < 2 * r + 2; ++e) {
        s[t][e] = weight_of(s[t][e], measure);
        sum += s[t][e];
      }
    }
    rows.sum[r] = rows.sum[r] * factor + sum;
#pragma unroll
    for (int n = 0; n < WIDTH / 8; ++n) rows.y[n][2 * r] *= factor, rows.y[n][2 * r + 1] *= factor;
  }
}

__device__ __forceinline__ void add_values(Rows& rows, const float (&s)[kTiles][4], const TX* v) {
  const int lane = static_cast<int>(threadIdx.x) % 32, matrix = lane / 8;
#pragma unroll
  for (int t = 0; t < kTiles; t += 2) {
    const unsigned weights[4] = {pack_pair(s[t][0], s[t][1]), pack_pair(s[t][2], s[t][3]),
                                 pack_pair(s[t + 1][0], s[t + 1][1]),
                                 pack_pair(s[t + 1][2], s[t + 1][3])};
#pragma unroll
    for (int n = 0; n < WIDTH / 16; ++n) {
      unsigned b[4];
      load_matrices_transposed(
          b, v + (t * 8 + matrix % 2 * 8 + lane % 8) * kPitchV + n * 16 + matrix / 2 * 8);
      multiply_as(TX(), rows.y[2 * n], weights, b[0], b[1]);
      multiply_as(TX(), rows.y[2 * n + 1], weights, b[2], b[3]);
    }
  }
}

// Adds what the other warps of the same queries have to the first one's.
__device__ __forceinline__ void join(Rows& rows, float* parts) {
  constexpr int kPart = (WIDTH / 2 + 4) * 32;
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const int key_warp = warp % KEY_WARPS;
  float* own = parts + warp / KEY_WARPS * (KEY_WARPS - 1) * kPart + lane;
  __syncthreads();
  if (key_warp > 0) {
    float* to = own + (key_warp - 1) * kPart;
#pragma unroll
    for (int i = 0; i < WIDTH / 2; ++i) to[i * 32] = rows.y[i / 4][i % 4];
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      to[(WIDTH / 2 + r) * 32] = rows.largest[r];
      to[(WIDTH / 2 + 2 + r) * 32] = rows.sum[r];
    }
  }
  __syncthreads();
  if (key_warp > 0) return;
  for (int part = 0; part < KEY_WARPS - 1; ++part) {
    const float* from = own + part * kPart;
    float mine[2], other[2];
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const float theirs = from[(WIDTH / 2 + r) * 32];
      const float largest = larger(rows.largest[r], theirs), measure = measure_of(largest);
      mine[r] = weight_of(rows.largest[r], measure);
      other[r] = weight_of(theirs, measure);
      rows.largest[r] = largest;
      rows.sum[r] = rows.sum[r] * mine[r] + from[(WIDTH / 2 + 2 + r) * 32] * other[r];
    }
#pragma unroll
    for (int i = 0; i < WIDTH / 2; ++i) {
      const int r = i % 4 / 2;
      rows.y[i / 4][i % 4] = rows.y[i / 4][i % 4] * mine[r] + from[i * 32] * other[r];
    }
  }
}

__device__ __forceinline__ void store_rows(const AttentionArgs& a, const Rows& rows, TX* y,
                                           int first) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    float sum = rows.sum[r];
    sum += __shfl_xor_sync(0xffffffffu, sum, 1);
    sum += __shfl_xor_sync(0xffffffffu, sum, 2);
    const float factor = 1.0f / sum;
    const int row = first + lane / 4 + r * 8;
    if (row >= a.queries) continue;
#pragma unroll
    for (int n = 0; n < WIDTH / 8; ++n) {
      const int column = n * 8 + lane % 4 * 2;
      if (column >= OWN_WIDTH) continue;
      TX* to = y + row * a.y_places.row + column * a.y_places.column;
      const float low = result_of(rows.y[n][2 * r], sum, factor),
                  high = result_of(rows.y[n][2 * r + 1], sum, factor);
#if STORES_PAIRS
      *reinterpret_cast<unsigned*>(to) = pack_pair(low, high);
#else
      store_one(to, low);
      store_one(to + a.y_places.column, high);
#endif
    }
  }
}

extern "C" __global__ void __launch_bounds__(kThreads) kernel(const AttentionArgs a) {
  await_predecessors();
  extern __shared__ __align__(128) unsigned char shared[];
  TX* queries = reinterpret_cast<TX*>(shared);
  TX* stages = queries + kQueries * kPitchK;
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const int row = warp / KEY_WARPS * 16, slice = warp % KEY_WARPS * kSlice;
  const unsigned tiles = static_cast<unsigned>(a.tiles);
  const MatrixIndex m = matrix_index(a, blockIdx.x / tiles);
  const int first = static_cast<int>(blockIdx.x % tiles) * kQueries;
  const KeysAndValues from = {static_cast<const TX*>(a.k) + start_of(a.k_places, m),
                              static_cast<const TX*>(a.v) + start_of(a.v_places, m)};
  const Masks masks = masks_of(a, m);
  const float scale = scale_of(a);
  const int steps = (a.keys + BK - 1) / BK;
  copy_rows<kQueries, DEPTH>(
      queries, static_cast<const TX*>(a.q) + start_of(a.q_places, m) + first * a.q_places.row,
      a.q_places.row, a.queries - first, OWN_DEPTH);
#pragma unroll
  for (int s = 0; s < STAGES - 1; ++s) {
    if (s < steps) copy_step(a, from, s, stages + s * kStageElements);
    commit_async();
  }
  unsigned q[DEPTH / 16][4];
  Rows rows;
#pragma unroll
  for (int r = 0; r < 2; ++r) rows.largest[r] = -INFINITY, rows.sum[r] = 0;
#pragma unroll
  for (int i = 0; i < WIDTH / 2; ++i) rows.y[i / 4][i % 4] = 0;
  for (int step = 0; step < steps; ++step) {
#if STAGES > 1
    wait_async<STAGES - 2>();
    __syncthreads();
    const int next = step + STAGES - 1;
    if (next < steps) copy_step(a, from, next, stages + next % STAGES * kStageElements);
    commit_async();
#else
    __syncthreads();
    copy_step(a, from, step, stages);
    commit_async();
    wait_async<0>();
    __syncthreads();
#endif
    if (step == 0) {
#pragma unroll
      for (int d = 0; d < DEPTH / 16; ++d)
        load_matrices(
            q[d], queries + (row + lane / 8 % 2 * 8 + lane % 8) * kPitchK + d * 16 + lane / 16 * 8);
    }
    const TX* stage = stages + step % STAGES * kStageElements;
    float s[kTiles][4];
    multiply_keys(q, stage + slice * kPitchK, s);
#pragma unroll
    for (int t = 0; t < kTiles; ++t)
#pragma unroll
      for (int e = 0; e < 4; ++e)
        s[t][e] = score_of(a, masks, s[t][e], scale, first + row + lane / 4 + e / 2 * 8,
                           step * BK + slice + t * 8 + lane % 4 * 2 + e % 2);
    weigh(rows, s);
    add_values(rows, s, stage + BK * kPitchK + slice * kPitchV);
  }
#if KEY_WARPS > 1
  join(rows, reinterpret_cast<float*>(shared));
  if (warp % KEY_WARPS > 0) return;
#endif
  store_rows(a, rows, static_cast<TX*>(a.y) + start_of(a.y_places, m), first + row);
}
