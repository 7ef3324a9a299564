// What conv_mma.cuh, conv_wgmma.cuh and conv_patch.cuh have in common: the tile that a block
// computes, where its operands lie in shared memory, how they come there and are multiplied.
//
// Both operands travel in rows of BKB bytes, 16 bytes a thread and copy, swizzled so that copies
// and whoever reads are free of bank conflicts (the swizzles of 64 and of 128 bytes that wgmma
// knows). A lane holds VECTOR adjacent channels of a row (column_of), which it computes and stores
// without a detour by shared memory. COLUMNS > 1: x has up to 4 channels, padded to 4, and the
// filter's columns are padded to a multiple of COLUMNS.

// A tile of WM x WN is one warp's; with WGMMA a warpgroup's of four warps.
constexpr int kThreads = (BM / WM) * (BN / WN) * (WGMMA ? 128 : 32);
constexpr int kChunks = BKB / 16;  // 16-byte chunks of a row
constexpr int kChunkElements = 16 / sizeof(TX);
constexpr int kRowsAtOnce = kThreads / kChunks;
constexpr int kCopiesA = BM / kRowsAtOnce, kCopiesB = BN / kRowsAtOnce;
constexpr int kStageBytes = (BM + BN) * BKB;
// A warp's sums: kTilesM tiles of 16 rows, kRowsApart from one to the next, kTilesN of 8 columns.
constexpr int kRowsApart = WGMMA ? 64 : 16;
constexpr int kTilesM = WM / kRowsApart, kTilesN = WN / 8;
constexpr int kFragments = kChunks / 2;                // along K, of a stage
constexpr bool kLargeTiles = kTilesM * kTilesN >= 32;  // sums fill most registers of a warp
constexpr int kVector = VECTOR;
static_assert(kThreads % kChunks == 0 && BM % kRowsAtOnce == 0 && BN % kRowsAtOnce == 0, "tile");
static_assert(WM % kRowsApart == 0 && WN % 16 == 0 && kTilesN % kGroup == 0, "warp tile");

__device__ __forceinline__ int swizzled(int row, int chunk) {
  return row * BKB + ((kChunks == 8 ? chunk ^ (row & 7) : chunk ^ (row >> 1 & 3)) * 16);
}

// Where a channel's weights stand when those of tile after tile follow one another, 8 rows each:
// the inverse of column_of() + {0, 1}.
__device__ __forceinline__ int row_of_weights(int channel) {
  const int tile = channel / (8 * kGroup) * kGroup + channel % kVector / 2;
  return tile * 8 + channel / kVector % 4 * 2 + channel % 2;
}

// The place of 16 bytes of a channel's weights: wgmma takes 8 rows that follow one another for a
// tile; ldmatrix takes a tile's rows from where they are.
__device__ __forceinline__ int swizzled_weights(int channel, int chunk) {
#if WGMMA
  return swizzled(row_of_weights(channel), chunk);
#else
  const int quarter = channel / kVector % 4;
  const int place = kChunks == 8 ? chunk ^ (quarter * 2 + (channel & 1)) : chunk ^ quarter;
  return channel * BKB + place * 16;
#endif
}

// Sums of integers that stay below 2^22 (SMALL_SUMS) begin at the bits of 3 * 2^22, so that they
// are the bits of floats of so much more: no instruction has to convert them.
__device__ __forceinline__ void begin_sums(TSUM (&acc)[kTilesM][kTilesN][4]) {
#pragma unroll
  for (int i = 0; i < kTilesM * kTilesN * 4; ++i)
    acc[i / 4 / kTilesN][i / 4 % kTilesN][i % 4] = SMALL_SUMS ? 0x4b400000 : 0;
}
__device__ __forceinline__ float value_of(TSUM sum) {
#if SMALL_SUMS
  return __int_as_float(sum) - 12582912.0f;
#else
  return static_cast<float>(sum);
#endif
}

