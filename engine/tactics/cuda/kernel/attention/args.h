// Arguments of mma.cuh and simt.cuh.
//
// Read by the host and by the kernel's text; engine files hold code that reads them, so a field is
// never moved.
#pragma once

#include "engine/tactics/cuda/kernel/text/args.h"

#ifndef ENGINERY_KERNEL_TEXT
namespace enginery::gpu {
#endif

// An operand's matrix of index (i0, i1, i2) begins at offset + i0 * b0 + i1 * b1 + i2 * b2, in
// elements.
struct MatrixPlaces {
  int offset, b0, b1, b2, row, column;
};

struct AttentionArgs {
  const void* q;
  const void* k;
  const void* v;
  void* y;
  const float* addend;
  const unsigned char* choice;
  MatrixPlaces q_places, k_places, v_places, y_places, addend_places, choice_places;
  int queries, keys;
  int tiles;   // blocks along the queries of one matrix
  int n1, n2;  // sizes of the last two indices
  float scale, blank;
};

#ifndef ENGINERY_KERNEL_TEXT
}  // namespace enginery::gpu
#endif
