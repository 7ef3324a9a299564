// Elements by index: each index and each element of the result moves once, loads are where the
// indices say.
#include "engine/kernels/cpu/isa/moving/gather_elements.h"
#include "engine/kernels/cpu/isa/broadcast_rows.h"
#include "engine/kernels/cpu/isa/moving/nearest_index.h"

namespace enginery {
namespace {

template <typename T, typename I>
void gather_row(const GatherElementsArguments& a, const T* in, int64_t first, int64_t n) {
  const ElementPlaces& p = a.from;
  const int64_t stride = p.over.stride[0][p.over.loops - 1];
  const I* indices = static_cast<const I*>(p.indices) + first;
  T* out = static_cast<T*>(a.out) + first;
  for (int64_t i = 0; i < n; ++i)
    out[i] = in[stride * i + nearest_index(indices[i], p.size) * p.along];
}

template <typename T, typename I>
void gather_all_by(const GatherElementsArguments& a) {
  for_each_piece_of_rows<1>(a.from.over, [&a](const int64_t* at, int64_t first, int64_t n) {
    gather_row<T, I>(a, static_cast<const T*>(a.in) + at[0], first, n);
  });
}

template <typename T>
void gather_all(const GatherElementsArguments& a) {
  if (a.from.wide)
    gather_all_by<T, int64_t>(a);
  else
    gather_all_by<T, int32_t>(a);
}

}  // namespace

void ENGINERY_KERNEL(gather_elements)(const GatherElementsArguments& a) {
  switch (a.from.element_bytes) {
    case 1:
      return gather_all<uint8_t>(a);
    case 2:
      return gather_all<uint16_t>(a);
    case 4:
      return gather_all<uint32_t>(a);
    default:
      return gather_all<uint64_t>(a);
  }
}

}  // namespace enginery
