#include "engine/kernels/cuda/variants.h"

#include <algorithm>

namespace enginery {
namespace {

// name, BM, BN, row bytes, stages, WM, WN, cluster, slices, least SM
constexpr MmaVariant kMma[] = {
    {"256x128x64b_s3", 256, 128, 64, 3, 64, 64, 1, 1, 80},
    {"128x256x64b_s3", 128, 256, 64, 3, 64, 64, 1, 1, 80},
    {"256x64x64b_s4", 256, 64, 64, 4, 64, 32, 1, 1, 80},
    {"128x128x64b_s4", 128, 128, 64, 4, 64, 64, 1, 1, 80},
    {"128x128x64b_s4_w8", 128, 128, 64, 4, 64, 32, 1, 1, 80},
    {"128x128x128b_s3", 128, 128, 128, 3, 64, 64, 1, 1, 80},
    {"128x128x128b_s3_w8", 128, 128, 128, 3, 64, 32, 1, 1, 80},
    {"128x64x64b_s4", 128, 64, 64, 4, 64, 32, 1, 1, 80},
    {"128x64x128b_s3", 128, 64, 128, 3, 32, 64, 1, 1, 80},
    {"64x128x128b_s3", 64, 128, 128, 3, 32, 64, 1, 1, 80},
    {"64x64x128b_s4", 64, 64, 128, 4, 32, 32, 1, 1, 80},
    {"64x32x128b_s4", 64, 32, 128, 4, 32, 16, 1, 1, 80},
    {"32x64x128b_s4", 32, 64, 128, 4, 16, 32, 1, 1, 80},
    {"32x32x128b_s5", 32, 32, 128, 5, 16, 16, 1, 1, 80},
    {"16x64x128b_s5", 16, 64, 128, 5, 16, 16, 1, 1, 80},
    {"64x64x128b_s4_c2", 64, 64, 128, 4, 32, 32, 2, 1, 90},
    {"64x64x128b_s4_c4", 64, 64, 128, 4, 32, 32, 4, 1, 90},
    {"64x64x128b_s4_c8", 64, 64, 128, 4, 32, 32, 8, 1, 90},
    {"64x32x128b_s4_c2", 64, 32, 128, 4, 32, 16, 2, 1, 90},
    {"64x32x128b_s4_c4", 64, 32, 128, 4, 32, 16, 4, 1, 90},
    {"32x64x128b_s4_c2", 32, 64, 128, 4, 16, 32, 2, 1, 90},
    {"32x64x128b_s4_c4", 32, 64, 128, 4, 16, 32, 4, 1, 90},
    {"32x64x128b_s4_c8", 32, 64, 128, 4, 16, 32, 8, 1, 90},
    {"32x32x128b_s5_c4", 32, 32, 128, 5, 16, 16, 4, 1, 90},
    {"32x32x128b_s5_c8", 32, 32, 128, 5, 16, 16, 8, 1, 90},
    {"16x64x128b_s5_c4", 16, 64, 128, 5, 16, 16, 4, 1, 90},
    {"16x64x128b_s5_c8", 16, 64, 128, 5, 16, 16, 8, 1, 90},
    {"64x64x128b_s4_k4", 64, 64, 128, 4, 32, 32, 1, 4, 80},
    {"64x64x128b_s4_k8", 64, 64, 128, 4, 32, 32, 1, 8, 80},
    {"32x64x128b_s4_k4", 32, 64, 128, 4, 16, 32, 1, 4, 80},
    {"32x64x128b_s4_k8", 32, 64, 128, 4, 16, 32, 1, 8, 80},
    {"128x128x64b_s2", 128, 128, 64, 2, 64, 64, 1, 1, 75},
    {"128x64x64b_s2", 128, 64, 64, 2, 64, 32, 1, 1, 75},
    {"64x64x64b_s2", 64, 64, 64, 2, 32, 32, 1, 1, 75},
    {"64x64x64b_s2_k4", 64, 64, 64, 2, 32, 32, 1, 4, 75},
};

// name, BM, BN, BK, TM, slices
constexpr SimtVariant kSimt[] = {
    {"128x128x8", 128, 128, 8, 8, 1},    {"128x64x8", 128, 64, 8, 8, 1},
    {"64x64x16", 64, 64, 16, 8, 1},      {"64x32x16", 64, 32, 16, 4, 1},
    {"32x32x16", 32, 32, 16, 4, 1},      {"128x64x8_k4", 128, 64, 8, 8, 4},
    {"64x64x16_k4", 64, 64, 16, 8, 4},   {"64x64x16_k8", 64, 64, 16, 8, 8},
    {"64x64x16_k16", 64, 64, 16, 8, 16}, {"32x32x16_k4", 32, 32, 16, 4, 4},
    {"32x32x16_k8", 32, 32, 16, 4, 8},
};

constexpr DepthwiseVariant kDepthwise[] = {
    {"strip1", 1}, {"strip2", 2}, {"strip4", 4}, {"strip8", 8}};

constexpr GemvVariant kGemv[] = {{"rows1", 1}, {"rows4", 4}, {"rows8", 8}};

constexpr ReduceVariant kReduce[] = {{"threads", 1}, {"warps", 32}, {"blocks", 256}};

}  // namespace

std::span<const MmaVariant> mma_variants() {
  return kMma;
}
std::span<const SimtVariant> simt_variants() {
  return kSimt;
}
std::span<const DepthwiseVariant> depthwise_variants() {
  return kDepthwise;
}
std::span<const GemvVariant> gemv_variants() {
  return kGemv;
}
std::span<const ReduceVariant> reduce_variants() {
  return kReduce;
}

int threads_of(const MmaVariant& v) {
  return v.bm / v.wm * (v.bn / v.wn) * 32;
}

int shared_bytes_of(const MmaVariant& v) {
  int copies = v.stages * (v.bm + v.bn) * v.row_bytes;
  int whole_tile = v.bm * (v.bn + 8) * 4;
  int warp_rows = threads_of(v) / 32 * 16 * (v.wn + 8) * 4;
  return std::max(copies, v.cluster > 1 ? whole_tile : warp_rows);
}

}  // namespace enginery
