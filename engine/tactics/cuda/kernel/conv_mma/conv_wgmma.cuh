// Implicit-GEMM convolution and GEMM on tensor cores as conv_mma.cuh, by Hopper's wgmma: float16 or
// bfloat16 with float32 sums, or 8 bits with int32 sums. Behind tile.cuh and tile_epilogue.cuh.
//
// One block computes BM pixels x BN channels; each of its warpgroups WM rows of them, all columns.
// The tensor cores read both operands from shared memory, which cp.async fills, so that no warp
// issues ldmatrix and one instruction multiplies what a warp's mma.sync do one by one. Bytes moved
// a block: steps * (BM + BN) * BKB, and the outputs. SM: 90. Source: PTX ISA, "Asynchronous
// warpgroup level matrix instructions".

static_assert(WN == BN && kFragments >= 2, "a warpgroup has all columns");

// acc += A * B of a stage that has arrived, in the background.
__device__ __forceinline__ void start_products(const unsigned char* stage, int group,
                                               TSUM (&acc)[kTilesM][kTilesN][4]) {
  begin_products(acc);
#pragma unroll
  for (int k = 0; k < kFragments; ++k) {
#pragma unroll
    for (int i = 0; i < kTilesM; ++i)
      multiply_group<TX>(acc[i], stage + (group * WM + i * kRowsApart) * BKB + k * 32,
                         stage + BM * BKB + k * 32);
  }
  commit_products();
}

// acc += A * B over so many steps along K.
__device__ __forceinline__ void multiply_steps(const Args& a, Loader& loader, int steps,
                                               unsigned char* shared, int group, Copies& c,
                                               TSUM (&acc)[kTilesM][kTilesN][4]) {
  for (int step = 0; step < steps; ++step) {
    wait_async<kStepsAhead - 1>();
    show_copies();
    // The stage has arrived for everyone; the one that is copied into next nobody reads any more.
    __syncthreads();
    start_products(shared + c.read * kStageBytes, group, acc);
    start_next(a, loader, shared, c);
    wait_products<kProductsBehind>(acc);
  }
  wait_products<0>(acc);
}

extern "C" __global__ void __launch_bounds__(kThreads) kernel(const Args args) {
  extern __shared__ __align__(1024) unsigned char shared[];
  const ConvArgs& a = second_of(args);
  int tile_m = static_cast<int>(divide(blockIdx.x, a.by_tiles_k));
  int first_m = tile_m * BM, first_k = (static_cast<int>(blockIdx.x) - tile_m * a.tiles_k) * BN;
  int warp = threadIdx.x / 32, group = warp / 4;
  Loader loader = make_loader(args, first_m, first_k, 0);
  TSUM acc[kTilesM][kTilesN][4];
  begin_sums(acc);
  Copies copies = start_first(args, loader, 0, steps_of(args), shared);
  Row rows[kAhead][2];
  const int warp_first_m = first_m + group * WM + warp % 4 * 16;
#if KEEPS_SUMS
  multiply_steps(args, loader, args.first.steps, shared, group, copies, acc);
  keep_sums(args.first, warp_first_m, first_k, rows, acc);
  multiply_steps(args, loader, a.steps, shared, group, copies, acc);
#else
  if (kReadsEarly) read_first_rows(a, warp_first_m, first_k, rows);
  multiply_steps(args, loader, steps_of(args), shared, group, copies, acc);
  if (!kReadsEarly) read_first_rows(a, warp_first_m, first_k, rows);
#endif
  wait_async<0>();
  store_warp_tile(a, warp_first_m, first_k, rows, acc);
}
