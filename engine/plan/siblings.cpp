#include "engine/plan/siblings.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "engine/plan/problem_of.h"

namespace enginery {
namespace {

using Siblings = std::vector<size_t>;  // indices of nodes, ascending

bool runs_without_the_reference(const NetworkNode& node) {
  return std::ranges::any_of(node.tactics,
                             [](const Tactic& t) { return t.trust != Trust::reference; });
}

// A constant that is no float made of quantised weights: regions multiply those as they are.
bool is_float_constant(const Graph& graph, ValueId v) {
  return graph.constant(v) && graph.value(v).producer == kNoNode;
}

// The bias of a convolution, of its own or added behind it; kNoValue where there is none. Nothing
// where there are two, or something else than activations is behind it.
std::optional<ValueId> bias_of(const NetworkNode& node) {
  const Problem& p = node.problem;
  ValueId out = p.anchor_inputs > 2 ? node.inputs[2] : kNoValue;
  for (size_t i = 0; i < p.epilogue.size(); ++i) {
    const EpilogueStep& step = p.epilogue[i];
    if (step.kind == EpilogueKind::activation) continue;
    if (step.kind != EpilogueKind::bias || i > 0 || out != kNoValue) return std::nullopt;
    out = node.inputs[static_cast<size_t>(step.operand)];
  }
  return out;
}

// What siblings have in common: the key of the node as if it had one output channel and no bias.
// Nothing where it can be no sibling.
std::optional<std::string> likeness(const Graph& graph, const NetworkNode& node) {
  const auto* convolution = std::get_if<Convolution>(&node.problem.op);
  if (!convolution || convolution->groups != 1 || is_region(node.problem) ||
      !runs_without_the_reference(node))
    return std::nullopt;
  const auto bias = bias_of(node);
  const bool has_bias = bias && *bias != kNoValue;
  const auto type_of = [&](ValueId v) { return graph.value(v).type.type; };
  if (!bias || graph.is_output(node.outputs[0]) || graph.constant(node.inputs[0]) ||
      !is_float_constant(graph, node.inputs[1]) ||
      (has_bias && (!is_float_constant(graph, *bias) || type_of(*bias) != type_of(node.inputs[1]))))
    return std::nullopt;
  NetworkNode alike = node;
  Problem& p = alike.problem;
  p.inputs.resize(2);
  p.inputs[1].type.dims[0] = p.outputs[0].type.dims[1] = 1;
  std::erase_if(p.epilogue,
                [](const EpilogueStep& step) { return step.kind == EpilogueKind::bias; });
  return offer_key(alike);
}

std::vector<Siblings> groups_of(const Graph& graph, const std::vector<NetworkNode>& nodes) {
  std::vector<Siblings> out;
  std::map<std::pair<ValueId, std::string>, size_t> known;
  for (size_t n = 0; n < nodes.size(); ++n) {
    const auto alike = likeness(graph, nodes[n]);
    if (!alike) continue;
    const auto [group, fresh] = known.emplace(std::pair(nodes[n].inputs[0], *alike), out.size());
    if (fresh) out.emplace_back();
    out[group->second].push_back(n);
  }
  std::erase_if(out, [](const Siblings& group) { return group.size() < 2; });
  return out;
}

std::set<ValueId> parts_of_concats(const std::vector<NetworkNode>& nodes) {
  std::set<ValueId> out;
  for (const NetworkNode& node : nodes)
    if (is_one_of<Concat>(node.problem)) out.insert(node.inputs.begin(), node.inputs.end());
  return out;
}

Tensor zeros(DataType type, int64_t size) {
  Tensor out(type, {size});
  std::memset(out.mutable_bytes(), 0, static_cast<size_t>(out.bytes()));
  return out;
}

// The constants along their first dimension. They are of one type, and alike in all other dims.
Tensor one_behind_the_other(const std::vector<Tensor>& parts) {
  std::vector<const Tensor*> inputs;
  for (const Tensor& part : parts) inputs.push_back(&part);
  auto out = run_reference(Concat{0}, inputs);
  ENSURE(out.ok(), "siblings have weights of one kind");
  return std::move((*out)[0]);
}

class Merger {
 public:
  Merger(Graph& graph, const std::vector<NetworkNode>& nodes)
      : graph_(graph),
        nodes_(nodes),
        bytes_left_(static_cast<double>(graph.limits.folded_mib) * (1 << 20)) {}

