// Matrix products of any two operands, y[batch] = epilogue(alpha * a[batch] * b[batch]): run-time
// operands, transposed ones, batches that repeat.
//
// A block of BM * BN / 16 threads owns a tile of BM x BN outputs, a thread 4 x 4 of them; steps of
// BK along K pass through shared memory as floats. A_ALONG_K, B_ALONG_K: along which dimension
// neighbouring threads read. VECTOR: outputs a store. Sums in float32. a_place(batch) and
// b_place(batch) are generated. Bytes moved a tile: K * (BM + BN) elements, and the outputs. Serves
// every SM.

constexpr int kThreads = BM * BN / 16;
constexpr int kColumns = BN / 4;  // threads along n
static_assert(kThreads % BK == 0 && BM * BK % kThreads == 0 && BN * BK % kThreads == 0, "tile");

// LINES lines (of m or n) by BK along K, zeros outside.
template <bool ALONG_K, int LINES>
__device__ __forceinline__ void load_tile(float (&tile)[BK][LINES + 4], const TX* x, int first,
                                          int lines, int stride, int first_k, int depth,
                                          int stride_k) {
  int t = static_cast<int>(threadIdx.x);
#pragma unroll
  for (int i = 0; i < LINES * BK / kThreads; ++i) {
    int k = ALONG_K ? t % BK : t / LINES + kThreads / LINES * i;
    int line = ALONG_K ? t / BK + kThreads / BK * i : t % LINES;
    bool inside = first + line < lines && first_k + k < depth;
    long long at = static_cast<long long>(first + line) * stride +
                   static_cast<long long>(first_k + k) * stride_k;
    tile[k][line] = inside ? load_one(x + at) : 0.0f;
  }
}

extern "C" __global__ void __launch_bounds__(kThreads) kernel(const GemmArgs p) {
  await_predecessors();
  __shared__ __align__(16) float tile_a[BK][BM + 4];
  __shared__ __align__(16) float tile_b[BK][BN + 4];
  unsigned tile = blockIdx.x;
  int first_n = static_cast<int>(tile % static_cast<unsigned>(p.tiles_n)) * BN;
  tile /= static_cast<unsigned>(p.tiles_n);
  int first_m = static_cast<int>(tile % static_cast<unsigned>(p.tiles_m)) * BM;
  unsigned batch = tile / static_cast<unsigned>(p.tiles_m);
  const TX* a = static_cast<const TX*>(p.a) + a_place(batch);
  const TX* b = static_cast<const TX*>(p.b) + b_place(batch);
  int t = static_cast<int>(threadIdx.x);
  float sum[4][4] = {};
  for (int first_k = 0; first_k < p.k; first_k += BK) {
    load_tile<A_ALONG_K, BM>(tile_a, a, first_m, p.m, p.am, first_k, p.k, p.ak);
    load_tile<B_ALONG_K, BN>(tile_b, b, first_n, p.n, p.bn, first_k, p.k, p.bk);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < BK; ++k) {
      float u[4], w[4];
      load_vector<4>(&tile_a[k][t / kColumns * 4], u);
      load_vector<4>(&tile_b[k][t % kColumns * 4], w);
#pragma unroll
      for (int i = 0; i < 4; ++i) {
#pragma unroll
        for (int j = 0; j < 4; ++j) sum[i][j] += u[i] * w[j];
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    int m = first_m + t / kColumns * 4 + i;
#pragma unroll
    for (int j = 0; j < 4; j += VECTOR) {
      int n = first_n + t % kColumns * 4 + j;
      if (m >= p.m || n >= p.n) continue;
      float v[VECTOR];
#pragma unroll
      for (int e = 0; e < VECTOR; ++e) v[e] = p.alpha * sum[i][j + e];
      long long at = (static_cast<long long>(batch) * p.m + m) * p.n + n;
      epilogue<VECTOR>(v, p.epilogue, 0, n, at, p.n, p.n);
      store_vector<VECTOR>(static_cast<TY*>(p.y) + at, v);
    }
  }
}
