#include "engine/compile/layers_meant.h"

#include <algorithm>
#include <set>

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

bool multiplies(const Op& op) {
  return std::holds_alternative<Convolution>(op) || std::holds_alternative<Deconvolution>(op) ||
         std::holds_alternative<Gemm>(op) || std::holds_alternative<MatMul>(op);
}

// The products of the order that none before them gets to. `next_of` gives a node's neighbours in
// the direction that leads back towards the order's beginning.
template <typename Neighbours>
std::vector<std::string> ends_of(const Graph& graph, const std::vector<NodeId>& order,
                                 const Neighbours& neighbours) {
  std::vector<bool> is_behind(static_cast<size_t>(graph.node_count()), false);
  std::vector<std::string> out;
  for (const NodeId id : order) {
    const auto before = neighbours(id);
    const bool behind = std::ranges::any_of(before, [&](NodeId other) {
      return is_behind[static_cast<size_t>(other)] || multiplies(graph.node(other).op);
    });
    is_behind[static_cast<size_t>(id)] = behind;
    if (!behind && multiplies(graph.node(id).op)) out.push_back(graph.node(id).name);
  }
  return out;
}

std::vector<std::string> first_products(const Graph& graph) {
  return ends_of(graph, graph.needed_order(), [&](NodeId id) {
    std::vector<NodeId> out;
    for (const ValueId v : graph.node(id).inputs) {
      if (v != kNoValue && graph.value(v).producer != kNoNode)
        out.push_back(graph.value(v).producer);
    }
    return out;
  });
}

std::vector<std::string> last_products(const Graph& graph) {
  std::vector<NodeId> order = graph.needed_order();
  const std::set<NodeId> needed(order.begin(), order.end());
  std::ranges::reverse(order);
  const auto users = graph.users();
  return ends_of(graph, order, [&](NodeId id) {
    std::vector<NodeId> out;
    for (const ValueId v : graph.node(id).outputs) {
      for (const NodeId reader : users[static_cast<size_t>(v)])
        if (needed.contains(reader)) out.push_back(reader);
    }
    return out;
  });
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

LayerPrecisions with_names(const LayerPrecisions& asked, const Graph& graph) {
  LayerPrecisions out;
  for (const LayerPrecision& one : asked) {
    const bool is_first = one.layer == kFirstProducts;
    if (!is_first && one.layer != kLastProducts) {
      out.push_back(one);
      continue;
    }
    for (const std::string& name : is_first ? first_products(graph) : last_products(graph))
      out.push_back({name, one.precision});
  }
  return out;
}

bool may_be_int8(const LayerPrecisions& asked, std::string_view layer) {
  return precision_of(asked, layer).value_or(Precision::int8) == Precision::int8;
}

LayerPrecisions without_int8(LayerPrecisions asked) {
  for (LayerPrecision& one : asked)
    if (one.precision == Precision::int8) one.precision = Precision::fp32;
  return asked;
}

Result<NodePrecisions> layers_meant(const Graph& graph, const Graph& imported,
                                    const LayerPrecisions& places) {
  const LayerPrecisions asked = with_names(places, graph);
  const std::vector<std::string> names = names_of(graph);
  for (const LayerPrecision& one : asked) {
    if (!any_matches(names, one)) return refused(one, names, names_of(imported));
  }
  if (asked.size() < places.size())
    return Error{ErrorCode::not_found,
                 "layer precisions: the model has no convolution, Gemm or MatMul for @first or "
                 "@last"};
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
