#include "engine/compile/selection_record.h"

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

SelectionRecord to_record(const Network& network, const TacticSelection& selection,
                          std::vector<double> node_us) {
  SelectionRecord out;
  for (const Tactic& t : selection.tactics) out.tactics.push_back(tactic_key(t));
  const Result<Network> cut = network.cut(selection.cover);
  ENSURE(cut.ok(), "the selection is one of this network");
  for (const ReformatKey& key : needed_reformats(*cut, selection.tactics)) {
    out.reformats.push_back(tactic_key(selection.reformats.at(key)));
  }
  out.node_us = std::move(node_us);
  out.streams = selection.streams;
  out.cover = selection.cover;
  return out;
}

std::string to_json(const SelectionRecord& record) {
  nlohmann::json json = {{"schema", kSchema},
                         {"tactics", record.tactics},
                         {"reformats", record.reformats},
                         {"node_us", record.node_us},
                         {"streams", record.streams}};
  if (!record.ceilings.empty()) json["ceilings"] = record.ceilings;
  if (!record.cover.empty()) json["cover"] = record.cover;
  if (record.in_float) json["in_float"] = true;
  if (!record.beyond_float16.empty()) json["beyond_float16"] = record.beyond_float16;
  return json.dump();
}

Result<SelectionRecord> parse_selection(std::string_view text) {
  auto json = nlohmann::json::parse(text, nullptr, false);
  auto broken = Error{ErrorCode::corrupt_data,
                      "tactic choices: not a document of schema " + std::string(kSchema)};
  try {
    if (!json.is_object() || json.value("schema", "") != kSchema) return broken;
    return SelectionRecord{json.at("tactics").get<std::vector<std::string>>(),
                           json.at("reformats").get<std::vector<std::string>>(),
                           json.at("node_us").get<std::vector<double>>(),
                           json.value("streams", 1),
                           json.value("ceilings", std::map<std::string, double>()),
                           json.value("cover", Cover()),
                           json.value("in_float", false),
                           json.value("beyond_float16", std::vector<NodeId>())};
  } catch (const nlohmann::json::exception&) {
    return broken;
  }
}

Result<TacticSelection> follow(const Network& network, const TacticSources& sources,
                               const SelectionRecord& record) {
  TRY(const Network cut, network.cut(record.cover));
  if (record.tactics.size() != cut.nodes.size()) {
    return Error{ErrorCode::incompatible, "the tactic choices are for a network of " +
                                              std::to_string(record.tactics.size()) +
                                              " layers, this one has " +
                                              std::to_string(cut.nodes.size())};
  }
  TacticSelection out;
  out.streams = record.streams;
  out.cover = record.cover;
  for (size_t n = 0; n < cut.nodes.size(); ++n) {
    TRY(out.tactics.emplace_back(),
        find_tactic(cut.nodes[n].tactics, record.tactics[n], "layer '" + cut.nodes[n].name + "'"));
  }
  std::vector<ReformatKey> needed = needed_reformats(cut, out.tactics);
  if (needed.size() != record.reformats.size()) {
    return Error{ErrorCode::incompatible, "the tactic choices do not fit this network's formats"};
  }
  std::set<Precision> any = {Precision::fp32, Precision::tf32, Precision::fp16, Precision::bf16,
                             Precision::int8};
  for (size_t i = 0; i < needed.size(); ++i) {
    const Value& value = network.graph.value(needed[i].value);
    TRY(auto offered,
        offer_all(sources, reformat_problem(value.type, needed[i].from, needed[i].to), any));
    TRY(Tactic tactic,
        find_tactic(offered, record.reformats[i], "reformat of '" + value.name + "'"));
    out.reformats.emplace(needed[i], std::move(tactic));
  }
  return out;
}

}  // namespace enginery
