// Rows of a tensor by several indices each.
//
// Filled by engine/tactics/cpu/kernel/gather_nd.cpp, which knows the problem and refuses indices
// outside of their dimensions; the kernel reads nothing outside of them whatever they are.
#pragma once

#include "engine/kernels/cpu/isa/moving/row_places.h"

namespace enginery {

// out[j] = in[place j], of rows.
struct GatherNdArguments {
  const void* in;
  void* out;
  RowPlaces from;
};

}  // namespace enginery
