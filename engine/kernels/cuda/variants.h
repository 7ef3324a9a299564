// The kernel variants: one row is one variant, and yields its tactics, its conformance tests and
// its benchmark rows.
#pragma once

#include <span>
#include <string>

namespace enginery {

// conv_mma.cuh: BM x BN tile, rows of row_bytes along K, stages of shared memory, warp tile, blocks
// of a cluster along K (1: none), parts through memory (two launches).
struct MmaVariant {
  const char* name;
  int bm, bn, row_bytes, stages, wm, wn;
  int cluster;  // > 1: sm_90 and later
  int slices;   // > 1: parts through memory
  int least_sm;
};

// conv_simt.cuh: BM x BN tile, BK along K, TM x 8 a thread, parts through memory (two launches).
struct SimtVariant {
  const char* name;
  int bm, bn, bk, tm;
  int slices;  // > 1: parts through memory
};

// depthwise.cuh: outputs along a row for one thread.
struct DepthwiseVariant {
  const char* name;
  int strip;
};

// gemv.cuh: rows of x that one pass over the weights serves.
struct GemvVariant {
  const char* name;
  int rows;
};

// reduce.cuh: threads that own one output.
struct ReduceVariant {
  const char* name;
  int group;
};

std::span<const MmaVariant> mma_variants();
std::span<const SimtVariant> simt_variants();
std::span<const DepthwiseVariant> depthwise_variants();
std::span<const GemvVariant> gemv_variants();
std::span<const ReduceVariant> reduce_variants();

// Threads of a block, and bytes of shared memory, that a variant needs.
int threads_of(const MmaVariant& v);
int shared_bytes_of(const MmaVariant& v);

}  // namespace enginery
