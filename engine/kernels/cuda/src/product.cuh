// Products of any two matrices, one for each batch: run-time operands, transposed ones, batches
// that repeat.
//
// A block of 256 threads owns a tile of 64 x 64 outputs, a thread 4 x 4 of them; steps of 16 along
// K pass through shared memory as floats. A_ALONG_K, B_ALONG_K: along which dimension neighbouring
// threads read. VECTOR: outputs a store. Sums in float32. Serves every SM.

// 64 lines (of m or n) by 16 along K, zeros outside.
template <bool ALONG_K>
__device__ __forceinline__ void load_tile(float (&tile)[16][68], const TX* x, int first, int lines,
                                          int stride, int first_k, int depth, int stride_k) {
  int t = static_cast<int>(threadIdx.x);
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    int k = ALONG_K ? t % 16 : t / 64 + 4 * i, line = ALONG_K ? t / 16 + 16 * i : t % 64;
    bool inside = first + line < lines && first_k + k < depth;
    long long at = static_cast<long long>(first + line) * stride +
                   static_cast<long long>(first_k + k) * stride_k;
    tile[k][line] = inside ? load_one(x + at) : 0.0f;
  }
}

extern "C" __global__ void __launch_bounds__(256) kernel(const ProductArgs p) {
  __shared__ __align__(16) float tile_a[16][68];
  __shared__ __align__(16) float tile_b[16][68];
  unsigned tile = blockIdx.x;
  int first_n = static_cast<int>(tile % static_cast<unsigned>(p.tiles_n)) * 64;
  tile /= static_cast<unsigned>(p.tiles_n);
  int first_m = static_cast<int>(tile % static_cast<unsigned>(p.tiles_m)) * 64;
  unsigned batch = tile / static_cast<unsigned>(p.tiles_m);
  const TX* a = static_cast<const TX*>(p.a) + a_place(batch);
  const TX* b = static_cast<const TX*>(p.b) + b_place(batch);
  int t = static_cast<int>(threadIdx.x);
  float sum[4][4] = {};
  for (int first_k = 0; first_k < p.k; first_k += 16) {
    load_tile<A_ALONG_K>(tile_a, a, first_m, p.m, p.am, first_k, p.k, p.ak);
    load_tile<B_ALONG_K>(tile_b, b, first_n, p.n, p.bn, first_k, p.k, p.bk);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 16; ++k) {
      float u[4], w[4];
      load_vector<4>(&tile_a[k][t / 16 * 4], u);
      load_vector<4>(&tile_b[k][t % 16 * 4], w);
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
    int m = first_m + t / 16 * 4 + i;
#pragma unroll
    for (int j = 0; j < 4; j += VECTOR) {
      int n = first_n + t % 16 * 4 + j;
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
