#include "engine/plan/tactic_selection.h"

namespace enginery {

std::vector<ReformatKey> needed_reformats(const Network& network,
                                          const std::vector<Tactic>& tactics) {
  std::vector<ReformatKey> needed;
  for (const auto& [v, flow] : flows_of(network, tactics)) {
    const Value& value = network.graph.value(v);
    const Format lies = lying(value, flow.maker, flow.output, flow.wanted);
    each_reformat(value, lies, flow.wanted, [&, id = v](const Format& format) {
      needed.push_back({id, lies, format});
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
