// Convolution of a picture on tensor cores by mma.sync with the max pooling behind it, 3x3 or 2x2
// with stride 2: the convolution's result stays in registers. x has up to 4 channels, padded to 4.
//
// A block walks down STRIP rows of pooled outputs, one and so two rows of the convolution at a
// time, over kPairs pairs of columns; a warp computes 8 pairs and WN channels, whose weights it
// keeps in registers. Both columns of a pair and both rows are one lane's, so sums are pooled where
// they are: with the last row, which is kept, and with the pair on the left, by a shuffle or, from
// the warp on the left, through shared memory. Largest sums alone get scales, bias and activation.
// Rows of the picture come to a ring in shared memory, those of the next step while this one is
// multiplied; what a lane multiplies is 8 bytes of a window's row, in the order of memory, and the
// same of the weights: the sum along K is taken in another order than the instruction's.
//
// PICTURE: x is the caller's, float32 planes in order. Its rows come to a place of their own and
// from there, rounded to TX or quantised by a scale, to the ring.
//
// Bytes moved: the picture (rows and columns between blocks again), the pooled outputs, and
// FILTER_R * WINDOW_BYTES a channel and warp once. SMs: 80 and later. The shape is in macros:
// STRIDE_*, PAD_H and FIRST_X (the column of the picture that the windows of column 0 begin at),
// OUT_* of the convolution, POOL_*; HALO: whether a block's first pair is the one on its left.

constexpr int kThreads = WARPS_Q * WARPS_K * 32;
constexpr int kPixelBytes = 4 * sizeof(TX), kSteps = WINDOW_BYTES / 32;
constexpr int kTilesN = WN / 8, kOfLane = 2 * kTilesN;
constexpr int kPairs = 8 * WARPS_Q;
// From a pooled output to the first of its pair of rows or columns.
constexpr int kShift = POOL == 3 ? 1 - POOL_PAD : 0;
constexpr int kRowsOfStep = FILTER_R + STRIDE_H;
constexpr int kRing = FILTER_R + 3 * STRIDE_H;
// What rows are copied in: pixels, or elements of a plane.
constexpr int kCopied = COPY_BYTES / (PICTURE ? 4 : kPixelBytes);
constexpr int kPatchPixels = ((2 * kPairs - 1) * STRIDE_W + WINDOW_BYTES / kPixelBytes + 3) / 4 * 4;
constexpr int kCopiesOfRow = kPatchPixels / kCopied;
constexpr int kPitch = kPatchPixels * kPixelBytes;
constexpr int kRingBytes = (kRing * kPitch + 127) / 128 * 128;
constexpr int kEdgeBytes = kThreads / 8 * kOfLane * 4;
constexpr int kFirstRows = kRowsOfStep + STRIDE_H, kNextRows = 2 * STRIDE_H;
static_assert(kRingBytes + kEdgeBytes + PICTURE * CHANNELS * kFirstRows * kPatchPixels * 4 ==
                  SHARED_BYTES,
              "shared memory");
static_assert(WINDOW_BYTES % 32 == 0 && kTilesN % kGroup == 0, "tiles");

__device__ __forceinline__ float larger_sum(float a, float b) {
#ifdef ENGINERY_EMULATE
  return larger(a, b);
#else
  float out;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(out) : "f"(a), "f"(b));
  return out;
#endif
}
__device__ __forceinline__ int larger_sum(int a, int b) {
  return a > b ? a : b;
}
__device__ __forceinline__ void set_least(float& sum) {
  sum = -INFINITY;
}
__device__ __forceinline__ void set_least(int& sum) {
  sum = -2147483647 - 1;
}

// A lane's sums of one row: of the pair's first column [0] and [1], of its second [2] and [3].
struct Sums {
  TSUM of[kTilesN][4];
};
struct Weights {
  unsigned of[FILTER_R][kSteps][kTilesN][2];
};

__device__ __forceinline__ void multiply(TSUM (&d)[4], const unsigned (&a)[4], unsigned b0,
                                         unsigned b1) {
#if BYTES
  multiply_bytes<(static_cast<TX>(-1) > 0)>(d, a, b0, b1);
#else
  multiply_as(TX(), d, a, b0, b1);
#endif
}

