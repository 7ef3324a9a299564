#include "cli/explain/node_report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/output/table.h"
#include "engine/base/did_you_mean.h"

namespace enginery {
namespace {

// The nodes that a layer was made of: their names, joined by +.
std::vector<std::string> parts_of(const std::string& layer) {
  std::vector<std::string> out;
  for (size_t start = 0, end; start <= layer.size(); start = end + 1) {
    end = std::min(layer.find('+', start), layer.size());
    out.push_back(layer.substr(start, end - start));
  }
  return out;
}

std::string time_cell(double us) {
  return us > 0 ? fmt::format("{:.2f}", us) : "";
}

std::string remark(const ConsideredTactic& tactic) {
  if (tactic.what == Consideration::unmeasured) return "not measured: " + tactic.reason;
  return tactic.reason;
}

std::string layer_text(const ExplainedLayer& layer, int columns) {
  Table table({{""},
               {"US", Align::right},
               {"COLD US", Align::right},
               {"ESTIMATE", Align::right},
               {"TACTIC"},
               {"REASON"}});
  for (const ConsideredTactic& tactic : layer.considered.tactics) {
    table.add({tactic.tactic == layer.chosen ? "*" : "", time_cell(tactic.us),
               time_cell(tactic.cold_us), time_cell(tactic.estimated_us), tactic.tactic,
               remark(tactic)});
  }
  for (const RefusingSource& refusal : layer.considered.refusals)
    table.add({"", "", "", "", refusal.source, "refuses: " + refusal.reason});
  return "layer " + layer.layer + " (" + layer.op + ")\n" + layer.considered.problem + "\n" +
         table.text(columns);
}

}  // namespace

Result<std::vector<const PlanStep*>> layers_of_node(const Plan& plan, const std::string& node) {
  std::vector<const PlanStep*> named, containing;
  std::vector<std::string> names;
  for (const PlanStep& step : plan.steps) {
    const std::vector<std::string> parts = parts_of(step.name);
    if (step.name == node) named.push_back(&step);
    if (std::ranges::find(parts, node) != parts.end()) containing.push_back(&step);
    names.push_back(step.name);
    if (parts.size() > 1) names.insert(names.end(), parts.begin(), parts.end());
  }
  if (!named.empty()) return named;
  if (!containing.empty()) return containing;
  return Error{ErrorCode::not_found,
               "--explain: no layer of the engine is or holds a node '" + node +
                   "': it may have been folded into constants or into another node" +
                   did_you_mean(node, names) + " (enginery inspect ENGINE lists the layers)"};
}

std::string explained_text(const std::vector<ExplainedLayer>& layers, int columns) {
  std::string text;
  for (const ExplainedLayer& layer : layers)
    text += (text.empty() ? "" : "\n") + layer_text(layer, columns);
  return text +
         "* is the engine's. Times are medians on one scale; where two are close, or another "
         "one's formats suit the neighbours better, the whole network's race decided.";
}

Json explained_json(const std::string& node, const std::vector<ExplainedLayer>& layers) {
  Json rows = Json::array();
  for (const ExplainedLayer& layer : layers) {
    Json tactics = Json::array(), refusals = Json::array();
    for (const ConsideredTactic& tactic : layer.considered.tactics) {
      tactics.push_back(
          {{"tactic", tactic.tactic},
           {"state", to_string(tactic.what)},
           {"chosen", tactic.tactic == layer.chosen},
           {"us", json_known(tactic.us)},
           {"cold_us", json_known(tactic.cold_us)},
           {"estimated_us", json_known(tactic.estimated_us)},
           {"error", tactic.what == Consideration::measured ? Json(tactic.error) : Json(nullptr)},
           {"reason", json_text_or_null(tactic.reason)}});
    }
    for (const RefusingSource& refusal : layer.considered.refusals)
      refusals.push_back({{"source", refusal.source}, {"reason", refusal.reason}});
    rows.push_back({{"layer", valid_utf8(layer.layer)},
                    {"op", layer.op},
                    {"problem", valid_utf8(layer.considered.problem)},
                    {"tactics", tactics},
                    {"refusals", refusals}});
  }
  return {{"node", valid_utf8(node)}, {"layers", rows}};
}

}  // namespace enginery
