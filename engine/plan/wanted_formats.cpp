#include "engine/plan/wanted_formats.h"

#include <algorithm>

namespace enginery {

bool suits(const WantedFormat& want, const Dims& dims, const Format& lies) {
  if (same_placement(dims, lies, want.format)) return true;
  return want.or_pitched && has_pitch(lies) && without_pitch(lies) == want.format;
}

Format boundary_format(const Value& value) {
  return {value.type.type, Layout{}};
}

Format lying(const Value& value, const Tactic* maker, size_t output, const WantedFormats& wanted) {
  if (!maker) return boundary_format(value);
  const Dims& dims = value.type.dims;
  for (const auto& [place, count] : wanted) {
    if (!has_pitch(place.format) || !can_leave(*maker, output, dims, place.format)) continue;
    const bool suits_all = std::ranges::all_of(
        wanted, [&](const auto& other) { return suits(other.first, dims, place.format); });
    if (suits_all) return place.format;
  }
  return maker->outputs[output];
}

}  // namespace enginery
