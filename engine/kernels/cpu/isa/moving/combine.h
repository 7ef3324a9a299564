// What a scatter makes of an update and what is there.
#pragma once

#include "engine/kernels/cpu/isa/moving/combining.h"
#include "engine/kernels/cpu/isa/numbers.h"

namespace enginery {
namespace {

// A NaN that is there stays, as in the reference.
template <CombiningKind kKind, typename T>
inline T combined(T there, T update) {
  if constexpr (kKind == CombiningKind::add) return sum_of(there, update);
  if constexpr (kKind == CombiningKind::mul) return product_of(there, update);
  if constexpr (kKind == CombiningKind::min) return update < there ? update : there;
  return there < update ? update : there;
}

// call(type and kind as template arguments) for a kind that combines.
template <typename T, typename Call>
inline void for_kind(CombiningKind kind, const Call& call) {
  switch (kind) {
    case CombiningKind::add:
      return call.template run<CombiningKind::add, T>();
    case CombiningKind::mul:
      return call.template run<CombiningKind::mul, T>();
    case CombiningKind::min:
      return call.template run<CombiningKind::min, T>();
    default:
      return call.template run<CombiningKind::max, T>();
  }
}
template <typename Call>
inline void for_numbers(const Combining& combining, const Call& call) {
  if (combining.type == NumberType::int64) return for_kind<int64_t>(combining.kind, call);
  if (combining.type == NumberType::int32) return for_kind<int32_t>(combining.kind, call);
  return for_kind<float>(combining.kind, call);
}

}  // namespace
}  // namespace enginery
