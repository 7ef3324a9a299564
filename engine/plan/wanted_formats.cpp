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
    const bool suits_all =
        std::ranges::all_of(wanted, [&, &format = place.format](const auto& other) {
          return suits(other.first, dims, format);
        });
    if (suits_all) return place.format;
  }
  return maker->outputs[output];
}

std::map<ValueId, Flow> flows_of(const Network& network, const std::vector<Tactic>& tactics) {
  std::map<ValueId, Flow> out;
  for (size_t n = 0; n < network.nodes.size(); ++n) {
    const NetworkNode& node = network.nodes[n];
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (node.inputs[i] != kNoValue && !node.problem.inputs[i].constant)
        out[node.inputs[i]].wanted[wanted_by(tactics[n], i)] += 1;
    }
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      Flow& flow = out[node.outputs[i]];
      flow.maker = &tactics[n];
      flow.output = i;
    }
  }
  for (const ValueId v : network.graph.outputs())
    out[v].wanted[{boundary_format(network.graph.value(v)), false}] += 1;
  return out;
}

}  // namespace enginery
