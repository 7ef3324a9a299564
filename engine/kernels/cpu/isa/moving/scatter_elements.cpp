// A copy in pieces, then the elements in order by one thread, since of two for one place the last
// one stays: each index and each update is read once, stores are where the indices say.
#include "engine/kernels/cpu/isa/moving/scatter_elements.h"

#include "engine/kernels/cpu/isa/broadcast_rows.h"
#include "engine/kernels/cpu/isa/moving/combine.h"
#include "engine/kernels/cpu/isa/moving/copy_bytes.h"
#include "engine/kernels/cpu/isa/moving/nearest_index.h"

namespace enginery {
namespace {

template <CombiningKind kKind, typename T, typename I>
void scatter_row(const ScatterElementsArguments& a, T* out, int64_t first, int64_t n) {
  const ElementPlaces& p = a.to;
  const int64_t stride = p.over.stride[0][p.over.loops - 1];
  const I* indices = static_cast<const I*>(p.indices) + first;
  const T* updates = static_cast<const T*>(a.updates) + first;
  for (int64_t i = 0; i < n; ++i) {
    T& at = out[stride * i + nearest_index(indices[i], p.size) * p.along];
    if constexpr (kKind == CombiningKind::replace)
      at = updates[i];
    else
      at = combined<kKind>(at, updates[i]);
  }
}

template <CombiningKind kKind, typename T>
void scatter_all(const ScatterElementsArguments& a) {
  for_each_piece_in_order<1>(a.to.over, [&a](const int64_t* at, int64_t first, int64_t n) {
    T* const out = static_cast<T*>(a.out) + at[0];
    if (a.to.wide)
      scatter_row<kKind, T, int64_t>(a, out, first, n);
    else
      scatter_row<kKind, T, int32_t>(a, out, first, n);
  });
}

struct CombinedElements {
  const ScatterElementsArguments& a;
  template <CombiningKind kKind, typename T>
  void run() const {
    scatter_all<kKind, T>(a);
  }
};

}  // namespace

void ENGINERY_KERNEL(scatter_elements)(const ScatterElementsArguments& a) {
  copy_all(static_cast<const char*>(a.in), static_cast<char*>(a.out), a.bytes);
  if (a.combining.kind != CombiningKind::replace)
    return for_numbers(a.combining, CombinedElements{a});
  switch (a.to.element_bytes) {
    case 1:
      return scatter_all<CombiningKind::replace, uint8_t>(a);
    case 2:
      return scatter_all<CombiningKind::replace, uint16_t>(a);
    case 4:
      return scatter_all<CombiningKind::replace, uint32_t>(a);
    default:
      return scatter_all<CombiningKind::replace, uint64_t>(a);
  }
}

}  // namespace enginery