  bool has_room(const Siblings& siblings) {
    double bytes = 0;
    for (const size_t n : siblings) bytes += static_cast<double>(weights_of(n).bytes());
    if (bytes > bytes_left_) return false;
    bytes_left_ -= bytes;
    return true;
  }

  // Built of nodes that stand in the graph meanwhile, so that the problems are those of a graph
  // that has the merged convolution itself.
  MergedSiblings merge(const Siblings& siblings) {
    const NetworkNode& first = nodes_[siblings[0]];
    std::string name;
    Split split{.axis = 1, .sizes = {}};
    std::vector<ValueId> results;
    for (const size_t n : siblings) {
      results.push_back(nodes_[n].outputs[0]);
      name += (name.empty() ? "" : "&") + graph_.value(results.back()).name;
      split.sizes.push_back(channels_of(n));
    }
    MergedSiblings out{siblings, {}, {}};
    std::vector<ValueId> inputs{first.inputs[0], merged_weights(siblings, name)};
    if (const ValueId bias = merged_bias(siblings, name); bias != kNoValue) inputs.push_back(bias);
    std::vector<NodeId> members{add(name, first.problem.op, inputs)};
    for (const EpilogueStep& step : first.problem.epilogue) {
      if (step.kind == EpilogueKind::activation)
        members.push_back(add(name, step.activation, graph_.node(members.back()).outputs));
    }
    out.convolution = make_node(graph_, members);
    const NodeId cut = add(name + ".split", split, out.convolution.outputs);
    out.split = make_node(graph_, Members(&cut, 1));
    out.split.outputs = results;
    out.convolution.name = name;
    out.convolution.precisions = out.split.precisions = first.precisions;
    graph_.erase_node(cut);
    for (size_t i = members.size(); i-- > 0;) graph_.erase_node(members[i]);
    return out;
  }

 private:
  const Tensor& weights_of(size_t n) const { return *graph_.constant(nodes_[n].inputs[1]); }
  int64_t channels_of(size_t n) const { return weights_of(n).dims()[0]; }

  ValueId merged_weights(const Siblings& siblings, const std::string& name) {
    std::vector<Tensor> parts;
    for (const size_t n : siblings) parts.push_back(weights_of(n));
    return graph_.add_constant(name + ".weights", one_behind_the_other(parts));
  }

  // Zeros where some have none.
  ValueId merged_bias(const Siblings& siblings, const std::string& name) {
    const auto known_bias = [&](size_t n) { return graph_.constant(*bias_of(nodes_[n])); };
    if (std::ranges::none_of(siblings, known_bias)) return kNoValue;
    std::vector<Tensor> parts;
    for (const size_t n : siblings) {
      const Tensor* bias = known_bias(n);
      parts.push_back(bias ? bias->reshaped({channels_of(n)})
                           : zeros(weights_of(n).type(), channels_of(n)));
    }
    return graph_.add_constant(name + ".bias", one_behind_the_other(parts));
  }

  NodeId add(const std::string& name, Op op, const std::vector<ValueId>& inputs) {
    const auto outputs = graph_.add_node(name, std::move(op), inputs);
    ENSURE(outputs.ok(), "siblings fit into one convolution");
    return graph_.node_count() - 1;
  }

  Graph& graph_;
  const std::vector<NetworkNode>& nodes_;
  double bytes_left_;  // for merged weights
};

}  // namespace

std::vector<MergedSiblings> merge_siblings(Graph& graph, const std::vector<NetworkNode>& nodes) {
  const std::set<ValueId> joined = parts_of_concats(nodes);
  Merger merger(graph, nodes);
  std::vector<MergedSiblings> out;
  const auto add = [&](const Siblings& siblings) {
    if (merger.has_room(siblings)) out.push_back(merger.merge(siblings));
  };
  for (const Siblings& group : groups_of(graph, nodes)) {
    Siblings apart = group;
    std::erase_if(apart, [&](size_t n) { return joined.contains(nodes[n].outputs[0]); });
    add(group);
    if (apart.size() >= 2 && apart.size() < group.size()) add(apart);
  }
  return out;
}

}  // namespace enginery
