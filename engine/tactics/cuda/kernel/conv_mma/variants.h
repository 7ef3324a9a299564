// The variants of conv_mma.cuh, conv_wgmma.cuh and conv_patch.cuh: one row is one variant, and
// yields its tactics, its conformance tests, its compile test for every SM and its benchmark rows.
//
// Where: read by conv_mma.cpp's offer and plan. Threads: constants.
#pragma once

#include <span>
#include <string>

namespace enginery {

// A BM x BN tile, rows of row_bytes along K, stages of shared memory, warp tiles of WM x WN.
struct MmaVariant {
  int bm, bn, row_bytes, stages, wm, wn;
  int cluster;  // cluster split-K: blocks of a cluster that share the steps along K; more than 1
                // from sm_90 on
  int split_k;  // split-K: parts along K whose sums pass through memory, in two launches
  int min_sm;
  bool wgmma = false;  // conv_wgmma.cuh, for SM 90 alone: a tile of WM x WN is a warpgroup's
  int patch_rows = 0;  // conv_patch.cuh, for pictures: rows of outputs that a block computes

  // Into how many parts K is divided, either way.
  int parts() const { return cluster > split_k ? cluster : split_k; }
};

std::span<const MmaVariant> mma_variants();

// "64x64x128b_s4_c2": tile, stages; "_w8" where the warps are not the usual number of the tile;
// "_c" cluster, "_k" split-K; "_g2" two warpgroups. "128x64_p4": a patch of 4 rows.
std::string name_of(const MmaVariant& v);

// Threads of a block, and bytes of dynamic shared memory, that a variant needs for as many steps
// along K as fill its stages.
int threads_of(const MmaVariant& v);
int shared_bytes_of(const MmaVariant& v);
// The same for `steps` of a block, which may be fewer than stages: one more is kept, which the
// loop's last step may look into. Not for patches, whose shape decides (MmaCase::shared_bytes).
int shared_bytes_of(const MmaVariant& v, int64_t steps);

}  // namespace enginery
