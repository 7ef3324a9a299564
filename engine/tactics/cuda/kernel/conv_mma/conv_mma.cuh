// Implicit-GEMM convolution and GEMM on tensor cores: Y = epilogue(X * W), NHWC x KRSC, float16,
// bfloat16 or tf32 with float32 sums, or 8 bits with int32 sums.
//
// One block computes BM pixels x BN channels; warps tile it in WM x WN. Both operands travel in
// rows of BKB bytes, 16 bytes a thread and copy, through STAGES buffers of shared memory, swizzled
// so that copies and ldmatrix are free of bank conflicts. CLUSTER > 1 (sm_90), cluster split-K: a
// cluster of CLUSTER blocks shares the steps along K and adds the partial sums through distributed
// shared memory, in the blocks' order. SPLIT_K: the partial sums go to memory instead, split_k.cuh
// adds them. A lane holds VECTOR adjacent channels of a row (column_of), which it computes and
// stores without a detour by shared memory. COLUMNS > 1: x has up to 4 channels, padded to 4, and
// the filter's columns are padded to a multiple of COLUMNS. Bytes moved a block: steps * (BM + BN)
// * BKB, and the outputs. SMs: 75 (float16 and 8 bits, register copies), 80 and later.

constexpr int kThreads = (BM / WM) * (BN / WN) * 32;
constexpr int kChunks = BKB / 16;  // 16-byte chunks of a row
constexpr int kChunkElements = 16 / sizeof(TX);
constexpr int kRowsAtOnce = kThreads / kChunks;
constexpr int kCopiesA = BM / kRowsAtOnce, kCopiesB = BN / kRowsAtOnce;
constexpr int kStageBytes = (BM + BN) * BKB;
constexpr int kTilesM = WM / 16, kTilesN = WN / 8;
constexpr int kFragments = kChunks / 2;                // along K, of a stage
constexpr int kVector = VECTOR, kGroup = kVector / 2;  // tiles that a lane's vector comes from
static_assert(kThreads % kChunks == 0 && BM % kRowsAtOnce == 0 && BN % kRowsAtOnce == 0, "tile");
static_assert(WM % 16 == 0 && WN % 16 == 0 && kTilesN % kGroup == 0, "warp tile");
static_assert(kFragments % 2 == 0, "the first fragments of a stage follow the last ones in place");

__device__ __forceinline__ int swizzled(int row, int chunk) {
  return row * BKB + ((kChunks == 8 ? chunk ^ (row & 7) : chunk ^ (row >> 1 & 3)) * 16);
}

// Tiles of 8 columns are not in the order of the channels: a lane holds two columns of each, and
// those of kGroup tiles are kVector adjacent channels. The first one of lane `quarter` (lane % 4)
// in a tile, counted from the warp's first channel.
__device__ __forceinline__ int column_of(int tile, int quarter) {
  return tile / kGroup * (8 * kGroup) + quarter * kVector + tile % kGroup * 2;
}

// The same for rows of weights, of which ldmatrix takes those of a tile: column_of() + {0, 1}.
__device__ __forceinline__ int swizzled_weights(int row, int chunk) {
  const int quarter = row / kVector % 4;
  return row * BKB + ((kChunks == 8 ? chunk ^ (quarter * 2 + (row & 1)) : chunk ^ quarter) * 16);
}

struct Loader {
  PixelWindow window[kCopiesA];
  const TX* w;
  int row, chunk;
};

__device__ __forceinline__ Loader make_loader(const ConvArgs& a, int first_m, int first_k,
                                              int step) {
  Loader l;
  l.chunk = threadIdx.x % kChunks, l.row = threadIdx.x / kChunks;
#pragma unroll
  for (int i = 0; i < kCopiesA; ++i)
    l.window[i] = pixel_window(a, first_m + l.row + i * kRowsAtOnce);
  l.w = static_cast<const TX*>(a.w) + static_cast<long long>(first_k + l.row) * a.w_pitch +
        step * BK + l.chunk * kChunkElements;
  return l;
}

// Starts the copy of 16 bytes of one window: channels of a pixel, or, of pixels with few channels,
// COLUMNS pixels that lie side by side, of which each COLUMNS_AT_ONCE may be outside of the input.
__device__ __forceinline__ void start_chunk(const ConvArgs& a, const PixelWindow& w,
                                            const FilterStep& f, int offset, unsigned char* to) {
#pragma unroll
  for (int j = 0; j < COLUMNS; j += COLUMNS_AT_ONCE) {
    bool valid = inside(a, w, FilterStep{f.r, f.s + j, f.c});
    copy_async<16 / COLUMNS * COLUMNS_AT_ONCE>(
        to + j * (16 / COLUMNS),
        valid ? w.base + offset + j * a.dilation_w * a.c : static_cast<const TX*>(a.x), valid);
  }
}

