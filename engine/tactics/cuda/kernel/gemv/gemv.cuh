// A matrix times few vectors, the tail of classifiers: y[m, k] = epilogue(sum over c of x[m, c] *
// w[k, c]), m < ROWS.
//
// A warp computes one k for ROWS rows of x; lanes read w in 16-byte pieces, once. A block has 4
// warps; blockIdx.y counts groups of ROWS rows. Bytes moved: w once for each group. Serves every
// SM.

constexpr int kPiece = 16 / sizeof(TX);

__device__ __forceinline__ float warp_sum(float v) {
#pragma unroll
  for (int lanes = 16; lanes > 0; lanes /= 2) v += __shfl_xor_sync(0xffffffffu, v, lanes);
  return v;
}

extern "C" __global__ void __launch_bounds__(128) kernel(const GemvArgs a) {
  await_predecessors();
  int lane = threadIdx.x % 32;
  int k = static_cast<int>(blockIdx.x) * 4 + threadIdx.x / 32, first = blockIdx.y * ROWS;
  if (k >= a.k) return;
  const TX* w = static_cast<const TX*>(a.w) + static_cast<long long>(k) * a.c;
  float acc[ROWS] = {};
  int vectored = VECTORED ? a.c : 0;
#pragma unroll 4
  for (int c = lane * kPiece; c < vectored; c += 32 * kPiece) {
    float u[kPiece];
    load_vector<kPiece>(w + c, u);
#pragma unroll
    for (int i = 0; i < ROWS; ++i) {
      if (first + i >= a.m) break;
      float v[kPiece];
      load_vector<kPiece>(
          static_cast<const TX*>(a.x) + static_cast<long long>(first + i) * a.ldx + c, v);
#pragma unroll
      for (int j = 0; j < kPiece; ++j) acc[i] += u[j] * v[j];
    }
  }
  for (int c = vectored + lane; c < a.c; c += 32) {
    float u = load_one(w + c);
    for (int i = 0; i < ROWS && first + i < a.m; ++i)
      acc[i] +=
          u * load_one(static_cast<const TX*>(a.x) + static_cast<long long>(first + i) * a.ldx + c);
  }
#pragma unroll
  for (int i = 0; i < ROWS; ++i) {
    float v[1] = {warp_sum(acc[i])};
    int m = first + i;
    if (lane != i || m >= a.m) continue;
    long long index = static_cast<long long>(m) * a.ldy + k;
    epilogue<1>(v, a.epilogue, m, k, index, a.ldy, a.k);
    store_one(static_cast<TY*>(a.y) + index, v[0]);
  }
}
