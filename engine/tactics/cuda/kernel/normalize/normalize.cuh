// Normalisation of rows of SIZE elements side by side: y = (x - mean) / sqrt(variance + epsilon) *
// scale + bias; without a centre (CENTRED 0) the mean counts as 0. Element i of row r takes scale
// and bias at r % PERIOD * STEP + i / EACH.
//
// LANES threads own a row: a part of a warp, a warp or the whole block. HELD > 0: a thread keeps
// HELD vectors of WIDTH elements in registers, so that memory is read once and the variance is
// taken of differences from the mean. HELD 0, for longer rows: they are read three times, through
// the caches. Bytes moved an element: one read, one write. Serves every SM.

__device__ __forceinline__ float row_sum(float v) {
#pragma unroll
  for (int lanes = (LANES < 32 ? LANES : 32) / 2; lanes > 0; lanes /= 2)
    v += __shfl_xor_sync(0xffffffffu, v, lanes);
#if LANES > 32
  __shared__ float parts[THREADS / 32];
  __syncthreads();
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = v;
  __syncthreads();
  v = parts[0];
#pragma unroll
  for (int i = 1; i < THREADS / 32; ++i) v += parts[i];
#endif
  return v;
}

__device__ __forceinline__ float add_up(const float (&v)[WIDTH]) {
  float sum = 0;
#pragma unroll
  for (int j = 0; j < WIDTH; ++j) sum += v[j];
  return sum;
}

__device__ __forceinline__ float add_squares(const float (&v)[WIDTH], float mean) {
  float sum = 0;
#pragma unroll
  for (int j = 0; j < WIDTH; ++j) sum += (v[j] - mean) * (v[j] - mean);
  return sum;
}

// Scale or bias of WIDTH elements from i on.
__device__ __forceinline__ void load_factors(const float* p, unsigned row, unsigned i,
                                             float (&u)[WIDTH]) {
  const unsigned first = row % PERIOD * STEP;
#if EACH == 1
  load_vector<WIDTH>(p + first + i, u);
#else
#pragma unroll
  for (int j = 0; j < WIDTH; ++j) u[j] = p[first + (EACH % WIDTH == 0 ? i : i + j) / EACH];
#endif
}

__device__ __forceinline__ void finish(float (&v)[WIDTH], const NormalizeArgs& a, unsigned row,
                                       unsigned i, float mean, float factor) {
  float u[WIDTH];
  load_factors(a.scale, row, i, u);
#pragma unroll
  for (int j = 0; j < WIDTH; ++j) v[j] = (v[j] - mean) * factor * u[j];
#if HAS_BIAS
  load_factors(a.bias, row, i, u);
#pragma unroll
  for (int j = 0; j < WIDTH; ++j) v[j] += u[j];
#endif
  const long long index = static_cast<long long>(row) * SIZE + i;
  epilogue<WIDTH>(v, a.epilogue, 0, static_cast<int>(index % a.ldy), index, a.ldy, a.ldy);
  store_vector<WIDTH>(static_cast<TY*>(a.y) + index, v);
}

__device__ __forceinline__ float factor_of(float squares, float epsilon) {
  return 1.0f / sqrtf(squares / SIZE + epsilon);
}

#if HELD > 0
extern "C" __global__ void __launch_bounds__(THREADS) kernel(const NormalizeArgs a) {
  await_predecessors();
  const unsigned lane = threadIdx.x % LANES,
                 own = blockIdx.x * (THREADS / LANES) + threadIdx.x / LANES;
  // Every lane takes part in the sums of its warp, those beyond the last row with that row's.
  const unsigned row = own < a.rows ? own : a.rows - 1;
  const TX* x = static_cast<const TX*>(a.x) + static_cast<long long>(row) * SIZE;
  float v[HELD][WIDTH], sum = 0, squares = 0;
#pragma unroll
  for (int h = 0; h < HELD; ++h) {
    const unsigned i = (h * LANES + lane) * WIDTH;
#pragma unroll
    for (int j = 0; j < WIDTH; ++j) v[h][j] = 0;
    if (i < SIZE) load_vector<WIDTH>(x + i, v[h]);
  }
#if CENTRED
#pragma unroll
  for (int h = 0; h < HELD; ++h) sum += add_up(v[h]);
  const float mean = row_sum(sum) / SIZE;
#else
  const float mean = sum;
#endif
#pragma unroll
  for (int h = 0; h < HELD; ++h)
    if ((h * LANES + lane) * WIDTH < SIZE) squares += add_squares(v[h], mean);
  const float factor = factor_of(row_sum(squares), a.epsilon);
#pragma unroll
  for (int h = 0; h < HELD; ++h) {
    const unsigned i = (h * LANES + lane) * WIDTH;
    if (i < SIZE && own < a.rows) finish(v[h], a, row, i, mean, factor);
  }
}
#else
extern "C" __global__ void __launch_bounds__(THREADS) kernel(const NormalizeArgs a) {
  await_predecessors();
  const unsigned row = blockIdx.x;
  const TX* x = static_cast<const TX*>(a.x) + static_cast<long long>(row) * SIZE;
  float v[WIDTH], sum = 0, squares = 0;
#if CENTRED
  for (unsigned i = threadIdx.x * WIDTH; i < SIZE; i += THREADS * WIDTH) {
    load_vector<WIDTH>(x + i, v);
    sum += add_up(v);
  }
  const float mean = row_sum(sum) / SIZE;
#else
  const float mean = sum;
#endif
  for (unsigned i = threadIdx.x * WIDTH; i < SIZE; i += THREADS * WIDTH) {
    load_vector<WIDTH>(x + i, v);
    squares += add_squares(v, mean);
  }
  const float factor = factor_of(row_sum(squares), a.epsilon);
  for (unsigned i = threadIdx.x * WIDTH; i < SIZE; i += THREADS * WIDTH) {
    load_vector<WIDTH>(x + i, v);
    finish(v, a, row, i, mean, factor);
  }
}
#endif