// Starts the copies of one step's inputs into a stage.
__device__ __forceinline__ void start_inputs(const ConvArgs& a, const Loader& l,
                                             const FilterStep& f, unsigned char* stage) {
  int offset = step_offset(a, f);
#pragma unroll
  for (int i = 0; i < kCopiesA; ++i)
    start_chunk(a, l.window[i], f, offset, stage + swizzled(l.row + i * kRowsAtOnce, l.chunk));
}

// Starts the copies of the next step's weights into a stage.
__device__ __forceinline__ void start_weights(const ConvArgs& a, Loader& l, unsigned char* stage) {
#pragma unroll
  for (int i = 0; i < kCopiesB; ++i) {
    copy_async<16>(stage + BM * BKB + swizzled_weights(l.row + i * kRowsAtOnce, l.chunk),
                   l.w + static_cast<long long>(i * kRowsAtOnce) * a.w_pitch, true);
  }
  l.w += BK;
}

// The same by registers, for SMs without cp.async: loaded before the arithmetic of a step, stored
// to shared memory after it.
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
        reinterpret_cast<const unsigned*>(w.base + offset + j * a.dilation_w * a.c);
    words[i] = inside(a, w, FilterStep{f.r, f.s + j, f.c}) ? from[i % (4 / COLUMNS)] : 0u;
  }
  return Bytes16{words[0], words[1], words[2], words[3]};
