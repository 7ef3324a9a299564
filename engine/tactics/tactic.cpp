#include "engine/tactics/tactic.h"

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

}  // namespace

std::string tactic_key(const Tactic& tactic) {
  return tactic.source + ":" + tactic.id + "(" + formats_text(tactic.inputs) + "->" +
         formats_text(tactic.outputs) + ")";
}

Status require_served(const TacticSource& source, const Problem& problem) {
  const SourceTraits traits = source.traits();
  if (!is_region(problem) || traits.takes_regions) return {};
  return Error{ErrorCode::unsupported, std::string(traits.name) +
                                           ": runs one operator at a time, not the region " +
                                           operator_names(problem)};
}

}  // namespace enginery