__device__ __forceinline__ void read_weights(const ConvPoolArgs& a, int first_k, Weights& w) {
  const int lane = threadIdx.x % 32, column = lane / 4;
#pragma unroll
  for (int j = 0; j < kTilesN; ++j) {
    const int channel = first_k + column_of(j, column / 2) + column % 2;
    const unsigned char* from = static_cast<const unsigned char*>(a.w) +
                                static_cast<long long>(channel) * (FILTER_R * WINDOW_BYTES) +
                                lane % 4 * 8;
#pragma unroll
    for (int i = 0; i < FILTER_R * kSteps; ++i) {
      const Bytes8 b = *reinterpret_cast<const Bytes8*>(from + i * 32);
      w.of[i / kSteps][i % kSteps][j][0] = b.a, w.of[i / kSteps][i % kSteps][j][1] = b.b;
    }
  }
}

// What a block computes: an image, its first pair's pooled column, rows [row, end) and channels.
struct Strip {
  int image, column, row, end, k;
};
__device__ __forceinline__ Strip strip_of(const ConvPoolArgs& a) {
  const unsigned tile = divide(blockIdx.x, a.by_tiles_k), row = divide(tile, a.by_across);
  const unsigned image = divide(row, a.by_strips);
  Strip s;
  s.k = static_cast<int>(blockIdx.x - tile * a.by_tiles_k.divisor) * (WN * WARPS_K);
  s.column = static_cast<int>(tile - row * a.by_across.divisor) * (kPairs - HALO) - HALO;
  s.row = static_cast<int>(row - image * a.by_strips.divisor) * STRIP;
  s.end = s.row + STRIP < POOL_P ? s.row + STRIP : POOL_P;
  s.image = static_cast<int>(image);
  return s;
}

// Where the ring has the row that comes `rows` rows behind the one at `slot`, both in bytes.
__device__ __forceinline__ int next_slot(int slot, int rows) {
  const int place = slot + rows * kPitch;
  return place >= kRing * kPitch ? place - kRing * kPitch : place;
}

// Starts the copies of the picture's rows from `first` on, into the ring from `slot` on.
template <int kRows>
__device__ __forceinline__ void start_rows(const ConvPoolArgs& a, const Strip& strip, int first,
                                           int slot, unsigned char* shared) {
  const int first_x = (2 * strip.column + kShift) * STRIDE_W + FIRST_X;
  constexpr int kPlanes = PICTURE ? CHANNELS : 1;
  constexpr int kCopies = kPlanes * kRows * kCopiesOfRow;
#pragma unroll
  for (int turn = 0; turn < (kCopies + kThreads - 1) / kThreads; ++turn) {
    const int i = turn * kThreads + static_cast<int>(threadIdx.x);
    if (i >= kCopies) break;
    const int line = i / kCopiesOfRow, copy = i % kCopiesOfRow * kCopied;
    const int row = line % kRows, h = first + row, x = first_x + copy;
    const bool valid = static_cast<unsigned>(h) < static_cast<unsigned>(a.h) &&
                       static_cast<unsigned>(x) < static_cast<unsigned>(a.width);
    const long long plane = static_cast<long long>(strip.image) * kPlanes + line / kRows;
    const long long pixel = (plane * a.h + h) * a.width + x;
#if PICTURE
    copy_async<COPY_BYTES>(
        reinterpret_cast<float*>(shared + kRingBytes + kEdgeBytes) + line * kPatchPixels + copy,
        static_cast<const float*>(a.x) + pixel, valid);
#else
    copy_async<COPY_BYTES>(shared + next_slot(slot, row) + copy * kPixelBytes,
                           static_cast<const TX*>(a.x) + pixel * 4, valid);
#endif
  }
}

#if BYTES
struct Scale {
  float scale, reciprocal;
};
__device__ __forceinline__ Scale scale_of(const ConvPoolArgs& a) {
  return {*a.scale, reciprocal_of(*a.scale)};
}
__device__ __forceinline__ float settled(float x, const Scale& s) {
  return rounded_quotient(x, s.scale, s.reciprocal);
}
#else
struct Scale {};
__device__ __forceinline__ Scale scale_of(const ConvPoolArgs&) {
  return {};
}
__device__ __forceinline__ float settled(float x, const Scale&) {
  return x;
}
#endif