#endif
}
__device__ __forceinline__ void load_global(const ConvArgs& a, Loader& l, const FilterStep& f,
                                            Loaded& out) {
  int offset = step_offset(a, f);
#pragma unroll
  for (int i = 0; i < kCopiesA; ++i) out.a[i] = load_chunk(a, l.window[i], f, offset);
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

// Large warp tiles load fragments while those before them are multiplied, across stages too. Small
// ones have several blocks on an SM instead, for which two sets of fragments leave no registers.
constexpr bool kLoadsAhead = HAVE_ASYNC_COPY && WM * WN >= 64 * 64;

#if HAVE_ASYNC_COPY
// Where the copies of the steps [begin, end) stand.
struct Copies {
  int started, end, read, write;
};

// Starts the first copies. Behind it the kernel may read what its predecessors wrote.
__device__ __forceinline__ Copies start_first(const ConvArgs& a, Loader& loader, FilterStep& next,
                                              int begin, int end, unsigned char* shared) {
  // The weights are constants: their first copies need not wait for whoever computes the inputs.
#pragma unroll
  for (int i = 0; i < STAGES - 1; ++i)
    if (begin + i < end) start_weights(a, loader, shared + i * kStageBytes);
  await_predecessors();
  Copies c = {begin, end, 0, STAGES - 1};
#pragma unroll
  for (int i = 0; i < STAGES - 1; ++i) {
    if (c.started < end) start_inputs(a, loader, next, shared + i * kStageBytes);
    commit_async();
    advance(a, next);
    ++c.started;
  }
  return c;
}

// Starts the copies of one more step, into the stage that was read last.
__device__ __forceinline__ void start_next(const ConvArgs& a, Loader& loader, FilterStep& next,
                                           unsigned char* shared, Copies& c) {
  if (c.started < c.end) {
    start_inputs(a, loader, next, shared + c.write * kStageBytes);
    start_weights(a, loader, shared + c.write * kStageBytes);
  }
  commit_async();
  advance(a, next);
  ++c.started;
  c.write = c.read;
  c.read = c.read + 1 == STAGES ? 0 : c.read + 1;
}

__device__ __forceinline__ void multiply_ahead(const ConvArgs& a, Loader& loader, FilterStep& next,
                                               int begin, unsigned char* shared, int warp_m,
                                               int warp_n, Copies& c,
                                               TSUM (&acc)[kTilesM][kTilesN][4]) {
  Fragments f[2];
  wait_async<STAGES - 2>();
  __syncthreads();
  load_fragments(shared, warp_m, warp_n, 0, f[0]);
  for (int step = begin; step < c.end; ++step) {
    const unsigned char* stage = shared + c.read * kStageBytes;
    start_next(a, loader, next, shared, c);
#pragma unroll
    for (int k = 0; k < kFragments; ++k) {
      const bool last = k + 1 == kFragments;
      if (last) {
        // The next stage has arrived for everyone, and nobody reads this one any more.
        wait_async<STAGES - 2>();
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
__device__ __forceinline__ void multiply_steps(const ConvArgs& a, Loader& loader, FilterStep& next,
                                               int begin, unsigned char* shared, int warp_m,
                                               int warp_n, Copies& c,
                                               TSUM (&acc)[kTilesM][kTilesN][4]) {
  if constexpr (kLoadsAhead) {
    multiply_ahead(a, loader, next, begin, shared, warp_m, warp_n, c, acc);
  } else {
    for (int step = begin; step < c.end; ++step) {
      wait_async<STAGES - 2>();
      __syncthreads();
      const unsigned char* stage = shared + c.read * kStageBytes;
      start_next(a, loader, next, shared, c);
      multiply_stage(stage, warp_m, warp_n, acc);
    }
  }
  wait_async<0>();
}
#else
// The same by registers.
struct Copies {
  int end;
};
__device__ __forceinline__ Copies start_first(const ConvArgs& a, Loader& loader, FilterStep& next,
                                              int begin, int end, unsigned char* shared) {
  await_predecessors();
  Loaded loaded;
  if (begin < end) {
    load_global(a, loader, next, loaded);
    store_shared(loader, loaded, shared);
  }
  advance(a, next);
  return {end};
}
__device__ __forceinline__ void multiply_steps(const ConvArgs& a, Loader& loader, FilterStep& next,
                                               int begin, unsigned char* shared, int warp_m,
                                               int warp_n, Copies& c,
                                               TSUM (&acc)[kTilesM][kTilesN][4]) {
  Loaded loaded;
  for (int step = begin; step < c.end; ++step) {
    __syncthreads();
    bool more = step + 1 < c.end;
    if (more) load_global(a, loader, next, loaded);
    advance(a, next);
    multiply_stage(shared + (step - begin) % 2 * kStageBytes, warp_m, warp_n, acc);
    if (more) store_shared(loader, loaded, shared + (step - begin + 1) % 2 * kStageBytes);
  }
}
#endif

__device__ __forceinline__ void store_epilogue(const ConvArgs& a, float (&v)[8], int m, int k) {
  long long index = static_cast<long long>(m) * a.ldy + k;
  epilogue<8>(v, a.epilogue, static_cast<int>(divide(static_cast<unsigned>(m), a.by_pixels)), k,
              index, a.ldy, a.k);
  store_vector<8>(output_place(a, m, k, index), v);
}

// The epilogue goes through the warp's tile in units: 16 rows of a group of tiles, of which a lane
// has two rows, kVector channels each.
constexpr int kUnits = kTilesN / kGroup * kTilesM;
// What a unit's epilogue reads from memory is read so many units ahead: all that 16 registers hold.
constexpr int kFit = 64 / (2 * static_cast<int>(sizeof(Row)));
constexpr int kAhead = kFit < 1 ? 1 : kFit < kUnits ? kFit : kUnits;
// The first even before the products, where these leave registers.
constexpr bool kReadsEarly = HAVE_ASYNC_COPY && !kLoadsAhead;

struct Place {
  int m, k;
  bool inside;
};

// `first_m`, `first_k`: of the warp's tile.
__device__ __forceinline__ Place place_of(const ConvArgs& a, int first_m, int first_k, int unit,
                                          int half) {
  int lane = threadIdx.x % 32;
  Place p;
  p.m = first_m + unit % kTilesM * 16 + half * 8 + lane / 4;
  p.k = first_k + column_of(unit / kTilesM * kGroup, lane % 4);
  p.inside = p.m < a.m && p.k < a.ldy;
  return p;
}

__device__ __forceinline__ void read_rows(const ConvArgs& a, int first_m, int first_k, int unit,
                                          Row (&rows)[2]) {
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    Place p = place_of(a, first_m, first_k, unit, half);
    if (p.inside) rows[half] = read_row(a.epilogue, static_cast<long long>(p.m) * a.ldy + p.k);
  }
}

__device__ __forceinline__ void read_first_rows(const ConvArgs& a, int first_m, int first_k,
                                                Row (&rows)[kAhead][2]) {
#pragma unroll
  for (int unit = 0; unit < kAhead; ++unit) read_rows(a, first_m, first_k, unit, rows[unit]);
}

// Epilogue of an undivided tile, whose first rows have been read.
__device__ __forceinline__ void store_warp_tile(const ConvArgs& a, int first_m, int first_k,
                                                Row (&rows)[kAhead][2],
                                                TSUM (&acc)[kTilesM][kTilesN][4]) {
  Channels channels;
#pragma unroll
  for (int unit = 0; unit < kUnits; ++unit) {
    const int group = unit / kTilesM, i = unit % kTilesM;
    if (i == 0) {
      Place p = place_of(a, first_m, first_k, unit, 0);
      if (p.k < a.ldy) channels = read_channels(a.epilogue, p.k);
    }
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      Place p = place_of(a, first_m, first_k, unit, half);
      if (!p.inside) continue;
      float v[kVector];
#pragma unroll
      for (int j = 0; j < kVector; ++j)
        v[j] = static_cast<float>(acc[i][group * kGroup + j / 2][half * 2 + j % 2]);
      long long index = static_cast<long long>(p.m) * a.ldy + p.k;
      int image = static_cast<int>(divide(static_cast<unsigned>(p.m), a.by_pixels));
      epilogue_behind(v, channels, rows[unit % kAhead][half], a.epilogue, image, p.k, index, a.ldy,
                      a.k);
      store_vector<kVector>(output_place(a, p.m, p.k, index), v);
    }
    if (unit + kAhead < kUnits) read_rows(a, first_m, first_k, unit + kAhead, rows[unit % kAhead]);
  }
}

#if CLUSTER > 1 || SPLIT_K
__device__ __forceinline__ void store_fragments(TSUM* to, int pitch, int warp_m, int warp_n,
                                                int rows, TSUM (&acc)[kTilesM][kTilesN][4]) {
  int lane = threadIdx.x % 32;
#pragma unroll
  for (int unit = 0; unit < kUnits; ++unit) {
    const int group = unit / kTilesM, i = unit % kTilesM;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      int row = warp_m * WM + i * 16 + half * 8 + lane / 4;
      TSUM v[kVector];
#pragma unroll
      for (int j = 0; j < kVector; ++j) v[j] = acc[i][group * kGroup + j / 2][half * 2 + j % 2];
      if (row < rows)
        store_vector<kVector>(to + static_cast<long long>(row) * pitch + warp_n * WN +
                                  column_of(group * kGroup, lane % 4),
                              v);
    }
  }
}
#endif

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
        kernel(const ConvArgs a) {
  extern __shared__ __align__(128) unsigned char shared[];
  int tile_m = static_cast<int>(divide(blockIdx.x, a.by_tiles_k));
  int first_m = tile_m * BM, first_k = (static_cast<int>(blockIdx.x) - tile_m * a.tiles_k) * BN;
  int warp = threadIdx.x / 32, warp_m = warp % (BM / WM), warp_n = warp / (BM / WM);
  int part = blockIdx.z;
  int begin = static_cast<int>(static_cast<long long>(a.steps) * part / a.split_k);
  int end = static_cast<int>(static_cast<long long>(a.steps) * (part + 1) / a.split_k);
  Loader loader = make_loader(a, first_m, first_k, begin);
  FilterStep next = filter_step(a, begin, loader.chunk * kChunkElements);
  TSUM acc[kTilesM][kTilesN][4] = {};
  Copies copies = start_first(a, loader, next, begin, end, shared);
#if SPLIT_K
  multiply_steps(a, loader, next, begin, shared, warp_m, warp_n, copies, acc);
  TSUM* sums = reinterpret_cast<TSUM*>(a.partial_sums) +
               (static_cast<long long>(part) * a.m + first_m) * (a.tiles_k * BN) + first_k;
  store_fragments(sums, a.tiles_k * BN, warp_m, warp_n, a.m - first_m, acc);
#elif CLUSTER > 1
  multiply_steps(a, loader, next, begin, shared, warp_m, warp_n, copies, acc);
  __syncthreads();
  store_cluster_tile(a, shared, first_m, first_k, warp_m, warp_n, acc);
#else
  Row rows[kAhead][2];
  const int warp_first_m = first_m + warp_m * WM, warp_first_k = first_k + warp_n * WN;
  if (kReadsEarly) read_first_rows(a, warp_first_m, warp_first_k, rows);
  multiply_steps(a, loader, next, begin, shared, warp_m, warp_n, copies, acc);
  if (!kReadsEarly) read_first_rows(a, warp_first_m, warp_first_k, rows);
  store_warp_tile(a, warp_first_m, warp_first_k, rows, acc);
#endif
}
