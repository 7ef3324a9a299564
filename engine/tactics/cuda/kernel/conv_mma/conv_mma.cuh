// Implicit-GEMM convolution and GEMM on tensor cores: Y = epilogue(X * W), NHWC x KRSC, float16,
// bfloat16 or tf32 with float32 sums, or 8 bits with int32 sums, by mma.sync. Behind tile.cuh and
// tile_epilogue.cuh.
//
// One block computes BM pixels x BN channels; warps tile it in WM x WN. Operands come through
// STAGES buffers of shared memory. CLUSTER > 1 (sm_90), cluster split-K: a cluster of CLUSTER
// blocks shares the steps along K and adds the partial sums through distributed shared memory, in
// the blocks' order. SPLIT_K: the partial sums go to memory instead, split_k.cuh adds them. Bytes
// moved a block: steps * (BM + BN) * BKB, and the outputs. SMs: 75 (float16 and 8 bits, register
// copies), 80 and later.

static_assert(kFragments % 2 == 0, "the first fragments of a stage follow the last ones in place");

// The copies of tile.cuh by registers, for SMs without cp.async: loaded before the arithmetic of a
// step, stored to shared memory after it.
struct Loaded {
  Bytes16 a[kCopiesA], b[kCopiesB];
};
__device__ __forceinline__ Bytes16 load_chunk(const ConvArgs& a, const PixelWindow& w,
                                              const FilterStep& f, int offset) {
#if COLUMNS == 1
  return inside(a, w, f) ? *reinterpret_cast<const Bytes16*>(w.base + offset) : Bytes16{0, 0, 0, 0};
#else
  unsigned words[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int j = i * COLUMNS / 4;
    const unsigned* from =
        reinterpret_cast<const unsigned*>(w.base + offset + j * a.dilation_w * channels_apart(a));
    words[i] = inside(a, w, FilterStep{f.r, f.s + j, f.c}) ? from[i % (4 / COLUMNS)] : 0u;
  }
  return Bytes16{words[0], words[1], words[2], words[3]};
#endif
}
__device__ __forceinline__ void load_global(const ConvArgs& a, Loader& l, Loaded& out) {
  int offset = step_offset(a, l.next);
#pragma unroll
  for (int i = 0; i < kCopiesA; ++i) out.a[i] = load_chunk(a, l.window[i], l.next, offset);
#pragma unroll
  for (int i = 0; i < kCopiesB; ++i) {
    out.b[i] = *reinterpret_cast<const Bytes16*>(l.w + static_cast<long long>(i * kRowsAtOnce) *
                                                           a.w_pitch);
  }
  l.w += BK;
}
__device__ __forceinline__ void store_shared(const Loader& l, const Loaded& in,
                                             unsigned char* stage) {
#pragma unroll
  for (int i = 0; i < kCopiesA; ++i)
    *reinterpret_cast<Bytes16*>(stage + swizzled(l.row + i * kRowsAtOnce, l.chunk)) = in.a[i];
#pragma unroll
  for (int i = 0; i < kCopiesB; ++i)
    *reinterpret_cast<Bytes16*>(stage + BM * BKB +
                                swizzled_weights(l.row + i * kRowsAtOnce, l.chunk)) = in.b[i];
}

__device__ __forceinline__ void load_fragments(const unsigned char* stage, int warp_m, int warp_n,
                                               int k, Fragments& f) {
  int lane = threadIdx.x % 32;
  int a_row = warp_m * WM + lane % 16, a_chunk = lane / 16;
  int b_row = warp_n * WN + lane % 2, b_chunk = lane / 8 % 2;
#pragma unroll
  for (int i = 0; i < kTilesM; ++i)
    load_matrices(f.a[i], stage + swizzled(a_row + i * 16, 2 * k + a_chunk));
#pragma unroll
  for (int j = 0; j < kTilesN / 2; ++j)
    load_matrices(f.b[j], stage + BM * BKB +
                              swizzled_weights(b_row + column_of(2 * j + lane / 16, lane % 8 / 2),
                                               2 * k + b_chunk));
}

