#include "engine/compile/layers_meant.h"

#include <algorithm>

#include "engine/base/did_you_mean.h"

namespace enginery {
namespace {

std::vector<std::string> names_of(const Graph& graph) {
  std::vector<std::string> out;
  for (NodeId id = 0; id < graph.node_count(); ++id) {
    if (!graph.node(id).erased) out.push_back(graph.node(id).name);
  }
  return out;
}

bool any_matches(const std::vector<std::string>& names, const LayerPrecision& asked) {
  return std::ranges::any_of(names, [&](const std::string& name) { return matches(asked, name); });
}

Error refused(const LayerPrecision& asked, const std::vector<std::string>& names,
              const std::vector<std::string>& imported) {
  const std::string what = "layer precisions: ";
  const std::string list = " (enginery inspect MODEL --optimized lists the layers)";
  if (any_matches(imported, asked))
    return {ErrorCode::not_found, what + "'" + asked.layer +
                                      "' is merged into other layers, which have the names to "
                                      "give" +
                                      list};
  return {ErrorCode::not_found, what + "no layer has the name '" + asked.layer + "'" +
                                    (is_pattern(asked) ? "" : did_you_mean(asked.layer, names)) +
                                    list};
}

}  // namespace

Result<NodePrecisions> layers_meant(const Graph& graph, const Graph& imported,
                                    const LayerPrecisions& asked) {
  const std::vector<std::string> names = names_of(graph);
  for (const LayerPrecision& one : asked) {
    if (!any_matches(names, one)) return refused(one, names, names_of(imported));
  }
  NodePrecisions out;
  for (NodeId id = 0; id < graph.node_count(); ++id) {
    if (graph.node(id).erased) continue;
    if (const auto precision = precision_of(asked, graph.node(id).name))
      out.emplace(id, *precision);
  }
  return out;
}

Digest structure_with(const Digest& structure, const Graph& graph, const NodePrecisions& meant) {
  if (meant.empty()) return structure;
  std::string text = structure.text();
  int place = 0;
  for (const NodeId id : graph.topological_order()) {
    const auto found = meant.find(id);
    if (found != meant.end())
      text += "\n" + std::to_string(place) + " " + std::string(to_string(found->second));
    ++place;
  }
  return sha256(text);
}

}  // namespace enginery
