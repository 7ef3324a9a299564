// Resizing and padding: each output element is a weighted sum over taps along up to three
// dimensions, the others are kept.
//
// A thread computes VECTOR elements side by side. Generated: kept_place(i), where output i lies
// along the dimensions that are kept, and row_j(i), its row in the table of a sampled one, which
// begins at FIRST_j and has TAPS_j taps a row. A first tap at -1: the place is outside, and takes
// the constant. Bytes moved an output element: one write, and its taps' reads, most of them from
// the caches. Serves every SM.

extern "C" __global__ void __launch_bounds__(THREADS) kernel(const ResampleArgs a) {
  await_predecessors();
  unsigned i = blockIdx.x * THREADS + threadIdx.x;
  if (i >= a.total) return;
  i *= VECTOR;
  const TX* x = static_cast<const TX*>(a.x) + kept_place(i);
  const ResampleTap* t0 = a.taps + FIRST_0 + row_0(i) * TAPS_0;
  const ResampleTap* t1 = a.taps + FIRST_1 + row_1(i) * TAPS_1;
  const ResampleTap* t2 = a.taps + FIRST_2 + row_2(i) * TAPS_2;
  float v[VECTOR];
  bool outside = t0->at < 0 || t1->at < 0 || t2->at < 0;
#pragma unroll
  for (int k = 0; k < VECTOR; ++k) v[k] = outside ? *a.outside : 0.0f;
  if (!outside) {  // taps are few, or many where an image shrinks: how far to unroll is the
                   // compiler's affair
    for (int j0 = 0; j0 < TAPS_0; ++j0) {
      for (int j1 = 0; j1 < TAPS_1; ++j1) {
        for (int j2 = 0; j2 < TAPS_2; ++j2) {
          float u[VECTOR], weight = t0[j0].weight * t1[j1].weight * t2[j2].weight;
          load_vector<VECTOR>(x + t0[j0].at + t1[j1].at + t2[j2].at, u);
#pragma unroll
          for (int k = 0; k < VECTOR; ++k) v[k] += weight * u[k];
        }
      }
    }
  }
  store_vector<VECTOR>(static_cast<TY*>(a.y) + i, v);
}
