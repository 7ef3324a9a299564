// The second launch of a convolution whose K was divided among blocks: adds the slices' parts in
// order, one vector of PART_VECTOR channels a thread, and runs the epilogue by the family's own
// finish(). Parts: [slice][m][tiles_k * BN] float32.

#if PARTIAL
extern "C" __global__ void __launch_bounds__(256) reduce_parts(const ConvArgs a) {
  int vectors = a.ldy / PART_VECTOR;
  int i = static_cast<int>(blockIdx.x) * 256 + threadIdx.x;
  int m = i / vectors, k = (i - m * vectors) * PART_VECTOR;
  if (m >= a.m) return;
  float v[PART_VECTOR] = {};
  int pitch = a.tiles_k * BN;
  for (int slice = 0; slice < a.slices; ++slice) {
    float part[PART_VECTOR];
    load_vector<PART_VECTOR>(a.partial + (static_cast<long long>(slice) * a.m + m) * pitch + k,
                             part);
#pragma unroll
    for (int j = 0; j < PART_VECTOR; ++j) v[j] += part[j];
  }
  finish(a, v, m, k);
}
#endif
