// Rows of a tensor at places that several indices name: what gather_nd and scatter_nd share. Filled
// by engine/tactics/cpu/kernel/indexed.cpp.
#pragma once

#include <cstdint>

namespace enginery {

constexpr int kMaxIndexedDims = 6;

// Row j of `count` is at j / each * step + sum of index[j][d] * stride[d], in rows: the first term
// is that of dimensions in front which indices and tensor share. A negative index counts from the
// end of size[d]; one outside takes the nearest row.
struct RowPlaces {
  const void* indices;  // [count, dims]
  bool wide;            // of 64 bits, else of 32
  int dims;
  int64_t count, each, step, row_bytes;
  int64_t size[kMaxIndexedDims], stride[kMaxIndexedDims];
};

}  // namespace enginery
