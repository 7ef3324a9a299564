// What a scatter makes of an update and what is there.
#pragma once

#include "engine/kernels/cpu/isa/moving/combining.h"
#include "engine/kernels/cpu/isa/numbers.h"

namespace enginery {
namespace {

// A NaN that is there stays, as in the reference.
template <Combining kKind, typename T>
inline T combined(T there, T update) {
  if constexpr (kKind == Combining::add) return sum_of(there, update);
  if constexpr (kKind == Combining::mul) return product_of(there, update);
  if constexpr (kKind == Combining::min) return update < there ? update : there;
  return there < update ? update : there;
}

// call(type and kind as template arguments) for a kind that combines.
template <typename T, typename Call>
inline void for_kind(Combining kind, const Call& call) {
  switch (kind) {
    case Combining::add:
      return call.template run<Combining::add, T>();
    case Combining::mul:
      return call.template run<Combining::mul, T>();
    case Combining::min:
      return call.template run<Combining::min, T>();
    default:
      return call.template run<Combining::max, T>();
  }
}
template <typename Call>
inline void for_numbers(NumberType type, Combining kind, const Call& call) {
  if (type == NumberType::int64) return for_kind<int64_t>(kind, call);
  if (type == NumberType::int32) return for_kind<int32_t>(kind, call);
  return for_kind<float>(kind, call);
}

}  // namespace
}  // namespace enginery
