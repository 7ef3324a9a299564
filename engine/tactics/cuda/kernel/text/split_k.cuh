// The second launch of split-K: adds the partial sums of the parts along K in their order, so that
// the result does not depend on timing, and runs the epilogue by the family's own store_epilogue().
//
// A thread adds one vector of SUM_VECTOR channels. Partial sums: [part][m][tiles_k * BN] TSUM, of 4
// bytes. Bytes moved an output: 4 a part, and the output. The entry's name is in code that engine
// files hold. Serves every SM.

#if SPLIT_K
extern "C" __global__ void __launch_bounds__(256) reduce_parts(const ConvArgs a) {
  await_predecessors();
  int vectors = a.ldy / SUM_VECTOR;
  int i = static_cast<int>(blockIdx.x) * 256 + threadIdx.x;
  int m = i / vectors, k = (i - m * vectors) * SUM_VECTOR;
  if (m >= a.m) return;
  TSUM v[SUM_VECTOR] = {};
  int pitch = a.tiles_k * BN;
  for (int part = 0; part < a.split_k; ++part) {
    TSUM sum[SUM_VECTOR];
    load_vector<SUM_VECTOR>(reinterpret_cast<const TSUM*>(a.partial_sums) +
                                (static_cast<long long>(part) * a.m + m) * pitch + k,
                            sum);
#pragma unroll
    for (int j = 0; j < SUM_VECTOR; ++j) v[j] += sum[j];
  }
  float y[SUM_VECTOR];
#pragma unroll
  for (int j = 0; j < SUM_VECTOR; ++j) y[j] = static_cast<float>(v[j]);
  store_epilogue(a, y, m, k);
}
#endif
