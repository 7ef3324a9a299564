// What becomes of a warp's sums, in all texts behind tile.cuh: the epilogue, and the output or
// partial sums in memory.

// The epilogue goes through the warp's tile in units: 16 rows of a group of tiles, of which a lane
// has two rows, kVector channels each.
constexpr int kUnits = kTilesN / kGroup * kTilesM;
// What a unit's epilogue reads from memory is read so many units ahead: all that 16 registers hold.
constexpr int kFit = 64 / (2 * static_cast<int>(sizeof(Row)));
// KEEPS_SUMS: nothing is read, since the first product's results are the rows; all are kept.
constexpr int kAhead = KEEPS_SUMS ? kUnits : kFit < 1 ? 1 : kFit < kUnits ? kFit : kUnits;
// The first even before the products, where these leave registers.
constexpr bool kReadsEarly = HAVE_ASYNC_COPY && !kLargeTiles;

struct Place {
  int m, k;
  bool inside;
};

// `first_m`, `first_k`: of the warp's tile.
__device__ __forceinline__ Place place_of(const ConvArgs& a, int first_m, int first_k, int unit,
                                          int half) {
  int lane = threadIdx.x % 32;
  Place p;
  p.m = first_m + unit % kTilesM * kRowsApart + half * 8 + lane / 4;
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

#if KEEPS_SUMS
// The first product's results, rounded as they would be in memory, become the rows that the second
// one's epilogue adds; the sums begin anew. `a`: the first product, whose epilogue's operands are a
// factor and a bias for each channel.
__device__ __forceinline__ void keep_sums(const ConvArgs& a, int first_m, int first_k,
                                          Row (&rows)[kAhead][2],
                                          TSUM (&acc)[kTilesM][kTilesN][4]) {
  float factor[kVector] = {}, bias[kVector] = {};
#pragma unroll
  for (int unit = 0; unit < kUnits; ++unit) {
    const int group = unit / kTilesM, i = unit % kTilesM;
    const Place p = place_of(a, first_m, first_k, unit, 0);
    if (i == 0 && p.k < a.ldy) {
      load_vector<kVector>(static_cast<const float*>(a.epilogue.operand[0]) + p.k, factor);
      load_vector<kVector>(static_cast<const float*>(a.epilogue.operand[1]) + p.k, bias);
    }
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      float v[kVector];
#pragma unroll
      for (int j = 0; j < kVector; ++j)
        v[j] = value_of(acc[i][group * kGroup + j / 2][half * 2 + j % 2]) * factor[j] + bias[j];
      rows[unit][half] = row_of(v);
    }
  }
  begin_sums(acc);
}
#endif

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
        v[j] = value_of(acc[i][group * kGroup + j / 2][half * 2 + j % 2]);
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