// Two pixels of the caller's picture as the ring has them.
__device__ __forceinline__ void settle_pixels(const float* from, int rows, const Scale& scale,
                                              TX* to) {
  float v[8] = {};
#pragma unroll
  for (int c = 0; c < CHANNELS; ++c) {
    const Floats2 pixels = *reinterpret_cast<const Floats2*>(from + c * rows * kPatchPixels);
    v[c] = settled(pixels.a, scale);
    v[4 + c] = settled(pixels.b, scale);
  }
  store_vector<8>(to, v);
}

// What the copies of start_rows brought, as many rows from the same slot on, is in the ring behind
// it.
template <int kRows>
__device__ __forceinline__ void settle_rows(const ConvPoolArgs& a, int slot,
                                            unsigned char* shared) {
  wait_async<0>();
  __syncthreads();
#if PICTURE
  const float* rows = reinterpret_cast<const float*>(shared + kRingBytes + kEdgeBytes);
  const Scale scale = scale_of(a);
  constexpr int kPieces = kRows * kPatchPixels / 2;
#pragma unroll 1  // quotients at a time would take registers that weights are in
  for (int turn = 0; turn < (kPieces + kThreads - 1) / kThreads; ++turn) {
    const int i = turn * kThreads + static_cast<int>(threadIdx.x);
    if (i >= kPieces) break;
    const int row = i / (kPatchPixels / 2), pixel = i % (kPatchPixels / 2) * 2;
    unsigned char* to = shared + next_slot(slot, row) + pixel * kPixelBytes;
    settle_pixels(rows + row * kPatchPixels + pixel, kRows, scale, reinterpret_cast<TX*>(to));
  }
  __syncthreads();
#endif
}

// kRows rows of the convolution, the first of whose windows begins in the ring at `slot`, `at`
// bytes from the beginning of a row. A row of the picture is read once for all of them.
template <int kRows>
__device__ __forceinline__ void multiply_rows(const unsigned char* ring, int slot, int at,
                                              const Weights& w, Sums (&sums)[kRows]) {
#pragma unroll
  for (int h = 0; h < FILTER_R + (kRows - 1) * STRIDE_H; ++h) {
    const unsigned char* row = ring + next_slot(slot, h) + at;
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
      const Bytes8 first = *reinterpret_cast<const Bytes8*>(row + step * 32);
      const Bytes8 second =
          *reinterpret_cast<const Bytes8*>(row + step * 32 + STRIDE_W * kPixelBytes);
      const unsigned window[4] = {first.a, second.a, first.b, second.b};
#pragma unroll
      for (int i = 0; i < kRows; ++i) {
        const int r = h - i * STRIDE_H;
        if (r < 0 || r >= FILTER_R) continue;
#pragma unroll
        for (int j = 0; j < kTilesN; ++j)
          multiply(sums[i].of[j], window, w.of[r][step][j][0], w.of[r][step][j][1]);
      }
    }
  }
}

__device__ __forceinline__ void take_larger(Sums& to, const Sums& from) {
#pragma unroll
  for (int i = 0; i < kTilesN * 4; ++i)
    to.of[i / 4][i % 4] = larger_sum(to.of[i / 4][i % 4], from.of[i / 4][i % 4]);
}

// Columns that the convolution does not have take no part.
__device__ __forceinline__ void drop_outside(int warp_column, int column, Sums& sums) {
  const int first = 2 * warp_column + kShift;
  if (first >= 0 && first + 16 <= OUT_Q) return;
  const int q = 2 * column + kShift;
#pragma unroll
  for (int i = 0; i < kTilesN * 4; ++i) {
    if (static_cast<unsigned>(q + i % 4 / 2) >= OUT_Q) set_least(sums.of[i / 4][i % 4]);
  }
}

// The second column of the pair on the left.
__device__ __forceinline__ void read_left(const Sums& sums, unsigned char* edges,
                                          TSUM (&left)[kOfLane]) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  TSUM* edge = reinterpret_cast<TSUM*>(edges) + (warp * 4 + lane % 4) * kOfLane;
#pragma unroll
  for (int i = 0; i < kOfLane; ++i) left[i] = sums.of[i / 2][2 + i % 2];
  if (lane >= 28) store_vector<kOfLane>(edge, left);
