// Which channels a lane has of what tensor cores multiply: VECTOR adjacent ones, which it stores at
// once.

constexpr int kGroup = VECTOR / 2;  // tiles of 8 columns that they come from

// Tiles of 8 columns are not in the order of the channels: a lane holds two columns of each, and
// those of kGroup tiles are VECTOR adjacent channels. The first one of lane `quarter` (lane % 4) in
// a tile, counted from the warp's first channel.
__device__ __forceinline__ int column_of(int tile, int quarter) {
  return tile / kGroup * (8 * kGroup) + quarter * VECTOR + tile % kGroup * 2;
}