// acc += A * B of a stage that has arrived.
__device__ __forceinline__ void multiply_stage(const unsigned char* stage, int warp_m, int warp_n,
                                               TSUM (&acc)[kTilesM][kTilesN][4]) {
#pragma unroll
  for (int k = 0; k < kFragments; ++k) {
    Fragments f;
    load_fragments(stage, warp_m, warp_n, k, f);
    multiply_tile(f, acc);
  }
}

#if HAVE_ASYNC_COPY
// Large warp tiles load fragments while those before them are multiplied, across stages too. Small
// ones have several blocks on an SM instead, for which two sets of fragments leave no registers.
__device__ __forceinline__ void multiply_ahead(const Args& a, Loader& loader, int begin, int end,
                                               unsigned char* shared, int warp_m, int warp_n,
                                               Copies& c, TSUM (&acc)[kTilesM][kTilesN][4]) {
  Fragments f[2];
  wait_async<kStepsAhead - 1>();
  __syncthreads();
  load_fragments(shared + c.read * kStageBytes, warp_m, warp_n, 0, f[0]);
  for (int step = begin; step < end; ++step) {
    const unsigned char* stage = shared + c.read * kStageBytes;
    start_next(a, loader, shared, c);
#pragma unroll
    for (int k = 0; k < kFragments; ++k) {
      const bool last = k + 1 == kFragments;
      if (last) {
        // The next stage has arrived for everyone, and nobody reads this one any more.
        wait_async<kStepsAhead - 1>();
        __syncthreads();
      }
      load_fragments(last ? shared + c.read * kStageBytes : stage, warp_m, warp_n, last ? 0 : k + 1,
                     f[(k + 1) % 2]);
      multiply_tile(f[k % 2], acc);
    }
  }
}

// acc += A * B over the steps [begin, end) along K. All threads must meet before shared memory is
// used again.
__device__ __forceinline__ void multiply_steps(const Args& a, Loader& loader, int begin, int end,
                                               unsigned char* shared, int warp_m, int warp_n,
                                               Copies& c, TSUM (&acc)[kTilesM][kTilesN][4]) {
  if constexpr (kLargeTiles) {
    multiply_ahead(a, loader, begin, end, shared, warp_m, warp_n, c, acc);
  } else {
    for (int step = begin; step < end; ++step) {
      wait_async<kStepsAhead - 1>();
      __syncthreads();
      const unsigned char* stage = shared + c.read * kStageBytes;
      start_next(a, loader, shared, c);
      multiply_stage(stage, warp_m, warp_n, acc);
    }
  }
}
__device__ __forceinline__ void end_copies() {
  wait_async<0>();
}
#else
// The same by registers.
struct Copies {};
__device__ __forceinline__ Copies start_first(const Args& a, Loader& loader, int begin, int end,
                                              unsigned char* shared) {
  await_predecessors();
  Loaded loaded;
  if (begin < end) {
    load_global(second_of(a), loader, loaded);
    store_shared(loader, loaded, shared);
  }
  advance_inputs(a, loader);
  return {};
}
__device__ __forceinline__ void multiply_steps(const Args& a, Loader& loader, int begin, int end,
                                               unsigned char* shared, int warp_m, int warp_n,
                                               Copies&, TSUM (&acc)[kTilesM][kTilesN][4]) {
  Loaded loaded;
  for (int step = begin; step < end; ++step) {
    __syncthreads();
    bool more = step + 1 < end;
    if (more) load_global(second_of(a), loader, loaded);
    advance_inputs(a, loader);
    multiply_stage(shared + (step - begin) % 2 * kStageBytes, warp_m, warp_n, acc);
    if (more) store_shared(loader, loaded, shared + (step - begin + 1) % 2 * kStageBytes);
  }
}
__device__ __forceinline__ void end_copies() {}
#endif

__device__ __forceinline__ void store_epilogue(const ConvArgs& a, float (&v)[8], int m, int k) {
  long long index = static_cast<long long>(m) * a.ldy + k;
  epilogue<8>(v, a.epilogue, static_cast<int>(divide(static_cast<unsigned>(m), a.by_pixels)), k,
              index, a.ldy, a.k);
  store_vector<8>(output_place(a, m, k, index), v);
}