#pragma unroll
  for (int i = 0; i < kOfLane; ++i) left[i] = __shfl_up_sync(0xffffffffu, left[i], 4);
  __syncthreads();
  if (lane >= 4) return;
  if (warp % WARPS_Q > 0) {
    load_vector<kOfLane>(edge - 4 * kOfLane, left);
    return;
  }
#pragma unroll
  for (int i = 0; i < kOfLane; ++i) set_least(left[i]);
}

// The largest of a lane's windows, with scale, bias and activation, to memory.
__device__ __forceinline__ void store_pooled(const ConvPoolArgs& a, const Strip& strip, int p,
                                             int column, int first_k, const Sums& sums,
                                             unsigned char* edges) {
  TSUM left[kOfLane];
  if (POOL == 3) read_left(sums, edges, left);
  if (column < strip.column + HALO || column >= POOL_Q) return;
  const long long pixel = (static_cast<long long>(strip.image) * POOL_P + p) * POOL_Q + column;
#pragma unroll
  for (int group = 0; group < kTilesN / kGroup; ++group) {
    const int k = first_k + column_of(group * kGroup, threadIdx.x % 4);
    if (k >= a.ldy) continue;
    float v[VECTOR];
#pragma unroll
    for (int i = 0; i < VECTOR; ++i) {
      const TSUM(&of)[4] = sums.of[group * kGroup + i / 2];
      TSUM sum = larger_sum(of[i % 2], of[2 + i % 2]);
      if (POOL == 3) sum = larger_sum(sum, left[group * VECTOR + i]);
      v[i] = static_cast<float>(sum);
    }
    const long long index = pixel * a.ldy + k;
    epilogue_behind(v, read_channels(a.epilogue, k), read_row(a.epilogue, index), a.epilogue,
                    strip.image, k, index, a.ldy, a.k);
    store_vector<VECTOR>(static_cast<TY*>(a.y) + index, v);
  }
}

extern "C" __global__ void __launch_bounds__(kThreads, AT_ONCE) kernel(const ConvPoolArgs a) {
  extern __shared__ __align__(128) unsigned char shared[];
  const Strip strip = strip_of(a);
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int first_k = strip.k + warp / WARPS_Q * WN;
  const int pair = warp % WARPS_Q * 8 + lane / 4, column = strip.column + pair;
  const int at = 2 * pair * STRIDE_W * kPixelBytes + lane % 4 * 8;
  Weights w;
  read_weights(a, first_k, w);
  await_predecessors();
  // The ring begins with the row above the first pair, which is the strip's own where it is kept.
  int row = 2 * strip.row + kShift, slot = STRIDE_H * kPitch;
  const int first_h = (row - 1) * STRIDE_H - PAD_H;
  start_rows<kFirstRows>(a, strip, first_h, 0, shared);
  commit_async();
  settle_rows<kFirstRows>(a, 0, shared);
  Sums kept;
#pragma unroll
  for (int i = 0; i < kTilesN * 4; ++i) set_least(kept.of[i / 4][i % 4]);
  if (POOL == 3 && row > 0) {
    Sums above[1] = {};
    multiply_rows<1>(shared, 0, at, w, above);
    kept = above[0];
  }
  for (int p = strip.row; p < strip.end; ++p, row += 2) {
    if (p > strip.row)
      settle_rows<kNextRows>(a, next_slot(slot, kRowsOfStep - kNextRows), shared);
    else
      __syncthreads();
    if (p + 1 < strip.end)
      start_rows<kNextRows>(a, strip, row * STRIDE_H - PAD_H + kRowsOfStep,
                            next_slot(slot, kRowsOfStep), shared);
    commit_async();
    Sums sums[2] = {};
    multiply_rows<2>(shared, slot, at, w, sums);
    if (row < OUT_P) take_larger(kept, sums[0]);
    if (row + 1 < OUT_P) take_larger(kept, sums[1]);
    drop_outside(strip.column + warp % WARPS_Q * 8, column, kept);
    store_pooled(a, strip, p, column, first_k, kept, shared + kRingBytes);
    kept = sums[1];
    if (POOL == 2) {
#pragma unroll
      for (int i = 0; i < kTilesN * 4; ++i) set_least(kept.of[i / 4][i % 4]);
    }
    slot = next_slot(slot, 2 * STRIDE_H);
  }
}
