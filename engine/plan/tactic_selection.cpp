#include "engine/plan/tactic_selection.h"

#include <map>

namespace enginery {

std::vector<ReformatKey> needed_reformats(const Network& network,
                                          const std::vector<Tactic>& tactics) {
  struct Flow {
    const Tactic* maker = nullptr;  // null: an input
    size_t output = 0;
    WantedFormats wanted;
  };
  std::map<ValueId, Flow> flows;
  for (size_t n = 0; n < network.nodes.size(); ++n) {
    const NetworkNode& node = network.nodes[n];
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (node.inputs[i] != kNoValue && !node.problem.inputs[i].constant)
        flows[node.inputs[i]].wanted[wanted_by(tactics[n], i)] += 1;
    }
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      Flow& flow = flows[node.outputs[i]];
      flow.maker = &tactics[n];
      flow.output = i;
    }
  }
  for (const ValueId v : network.graph.outputs())
    flows[v].wanted[{boundary_format(network.graph.value(v)), false}] += 1;
  std::vector<ReformatKey> needed;
  for (const auto& [v, flow] : flows) {
    const Value& value = network.graph.value(v);
    const Format lies = lying(value, flow.maker, flow.output, flow.wanted);
    each_reformat(value, lies, flow.wanted, [&](const Format& format) {
      needed.push_back({v, lies, format});
    });
  }
  return needed;
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
