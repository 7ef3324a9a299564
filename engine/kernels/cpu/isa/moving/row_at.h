// Where row j of RowPlaces is.
#pragma once

#include "engine/kernels/cpu/isa/moving/nearest_index.h"
#include "engine/kernels/cpu/isa/moving/row_places.h"

namespace enginery {
namespace {

template <typename I>
int64_t row_at_index(const RowPlaces& p, int64_t j) {
  const I* index = static_cast<const I*>(p.indices) + j * p.dims;
  int64_t row = j < p.each ? 0 : j / p.each * p.step;
  for (int d = 0; d < p.dims; ++d) row += nearest_index(index[d], p.size[d]) * p.stride[d];
  return row;
}

inline int64_t row_at(const RowPlaces& p, int64_t j) {
  return p.wide ? row_at_index<int64_t>(p, j) : row_at_index<int32_t>(p, j);
}

}  // namespace
}  // namespace enginery
