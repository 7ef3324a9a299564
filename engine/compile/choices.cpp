#include "engine/compile/choices.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace enginery {
namespace {

constexpr char kSchema[] = "enginery.choices/1";

Result<Tactic> find_tactic(const std::vector<Tactic>& offered, const std::string& key,
                           const std::string& where) {
  auto found = std::find_if(offered.begin(), offered.end(),
                            [&](const Tactic& t) { return tactic_key(t) == key; });
  if (found != offered.end()) return *found;
  return Error{ErrorCode::incompatible, where + ": the tactic '" + key +
                                            "' is not offered here; the first that is: '" +
                                            tactic_key(offered.front()) + "'"};
}

}  // namespace

Choices to_choices(const Network& network, const Assignment& assignment,
                   std::vector<double> node_us) {
  Choices out;
  for (const Tactic& t : assignment.tactics) out.tactics.push_back(tactic_key(t));
  for (const ReformatKey& key : needed_reformats(network, assignment.tactics)) {
    out.reformats.push_back(tactic_key(assignment.reformats.at(key)));
  }
  out.node_us = std::move(node_us);
  out.streams = assignment.streams;
  return out;
}

std::string to_json(const Choices& choices) {
  nlohmann::json json = {{"schema", kSchema},
                         {"tactics", choices.tactics},
                         {"reformats", choices.reformats},
                         {"node_us", choices.node_us},
                         {"streams", choices.streams}};
  return json.dump();
}

Result<Choices> parse_choices(std::string_view text) {
  auto json = nlohmann::json::parse(text, nullptr, false);
  auto broken = Error{ErrorCode::corrupt_data,
                      "tactic choices: not a document of schema " + std::string(kSchema)};
  if (!json.is_object() || json.value("schema", "") != kSchema) return broken;
  try {
    return Choices{json.at("tactics").get<std::vector<std::string>>(),
                   json.at("reformats").get<std::vector<std::string>>(),
                   json.at("node_us").get<std::vector<double>>(), json.value("streams", 1)};
  } catch (const nlohmann::json::exception&) {
    return broken;
  }
}

Result<Assignment> follow(const Network& network, const TacticSources& sources,
                          const Choices& choices) {
  if (choices.tactics.size() != network.nodes.size()) {
    return Error{ErrorCode::incompatible, "the tactic choices are for a network of " +
                                              std::to_string(choices.tactics.size()) +
                                              " layers, this one has " +
                                              std::to_string(network.nodes.size())};
  }
  Assignment out;
  out.streams = choices.streams;
  for (size_t n = 0; n < network.nodes.size(); ++n) {
    TRY(out.tactics.emplace_back(), find_tactic(network.nodes[n].tactics, choices.tactics[n],
                                                "layer '" + network.nodes[n].name + "'"));
  }
  std::vector<ReformatKey> needed = needed_reformats(network, out.tactics);
  if (needed.size() != choices.reformats.size()) {
    return Error{ErrorCode::incompatible, "the tactic choices do not fit this network's formats"};
  }
  std::set<Precision> any = {Precision::fp32, Precision::tf32, Precision::fp16, Precision::bf16,
                             Precision::int8};
  for (size_t i = 0; i < needed.size(); ++i) {
    const Value& value = network.graph.value(needed[i].value);
    TRY(auto offered,
        offer_all(sources, reformat_problem(value.type, needed[i].from, needed[i].to), any));
    TRY(Tactic tactic,
        find_tactic(offered, choices.reformats[i], "reformat of '" + value.name + "'"));
    out.reformats.emplace(needed[i], std::move(tactic));
  }
  return out;
}

}  // namespace enginery