#if !WGMMA
// d += a * b for a 16 rows, b 8 columns, 32 bytes along K of T.
template <typename T, typename Sum>
__device__ __forceinline__ void multiply_fragments(Sum (&d)[4], const unsigned (&a)[4], unsigned b0,
                                                   unsigned b1) {
  if constexpr (sizeof(T) == 1)
    multiply_bytes<(static_cast<T>(-1) > 0)>(d, a, b0, b1);
  else if constexpr (sizeof(T) == 2)
    multiply_as(T(), d, a, b0, b1);
  else
    multiply_tf32(d, a, b0, b1);
}

// What a warp multiplies at a time: 32 bytes along K of its tile's rows and columns.
struct Fragments {
  unsigned a[kTilesM][4], b[kTilesN / 2][4];
};

// acc += A * B of the fragments.
__device__ __forceinline__ void multiply_tile(const Fragments& f,
                                              TSUM (&acc)[kTilesM][kTilesN][4]) {
#pragma unroll
  for (int i = 0; i < kTilesM; ++i) {
#pragma unroll
    for (int j = 0; j < kTilesN; ++j)
      multiply_fragments<TX>(acc[i][j], f.a[i], f.b[j / 2][j % 2 * 2], f.b[j / 2][j % 2 * 2 + 1]);
  }
}
#endif

// Joined: a product that goes first has inputs of its own, its weights before those of the second
// in every row of w, and its steps before the others. FIRST_POINTWISE: as POINTWISE, of that
// product.
#if JOINED
using Args = JoinedConvArgs;
__device__ __forceinline__ const ConvArgs& second_of(const Args& a) {
  return a.second;
}
__device__ __forceinline__ int steps_of(const Args& a) {
  return a.first.steps + a.second.steps;
}
#else
using Args = ConvArgs;
__device__ __forceinline__ const ConvArgs& second_of(const Args& a) {
  return a;
}
__device__ __forceinline__ int steps_of(const Args& a) {
  return a.steps;
}
#endif

struct Loader {
  PixelWindow window[kCopiesA];
  FilterStep next;
  const TX* w;
  int row, chunk;   // of a stage, the first that this thread copies
  int first_m;      // the block's first row
  int first_steps;  // JOINED: steps of the first product that are left
};

// From here on the inputs are those of `a`, from its step `step` on.
template <bool kPointwise>
__device__ __forceinline__ void turn_to(const ConvArgs& a, int step, Loader& l) {
#pragma unroll
  for (int i = 0; i < kCopiesA; ++i)
    l.window[i] = pixel_window<kPointwise>(a, l.first_m + l.row + i * kRowsAtOnce);
  l.next = filter_step<kPointwise>(a, step, l.chunk * kChunkElements);
}

__device__ __forceinline__ Loader make_loader(const Args& args, int first_m, int first_k,
                                              int step) {
  Loader l;
  l.chunk = threadIdx.x % kChunks, l.row = threadIdx.x / kChunks, l.first_m = first_m;
  const ConvArgs& a = second_of(args);
  l.w = static_cast<const TX*>(a.w) + static_cast<long long>(first_k + l.row) * a.w_pitch +
        step * BK + l.chunk * kChunkElements;
#if JOINED
  l.first_steps = args.first.steps;
  turn_to<FIRST_POINTWISE>(args.first, 0, l);
#else
  turn_to<POINTWISE>(a, step, l);
#endif
  return l;
}

// Goes on to the next step's inputs.
__device__ __forceinline__ void advance_inputs(const Args& a, Loader& l) {
#if JOINED
  if (--l.first_steps == 0)
    turn_to<POINTWISE>(a.second, 0, l);
  else if (l.first_steps > 0)
    advance<FIRST_POINTWISE>(a.first, l.next);
  else
    advance(a.second, l.next);
#else
  advance(a, l.next);
#endif
}

