#include "engine/tactics/cuda/kernel/conv_mma/variants.h"

#include <algorithm>

namespace enginery {
namespace {

// BM, BN, row bytes, stages, WM, WN, cluster, split_k, min_sm, wgmma, patch_rows
constexpr MmaVariant kMmaVariants[] = {
    {256, 128, 64, 3, 64, 64, 1, 1, 80},
    {128, 256, 64, 3, 64, 64, 1, 1, 80},
    {256, 64, 64, 4, 64, 32, 1, 1, 80},
    {128, 128, 64, 4, 64, 64, 1, 1, 80},
    {128, 128, 64, 4, 64, 32, 1, 1, 80},
    {128, 128, 128, 3, 64, 64, 1, 1, 80},
    {128, 128, 128, 3, 64, 32, 1, 1, 80},
    {128, 64, 64, 4, 64, 32, 1, 1, 80},
    {128, 64, 128, 3, 32, 64, 1, 1, 80},
    {64, 128, 128, 3, 32, 64, 1, 1, 80},
    {64, 64, 128, 4, 32, 32, 1, 1, 80},
    {64, 32, 128, 4, 32, 16, 1, 1, 80},
    {32, 64, 128, 4, 16, 32, 1, 1, 80},
    {32, 32, 128, 5, 16, 16, 1, 1, 80},
    {16, 64, 128, 5, 16, 16, 1, 1, 80},
    {64, 64, 128, 4, 32, 32, 2, 1, 90},
    {64, 64, 128, 4, 32, 32, 4, 1, 90},
    {64, 64, 128, 4, 32, 32, 8, 1, 90},
    {64, 32, 128, 4, 32, 16, 2, 1, 90},
    {64, 32, 128, 4, 32, 16, 4, 1, 90},
    {32, 64, 128, 4, 16, 32, 2, 1, 90},
    {32, 64, 128, 4, 16, 32, 4, 1, 90},
    {32, 64, 128, 4, 16, 32, 8, 1, 90},
    {32, 32, 128, 5, 16, 16, 4, 1, 90},
    {32, 32, 128, 5, 16, 16, 8, 1, 90},
    {16, 64, 128, 5, 16, 16, 4, 1, 90},
    {16, 64, 128, 5, 16, 16, 8, 1, 90},
    {64, 64, 128, 4, 32, 32, 1, 4, 80},
    {64, 64, 128, 4, 32, 32, 1, 8, 80},
    {32, 64, 128, 4, 16, 32, 1, 4, 80},
    {32, 64, 128, 4, 16, 32, 1, 8, 80},
    {128, 128, 64, 2, 64, 64, 1, 1, 75},
    {128, 64, 64, 2, 64, 32, 1, 1, 75},
    {64, 64, 64, 2, 32, 32, 1, 1, 75},
    {64, 64, 64, 2, 32, 32, 1, 4, 75},
    {256, 128, 128, 3, 128, 128, 1, 1, 90, true},
    {128, 256, 128, 4, 64, 256, 1, 1, 90, true},
    {128, 256, 64, 4, 64, 256, 1, 1, 90, true},
    {128, 128, 128, 3, 64, 128, 1, 1, 90, true},
    {128, 128, 64, 4, 64, 128, 1, 1, 90, true},
    {256, 64, 64, 4, 128, 64, 1, 1, 90, true},
    {128, 64, 64, 4, 64, 64, 1, 1, 90, true},
    {128, 64, 64, 4, 128, 64, 1, 1, 90, true},
    {128, 64, 128, 3, 128, 64, 1, 1, 90, true},
    {128, 128, 64, 4, 128, 128, 1, 1, 90, true},
    {128, 64, 128, 4, 64, 64, 1, 1, 90, true},
    {64, 128, 128, 3, 64, 128, 1, 1, 90, true},
    {64, 64, 128, 4, 64, 64, 1, 1, 90, true},
    {128, 64, 64, 1, 32, 64, 1, 1, 80, false, 4},
    {128, 64, 64, 1, 32, 64, 1, 1, 80, false, 2},
    {128, 32, 64, 1, 32, 32, 1, 1, 80, false, 4},
};

int warps_of(const MmaVariant& v) {
  return v.bm / v.wm * (v.bn / v.wn) * (v.wgmma ? 4 : 1);
}

}  // namespace

std::span<const MmaVariant> mma_variants() {
  return kMmaVariants;
}

std::string name_of(const MmaVariant& v) {
  const int usual_warps = std::max(v.bm, v.bn) >= 256 ? 8 : 4;
  std::string name = std::to_string(v.bm) + "x" + std::to_string(v.bn);
  if (v.patch_rows) return name + "_p" + std::to_string(v.patch_rows);
  name += "x" + std::to_string(v.row_bytes) + "b_s" + std::to_string(v.stages);
  if (v.wgmma) return name + "_g" + std::to_string(warps_of(v) / 4);
  if (warps_of(v) != usual_warps) name += "_w" + std::to_string(warps_of(v));
  if (v.cluster > 1) name += "_c" + std::to_string(v.cluster);
  if (v.split_k > 1) name += "_k" + std::to_string(v.split_k);
  return name;
}

int threads_of(const MmaVariant& v) {
  return warps_of(v) * 32;
}

// The copies of the stages; in their place, once K is done, the sums of the tile where a cluster's
// blocks read one another's.
int shared_bytes_of(const MmaVariant& v, int64_t steps) {
  const auto stages = static_cast<int>(std::min<int64_t>(v.stages, steps + 1));
  const int copies = stages * (v.bm + v.bn) * v.row_bytes;
  const int whole_tile = v.bm * (v.bn + 8) * 4;
  return std::max(copies, v.cluster > 1 ? whole_tile : 0);
}

int shared_bytes_of(const MmaVariant& v) {
  return shared_bytes_of(v, v.stages);
}

}  // namespace enginery
