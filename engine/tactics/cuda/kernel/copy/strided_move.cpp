#include "engine/tactics/cuda/kernel/copy/strided_move.h"

namespace enginery {
namespace {

bool all_multiples(const Dims& strides, int64_t of, size_t but_last) {
  for (size_t d = 0; d + but_last < strides.size(); ++d) {
    if (strides[d] % of) return false;
  }
  return true;
}

}  // namespace

StridedMove simplified(const StridedMove& move) {
  StridedMove out = move;
  out.dims.clear();
  out.in_stride.clear();
  out.out_stride.clear();
  for (size_t d = 0; d < move.dims.size(); ++d) {
    if (move.dims[d] == 1) continue;
    const bool joins = !out.dims.empty() &&
                       out.in_stride.back() == move.in_stride[d] * move.dims[d] &&
                       out.out_stride.back() == move.out_stride[d] * move.dims[d];
    if (joins) {
      out.dims.back() *= move.dims[d];
      out.in_stride.back() = move.in_stride[d];
      out.out_stride.back() = move.out_stride[d];
    } else {
      out.dims.push_back(move.dims[d]);
      out.in_stride.push_back(move.in_stride[d]);
      out.out_stride.push_back(move.out_stride[d]);
    }
  }
  if (out.dims.empty()) {
    out.dims = {1};
    out.in_stride = {1};
    out.out_stride = {1};
  }
  return out;
}

MoveUnit widest_unit(const StridedMove& move, int64_t bytes) {
  MoveUnit unit{bytes, move};
  const int64_t pack = 16 / bytes;
  StridedMove& m = unit.move;
  const bool contiguous = m.in_stride.back() == 1 && m.out_stride.back() == 1;
  const bool aligned = m.dims.back() % pack == 0 && m.in_base % pack == 0 &&
                       m.out_base % pack == 0 && all_multiples(m.in_stride, pack, 1) &&
                       all_multiples(m.out_stride, pack, 1);
  if (!contiguous || !aligned) return unit;
  unit.bytes = 16;
  m.dims.back() /= pack;
  m.in_base /= pack;
  m.out_base /= pack;
  for (size_t d = 0; d + 1 < m.dims.size(); ++d) {
    m.in_stride[d] /= pack;
    m.out_stride[d] /= pack;
  }
  return unit;
}

}  // namespace enginery
