#include "engine/tactics/tactic.h"

#include <algorithm>

namespace enginery {
namespace {

// Formats joined by commas; those of constants and whatever else stands at its default at the end
// are left out.
std::string formats_text(const std::vector<Format>& formats) {
  size_t count = formats.size();
  while (count > 1 && formats[count - 1] == Format{}) --count;
  std::string out;
  for (size_t i = 0; i < count; ++i) out += (i ? "," : "") + to_string(formats[i]);
  return out;
}

bool names_a_pitch(const Problem& reformat) {
  return has_pitch(*reformat.inputs[0].pinned) || has_pitch(*reformat.outputs[0].pinned);
}

// The first type of an input or output that is for storage alone.
std::optional<DataType> storage_only_type(const Problem& problem) {
  for (const auto* descs : {&problem.inputs, &problem.outputs}) {
    for (const TensorDesc& desc : *descs) {
      if (desc.present && is_storage_only(desc.type.type)) return desc.type.type;
    }
  }
  for (const TensorType& type : problem.inner) {
    if (is_storage_only(type.type)) return type.type;
  }
  return std::nullopt;
}

}  // namespace

std::string tactic_key(const Tactic& tactic) {
  return tactic.source + ":" + tactic.id + "(" + formats_text(tactic.inputs) + "->" +
         formats_text(tactic.outputs) + ")";
}

bool can_leave(const Tactic& tactic, size_t index, const Dims& dims, const Format& wanted) {
  const Format& made = tactic.outputs[index];
  if (same_placement(dims, made, wanted)) return true;
  return index == 0 && tactic.writes_pitched && has_pitch(wanted) && made == without_pitch(wanted);
}

Status require_served(const TacticSource& source, const Problem& problem) {
  const SourceTraits traits = source.traits();
  if (is_reformat(problem) && names_a_pitch(problem) && !traits.serves_pitches)
    return Error{ErrorCode::unsupported, std::string(traits.name) + ": formats without a pitch"};
  const auto type = storage_only_type(problem);
  if (type && traits.trust != Trust::reference) {
    return Error{ErrorCode::unsupported, std::string(traits.name) + ": has no elements of " +
                                             std::string(to_string(*type))};
  }
  if (!is_region(problem) || traits.takes_regions) return {};
  return Error{ErrorCode::unsupported, std::string(traits.name) +
                                           ": runs one operator at a time, not the region " +
                                           operator_names(problem)};
}

Status require_served(const TacticSource& source, const Problem& problem, const Tactic& tactic) {
  const bool pitched = std::ranges::any_of(tactic.inputs, has_pitch) ||
                       std::ranges::any_of(tactic.outputs, has_pitch);
  if (pitched && !source.traits().serves_pitches)
    return Error{ErrorCode::unsupported, std::string(source.name()) + ": formats without a pitch"};
  return require_served(source, problem);
}

}  // namespace enginery
