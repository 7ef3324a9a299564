// Implicit-GEMM convolution and GEMM without tensor cores, NHWC x KRSC: float32 arithmetic, storage
// float32 or float16; or 8 bits with int32 sums, where an element is a word of four channels (TX
// int).
//
// One block computes BM pixels x BN channels in threads of TM x 8; a thread owns channels 4t..4t+3
// of both halves of the tile, so that its reads of shared memory are free of conflicts. Operands
// come 4 elements a load, are widened and stored transposed, two buffers. With SPLIT_K, K is
// divided among the blocks of one tile (split_k.cuh). Bytes moved a block: steps * (BM + BN) * BK
// elements, and the outputs. Serves every SM.

constexpr int kColumns = BN / 8, kThreads = BM / TM * kColumns;
constexpr int kVectors = BK / 4;
constexpr int kRowsAtOnce = kThreads / kVectors;
constexpr int kLoadsA = (BM + kRowsAtOnce - 1) / kRowsAtOnce,
              kLoadsB = (BN + kRowsAtOnce - 1) / kRowsAtOnce;
constexpr int kPitchA = BM + 4, kPitchB = BN + 4;
constexpr int kStage = BK * (kPitchA + kPitchB);
static_assert(kThreads % kVectors == 0 && TM % 4 == 0, "tile");

__device__ __forceinline__ void multiply_add(float& sum, float a, float b) {
  sum += a * b;
}

struct Loaded {
  TSUM a[kLoadsA][4], b[kLoadsB][4];
};

__device__ __forceinline__ void load_global(const ConvArgs& a, const PixelWindow (&window)[kLoadsA],
                                            const TX* w, int row, const FilterStep& f,
                                            Loaded& out) {
  int offset = step_offset(a, f);
#pragma unroll
  for (int i = 0; i < kLoadsA; ++i) {
    if (inside(a, window[i], f)) {
      load_vector<4>(window[i].base + offset, out.a[i]);
    } else {
#pragma unroll
      for (int j = 0; j < 4; ++j) out.a[i][j] = 0;
    }
  }
#pragma unroll
  for (int i = 0; i < kLoadsB; ++i) {
    if (BN % kRowsAtOnce == 0 || row + i * kRowsAtOnce < BN) {
      load_vector<4>(w + static_cast<long long>(i * kRowsAtOnce) * a.w_pitch, out.b[i]);
    }
  }
}

__device__ __forceinline__ void store_shared(const Loaded& in, TSUM* stage, int row, int vector) {
#pragma unroll
  for (int i = 0; i < kLoadsA; ++i) {
    int r = row + i * kRowsAtOnce;
    if (BM % kRowsAtOnce == 0 || r < BM) {
#pragma unroll
      for (int j = 0; j < 4; ++j) stage[(vector * 4 + j) * kPitchA + r] = in.a[i][j];
    }
  }
#pragma unroll
  for (int i = 0; i < kLoadsB; ++i) {
    int r = row + i * kRowsAtOnce;
    if (BN % kRowsAtOnce == 0 || r < BN) {
#pragma unroll
      for (int j = 0; j < 4; ++j) stage[BK * kPitchA + (vector * 4 + j) * kPitchB + r] = in.b[i][j];
    }
  }
}

__device__ __forceinline__ void multiply_stage(const TSUM* stage, int tm, int tn,
                                               TSUM (&acc)[TM][8]) {
#pragma unroll
  for (int k = 0; k < BK; ++k) {
    TSUM a[TM], b[2][4];
    load_vector<TM>(stage + k * kPitchA + tm * TM, a);
    load_vector<4>(stage + BK * kPitchA + k * kPitchB + tn * 4, b[0]);
    load_vector<4>(stage + BK * kPitchA + k * kPitchB + BN / 2 + tn * 4, b[1]);
#pragma unroll
    for (int i = 0; i < TM; ++i) {
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        multiply_add(acc[i][j], a[i], b[0][j]);
        multiply_add(acc[i][j + 4], a[i], b[1][j]);
      }
    }
  }
}

__device__ __forceinline__ void store_epilogue(const ConvArgs& a, float (&v)[4], int m, int k) {
  long long index = static_cast<long long>(m) * a.ldy + k;
  epilogue<4>(v, a.epilogue, static_cast<int>(divide(static_cast<unsigned>(m), a.by_pixels)), k,
              index, a.ldy, a.k);
  store_vector<4>(output_place(a, m, k, index), v);
}

// Four neighbouring channels of one pixel: through the epilogue, or to this part's partial sums.
__device__ __forceinline__ void store_outputs(const ConvArgs& a, const TSUM* acc, int m, int k) {
  if (m >= a.m) return;
  TSUM sum[4] = {acc[0], acc[1], acc[2], acc[3]};
#if SPLIT_K
  store_vector<4>(reinterpret_cast<TSUM*>(a.partial_sums) +
                      (static_cast<long long>(blockIdx.z) * a.m + m) * (a.tiles_k * BN) + k,
                  sum);
#else
  float v[4];
#pragma unroll
  for (int j = 0; j < 4; ++j) v[j] = static_cast<float>(sum[j]);
  if (k < a.ldy) store_epilogue(a, v, m, k);
#endif
}

extern "C" __global__ void __launch_bounds__(kThreads) kernel(const ConvArgs a) {
  await_predecessors();
  __shared__ __align__(16) TSUM shared[2 * kStage];
  int tile_m = static_cast<int>(divide(blockIdx.x, a.by_tiles_k));
  int first_m = tile_m * BM, first_k = (static_cast<int>(blockIdx.x) - tile_m * a.tiles_k) * BN;
  int vector = threadIdx.x % kVectors, row = threadIdx.x / kVectors;
  int tn = threadIdx.x % kColumns, tm = threadIdx.x / kColumns;
  PixelWindow window[kLoadsA];
#pragma unroll
  for (int i = 0; i < kLoadsA; ++i) window[i] = pixel_window(a, first_m + row + i * kRowsAtOnce);
  const TX* w =
      static_cast<const TX*>(a.w) + static_cast<long long>(first_k + row) * a.w_pitch + vector * 4;
  int begin = 0, end = a.steps;
#if SPLIT_K
  begin = static_cast<int>(static_cast<long long>(a.steps) * blockIdx.z / a.split_k);
  end = static_cast<int>(static_cast<long long>(a.steps) * (blockIdx.z + 1) / a.split_k);
#endif
  w += begin * BK;
  FilterStep next = filter_step(a, begin, vector * 4);
  TSUM acc[TM][8] = {};
  Loaded loaded;
  load_global(a, window, w, row, next, loaded);
  store_shared(loaded, shared, row, vector);
  for (int step = begin; step < end; ++step) {
    __syncthreads();
    bool more = step + 1 < end;
    advance(a, next);
    w += BK;
    if (more) load_global(a, window, w, row, next, loaded);
    multiply_stage(shared + (step - begin) % 2 * kStage, tm, tn, acc);
    if (more) store_shared(loaded, shared + (step - begin + 1) % 2 * kStage, row, vector);
  }
#pragma unroll
  for (int i = 0; i < TM; ++i) {
    int m = first_m + tm * TM + i;
    store_outputs(a, acc[i], m, first_k + tn * 4);
    store_outputs(a, acc[i] + 4, m, first_k + BN / 2 + tn * 4);
  }
}
