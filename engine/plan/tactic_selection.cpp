#include "engine/plan/tactic_selection.h"

#include <set>

namespace enginery {

Format boundary_format(const Value& value) {
  return {value.type.type, Layout{}};
}

std::vector<ReformatKey> needed_reformats(const Network& network,
                                          const std::vector<Tactic>& tactics) {
  struct Maker {
    const Tactic* tactic = nullptr;  // null: an input
    size_t output = 0;
  };
  std::vector<Maker> makers(static_cast<size_t>(network.graph.value_count()));
  std::set<ReformatKey> needed;
  auto want = [&](ValueId v, const Format& format) {
    const Value& value = network.graph.value(v);
    const auto& [tactic, output] = makers[static_cast<size_t>(v)];
    const Format from = tactic ? tactic->outputs[output] : boundary_format(value);
    const bool lies_so = tactic ? can_leave(*tactic, output, value.type.dims, format)
                                : same_placement(value.type.dims, from, format);
    if (!lies_so) needed.insert({v, from, format});
  };
  for (size_t n = 0; n < network.nodes.size(); ++n) {
    const NetworkNode& node = network.nodes[n];
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (node.inputs[i] != kNoValue && !node.problem.inputs[i].constant)
        want(node.inputs[i], tactics[n].inputs[i]);
    }
    for (size_t i = 0; i < node.outputs.size(); ++i)
      makers[static_cast<size_t>(node.outputs[i])] = {&tactics[n], i};
  }
  for (ValueId v : network.graph.outputs()) want(v, boundary_format(network.graph.value(v)));
  return {needed.begin(), needed.end()};
}

Result<Tactic> offer_reformat_tactic(const Network& network, const TacticSources& sources,
                                     const ReformatKey& key) {
  static const std::set<Precision> kAny = {Precision::fp32, Precision::tf32, Precision::fp16,
                                           Precision::bf16, Precision::int8};
  const Value& value = network.graph.value(key.value);
  auto offered = offer_all(sources, reformat_problem(value.type, key.from, key.to), kAny);
  if (!offered)
    return offered.error().within("reformat of '" + value.name + "' from " + to_string(key.from) +
                                  " to " + to_string(key.to));
  return offered->front();
}

Status complete_reformats(const Network& network, const TacticSources& sources,
                          TacticSelection& selection) {
  for (const ReformatKey& key : needed_reformats(network, selection.tactics)) {
    if (selection.reformats.count(key)) continue;
    TRY(Tactic tactic, offer_reformat_tactic(network, sources, key));
    selection.reformats.emplace(key, std::move(tactic));
  }
  return {};
}

}  // namespace enginery
