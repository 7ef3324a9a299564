// Where a window along three dimensions lies: the parts that conv_volume.cuh and pool_volume.cuh
// share.

// Image, and the first input place of the window along each dimension.
struct VolumePlace {
  unsigned n;
  int first[3];
};

__device__ __forceinline__ VolumePlace volume_place(const VolumeArgs& a, unsigned m) {
  const unsigned row = divide(m, a.by_q), plane = divide(row, a.by_p), n = divide(plane, a.by_z);
  const int q = static_cast<int>(m - row * a.by_q.divisor),
            p = static_cast<int>(row - plane * a.by_p.divisor),
            z = static_cast<int>(plane - n * a.by_z.divisor);
  return {n,
          {z * a.side[0].stride - a.side[0].pad, p * a.side[1].stride - a.side[1].pad,
           q * a.side[2].stride - a.side[2].pad}};
}

// The input pixel under a tap; -1 outside of the input.
__device__ __forceinline__ long long volume_pixel(const VolumeArgs& a, const VolumePlace& at, int t,
                                                  int r, int s) {
  const int z = at.first[0] + t * a.side[0].dilation, p = at.first[1] + r * a.side[1].dilation,
            q = at.first[2] + s * a.side[2].dilation;
  const bool inside =
      z >= 0 && z < a.side[0].in && p >= 0 && p < a.side[1].in && q >= 0 && q < a.side[2].in;
  if (!inside) return -1;
  return ((static_cast<long long>(at.n) * a.side[0].in + z) * a.side[1].in + p) * a.side[2].in + q;
}

// Whether the tap is in the input or in its padding, which a rounded up output may leave.
__device__ __forceinline__ bool is_in_padding(const VolumeArgs& a, const VolumePlace& at, int t,
                                              int r, int s) {
  const int taps[3] = {t, r, s};
  bool out = true;
#pragma unroll
  for (int i = 0; i < 3; ++i) {
    const int place = at.first[i] + taps[i] * a.side[i].dilation;
    out = out && place >= -a.side[i].pad && place < a.side[i].in + a.side[i].pad_end;
  }
  return out;
}
