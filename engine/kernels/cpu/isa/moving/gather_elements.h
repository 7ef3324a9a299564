// Elements at computed places along one dimension.
//
// Filled by engine/tactics/cpu/kernel/gather_elements.cpp, which knows the problem and refuses
// indices outside of the dimension; the kernel reads nothing outside of it whatever they are.
#pragma once

#include "engine/kernels/cpu/isa/moving/element_places.h"

namespace enginery {

// out[i] = in[place of i]: the output lies in order, as the indices do.
struct GatherElementsArguments {
  const void* in;
  void* out;
  ElementPlaces from;
};

}  // namespace enginery