// Starts the copy of 16 bytes of one window: channels of a pixel, or, of pixels with few channels,
// COLUMNS pixels that lie side by side, of which each COLUMNS_AT_ONCE may be outside of the input.
__device__ __forceinline__ void start_chunk(const ConvArgs& a, const PixelWindow& w,
                                            const FilterStep& f, int offset, unsigned char* to) {
#pragma unroll
  for (int j = 0; j < COLUMNS; j += COLUMNS_AT_ONCE) {
    // From where nothing is read the address may be any.
    copy_async<16 / COLUMNS * COLUMNS_AT_ONCE>(
        to + j * (16 / COLUMNS), w.base + offset + j * a.dilation_w * channels_apart(a),
        inside(a, w, FilterStep{f.r, f.s + j, f.c}));
  }
}

// Starts the copies of one step's inputs into a stage.
template <bool kPointwise>
__device__ __forceinline__ void start_inputs_of(const ConvArgs& a, const Loader& l,
                                                unsigned char* stage) {
  int offset = step_offset<kPointwise>(a, l.next);
#pragma unroll
  for (int i = 0; i < kCopiesA; ++i)
    start_chunk(a, l.window[i], l.next, offset, stage + swizzled(l.row + i * kRowsAtOnce, l.chunk));
}
__device__ __forceinline__ void start_inputs(const Args& a, const Loader& l, unsigned char* stage) {
#if JOINED
  if (l.first_steps > 0) {
    start_inputs_of<FIRST_POINTWISE>(a.first, l, stage);
    return;
  }
#endif
  start_inputs_of<POINTWISE>(second_of(a), l, stage);
}

// Starts the copies of the next step's weights into a stage.
__device__ __forceinline__ void start_weights(const Args& a, Loader& l, unsigned char* stage) {
#pragma unroll
  for (int i = 0; i < kCopiesB; ++i) {
    copy_async<16>(stage + BM * BKB + swizzled_weights(l.row + i * kRowsAtOnce, l.chunk),
                   l.w + static_cast<long long>(i * kRowsAtOnce) * second_of(a).w_pitch, true);
  }
  l.w += BK;
}

#if HAVE_ASYNC_COPY
// So many steps are copied ahead of the one that is multiplied. wgmma may still read the stage
// before that one, too, where there are four.
constexpr int kProductsBehind = WGMMA && STAGES >= 4 ? 1 : 0;
constexpr int kStepsAhead = STAGES - 1 - kProductsBehind;

// Where the copies of the steps [begin, end) stand.
struct Copies {
  int started, end, read, write;
};

// Starts the first copies. Behind it the kernel may read what its predecessors wrote.
__device__ __forceinline__ Copies start_first(const Args& a, Loader& loader, int begin, int end,
                                              unsigned char* shared) {
  // The weights are constants: their first copies need not wait for whoever computes the inputs.
#pragma unroll
  for (int i = 0; i < kStepsAhead; ++i)
    if (begin + i < end) start_weights(a, loader, shared + i * kStageBytes);
  await_predecessors();
  Copies c = {begin, end, 0, kStepsAhead};
#pragma unroll
  for (int i = 0; i < kStepsAhead; ++i) {
    if (c.started < end) start_inputs(a, loader, shared + i * kStageBytes);
    commit_async();
    advance_inputs(a, loader);
    ++c.started;
  }
  return c;
}

// Starts the copies of one more step, into a stage that nobody reads any more.
__device__ __forceinline__ void start_next(const Args& a, Loader& loader, unsigned char* shared,
                                           Copies& c) {
  if (c.started < c.end) {
    start_inputs(a, loader, shared + c.write * kStageBytes);
    start_weights(a, loader, shared + c.write * kStageBytes);
  }
  commit_async();
  advance_inputs(a, loader);
  ++c.started;
  c.write = c.write + 1 == STAGES ? 0 : c.write + 1;
  c.read = c.read + 1 == STAGES ? 0 : c.read + 1;
}
#endif
