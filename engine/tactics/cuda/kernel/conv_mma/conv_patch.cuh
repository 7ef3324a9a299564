// Implicit-GEMM convolution of a picture on tensor cores by mma.sync: x has up to 4 channels,
// padded to 4, and windows begin two columns apart. Behind tile.cuh and tile_epilogue.cuh.
//
// One block computes PATCH_ROWS rows of BM output columns and BN channels, a warp WM x WN of a row.
// What the windows cover, the patch, is copied to shared memory once; a row of a window is then
// kRowBytes in a row that ldmatrix takes where they are. Of 8 bits every second window begins
// between multiples of 16 bytes: those are read from a second patch, 8 bytes shifted. All weights
// of the BN channels stay beside it. Bytes moved a block: the patch, BN * FILTER_R * kRowBytes, and
// the outputs. SMs: 80 and later. FILTER_R, S_PITCH, STRIDE_H, OUT_P, OUT_Q: the shape.

constexpr int kPixelBytes = 4 * sizeof(TX), kRowBytes = S_PITCH * kPixelBytes;
constexpr int kUnitBytes = 2 * kPixelBytes;  // two columns, inside the input together or outside
constexpr int kPatches = kUnitBytes == 8 ? 2 : 1;
constexpr int kUnitsOfRow = BM + S_PITCH / 2 - 1;
constexpr int kPatchRows = (PATCH_ROWS - 1) * STRIDE_H + FILTER_R;
constexpr int kPatchPitch = (kUnitsOfRow * kUnitBytes + 15) / 16 * 16;
// From one patch to the next: 64 bytes beyond a multiple of 128, so that neighbours are in other
// banks.
constexpr int kPatchBytes = (kPatchRows * kPatchPitch + 127) / 128 * 128 + 64;
constexpr int kFilterBytes = FILTER_R * kRowBytes;
constexpr int kFilterPitch = kFilterBytes + (kFilterBytes / 16 % 2 == 0 ? 16 : 32);
static_assert(kRowBytes % 32 == 0 && kPatchBytes * kPatches + BN * kFilterPitch == PATCH_SHARED,
              "patch");

// The first row, column and image of a block's outputs.
struct PatchPlace {
  int n, p, q;
};
__device__ __forceinline__ PatchPlace patch_place(unsigned tile) {
  constexpr unsigned kAcross = (OUT_Q + BM - 1) / BM, kDown = (OUT_P + PATCH_ROWS - 1) / PATCH_ROWS;
  const unsigned row = tile / kAcross;
  return {static_cast<int>(row / kDown), static_cast<int>(row % kDown * PATCH_ROWS),
          static_cast<int>(tile % kAcross * BM)};
}

__device__ __forceinline__ void start_patch(const ConvArgs& a, const PatchPlace& place,
                                            unsigned char* patch) {
  const int first_h = place.p * a.stride_h - a.pad_h, first_x = place.q * a.stride_w - a.pad_w;
  const TX* image =
      static_cast<const TX*>(a.x) + static_cast<long long>(place.n) * a.h * a.width * 4;
  for (int i = threadIdx.x; i < kPatchRows * kUnitsOfRow; i += kThreads) {
    const int row = i / kUnitsOfRow, unit = i % kUnitsOfRow;
    const int h = first_h + row, x = first_x + 2 * unit;
    const bool valid = static_cast<unsigned>(h) < static_cast<unsigned>(a.h) &&
                       static_cast<unsigned>(x) < static_cast<unsigned>(a.width);
    const TX* from = image + (static_cast<long long>(h) * a.width + x) * 4;
    unsigned char* to = patch + row * kPatchPitch + unit * kUnitBytes;
    copy_async<kUnitBytes>(to, from, valid);
    if (kPatches == 2 && unit > 0) copy_async<kUnitBytes>(to + kPatchBytes - 8, from, valid);
  }
}

// A channel's weights in the order in which tiles of 8 columns take them.
__device__ __forceinline__ void start_filter(const ConvArgs& a, int first_k,
                                             unsigned char* filter) {
  constexpr int kOfRow = kFilterBytes / 16;
  for (int i = threadIdx.x; i < BN * kOfRow; i += kThreads) {
    const int channel = i / kOfRow, chunk = i % kOfRow;
    copy_async<16>(filter + row_of_weights(channel) * kFilterPitch + chunk * 16,
                   static_cast<const TX*>(a.w) +
                       static_cast<long long>(first_k + channel) * a.w_pitch +
                       chunk * kChunkElements,
                   true);
  }
}

// acc += a row of the windows times a row of the filter.
__device__ __forceinline__ void multiply_row(const unsigned char* patch_row,
                                             const unsigned char* filter_row, int first_q,
                                             TSUM (&acc)[kTilesM][kTilesN][4]) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int k = 0; k < kRowBytes / 32; ++k) {
    Fragments f;
#pragma unroll
    for (int i = 0; i < kTilesM; ++i) {
      const int q = first_q + i * 16 + lane % 16;
      const int at = kPatches == 2 ? q / 2 * 16 + q % 2 * kPatchBytes : q * 16;
      load_matrices(f.a[i], patch_row + at + k * 32 + lane / 16 * 16);
    }
#pragma unroll
    for (int j = 0; j < kTilesN / 2; ++j)
      load_matrices(f.b[j], filter_row + ((2 * j + lane / 16) * 8 + lane % 8) * kFilterPitch +
                                k * 32 + lane / 8 % 2 * 16);
    multiply_tile(f, acc);
  }
}

extern "C" __global__ void __launch_bounds__(kThreads) kernel(const ConvArgs a) {
  extern __shared__ __align__(128) unsigned char shared[];
  const unsigned tile = divide(blockIdx.x, a.by_tiles_k);
  const int first_k = static_cast<int>(blockIdx.x - tile * static_cast<unsigned>(a.tiles_k)) * BN;
  const PatchPlace place = patch_place(tile);
  unsigned char* filter = shared + kPatches * kPatchBytes;
  start_filter(a, first_k, filter);
  await_predecessors();
  start_patch(a, place, shared);
  commit_async();
  wait_async<0>();
  __syncthreads();
  const int warp = threadIdx.x / 32, warp_q = warp % (BM / WM) * WM, warp_k = warp / (BM / WM) * WN;
  const unsigned char* warp_filter = filter + warp_k * kFilterPitch;
  ConvArgs row = a;  // its outputs end with the row
  for (int i = 0; i < PATCH_ROWS && place.p + i < OUT_P; ++i) {
    const int first_m = (place.n * OUT_P + place.p + i) * OUT_Q;
    row.m = first_m + OUT_Q;
    Row rows[kAhead][2];
    read_first_rows(row, first_m + place.q + warp_q, first_k + warp_k, rows);
    TSUM acc[kTilesM][kTilesN][4];
    begin_sums(acc);
#pragma unroll
    for (int r = 0; r < FILTER_R; ++r)
      multiply_row(shared + (i * STRIDE_H + r) * kPatchPitch, warp_filter + r * kRowBytes, warp_q,
                   acc);
    store_warp_tile(row, first_m + place.q + warp_q, first_k + warp_k, rows, acc);
  }
}