#if CLUSTER > 1
// Epilogue of a tile whose partial sums lie in the shared memory of the cluster's blocks: each
// block stores its share.
__device__ __forceinline__ void store_cluster_tile(const ConvArgs& a, unsigned char* shared,
                                                   int first_m, int first_k, int warp_m, int warp_n,
                                                   TSUM (&acc)[kTilesM][kTilesN][4]) {
  constexpr int kPitch = BN + 4, kVectors = BM * BN / 8;  // 4: stores without bank conflicts
  TSUM* tile = reinterpret_cast<TSUM*>(shared);
  store_fragments(tile, kPitch, warp_m, warp_n, BM, acc);
  cluster_sync();
  for (int i = blockIdx.z * kThreads + threadIdx.x; i < kVectors; i += CLUSTER * kThreads) {
    int row = i / (BN / 8), column = i % (BN / 8) * 8;
    int m = first_m + row, k = first_k + column;
    if (m >= a.m || k >= a.ldy) continue;
    TSUM sum[8] = {0, 0, 0, 0, 0, 0, 0, 0};
#pragma unroll
    for (int part = 0; part < CLUSTER; ++part) {
      TSUM low[4], high[4];
      load_sums(tile + row * kPitch + column, part, low);
      load_sums(tile + row * kPitch + column + 4, part, high);
#pragma unroll
      for (int j = 0; j < 4; ++j) sum[j] += low[j], sum[j + 4] += high[j];
    }
    float v[8];
#pragma unroll
    for (int j = 0; j < 8; ++j) v[j] = static_cast<float>(sum[j]);
    store_epilogue(a, v, m, k);
  }
  cluster_sync();  // no block may leave while others read its partial sums
}
#endif

extern "C" __global__ void __launch_bounds__(kThreads)
#if CLUSTER > 1 && !defined(ENGINERY_EMULATE)
    __cluster_dims__(1, 1, CLUSTER)
#endif
        kernel(const Args args) {
  extern __shared__ __align__(128) unsigned char shared[];
  const ConvArgs& a = second_of(args);
  int tile_m = static_cast<int>(divide(blockIdx.x, a.by_tiles_k));
  int first_m = tile_m * BM, first_k = (static_cast<int>(blockIdx.x) - tile_m * a.tiles_k) * BN;
  int warp = threadIdx.x / 32, warp_m = warp % (BM / WM), warp_n = warp / (BM / WM);
  int part = blockIdx.z;
  const long long steps = steps_of(args);
  int begin = static_cast<int>(steps * part / a.split_k);
  int end = static_cast<int>(steps * (part + 1) / a.split_k);
  Loader loader = make_loader(args, first_m, first_k, begin);
  TSUM acc[kTilesM][kTilesN][4];
  begin_sums(acc);
  Copies copies = start_first(args, loader, begin, end, shared);
#if SPLIT_K
  multiply_steps(args, loader, begin, end, shared, warp_m, warp_n, copies, acc);
  end_copies();
  TSUM* sums = reinterpret_cast<TSUM*>(a.partial_sums) +
               (static_cast<long long>(part) * a.m + first_m) * (a.tiles_k * BN) + first_k;
  store_fragments(sums, a.tiles_k * BN, warp_m, warp_n, a.m - first_m, acc);
#elif CLUSTER > 1
  multiply_steps(args, loader, begin, end, shared, warp_m, warp_n, copies, acc);
  end_copies();
  __syncthreads();
  store_cluster_tile(a, shared, first_m, first_k, warp_m, warp_n, acc);
#else
  Row rows[kAhead][2];
  const int warp_first_m = first_m + warp_m * WM, warp_first_k = first_k + warp_n * WN;
#if KEEPS_SUMS
  multiply_steps(args, loader, begin, args.first.steps, shared, warp_m, warp_n, copies, acc);
  keep_sums(args.first, warp_first_m, warp_first_k, rows, acc);
  multiply_steps(args, loader, args.first.steps, end, shared, warp_m, warp_n, copies, acc);
#else
  if (kReadsEarly) read_first_rows(a, warp_first_m, warp_first_k, rows);
  multiply_steps(args, loader, begin, end, shared, warp_m, warp_n, copies, acc);
  if (!kReadsEarly) read_first_rows(a, warp_first_m, warp_first_k, rows);
#endif
  end_copies();
  store_warp_tile(a, warp_first_m, warp_first_k, rows, acc);
#endif
}
