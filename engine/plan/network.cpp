#include "engine/plan/network.h"

#include <algorithm>
#include <map>

#include "engine/tactics/bias_axis.h"

namespace enginery {
namespace {

constexpr int64_t kMaxKeyedElements = 4096;

TensorDesc describe(const Graph& graph, ValueId v) {
  if (v == kNoValue)
    return {.type = {}, .present = false, .constant = false, .value = {}, .pinned = {}};
  const Value& value = graph.value(v);
  TensorDesc desc{.type = value.type,
                  .present = true,
                  .constant = value.constant.has_value(),
                  .value = {},
                  .pinned = {}};
  bool selects_code =
      desc.constant && !is_floating(value.type.type) && value.constant->size() <= kMaxKeyedElements;
  if (selects_code) desc.value = *value.constant;
  return desc;
}

// A constant addition of one number a channel: the bias of an anchor.
bool is_bias(const Graph& graph, const Op& anchor, ValueId operand, const Dims& dims) {
  const Tensor* t = graph.constant(operand);
  if (!t || dims.empty()) return false;
  const size_t axis = bias_axis(anchor, dims.size());
  if (axis >= dims.size() || t->size() != dims[axis] || t->dims().size() > dims.size() ||
      t->dims().empty())
    return false;
  size_t from_right = dims.size() - axis;
  return t->dims().size() >= from_right && t->dims()[t->dims().size() - from_right] == dims[axis];
}

// The problem of `members`: an anchor and what follows it, in order.
NetworkNode make_node(const Graph& graph, const std::vector<NodeId>& members) {
  const Node& anchor = graph.node(members[0]);
  NetworkNode out;
  out.name = anchor.name;
  out.problem.op = anchor.op;
  out.inputs = anchor.inputs;
  out.problem.anchor_inputs = static_cast<int>(anchor.inputs.size());
  ValueId flowing = anchor.outputs[0];
  for (size_t i = 1; i < members.size(); ++i) {
    const Node& node = graph.node(members[i]);
    EpilogueStep step;
    if (const auto* activation = std::get_if<Activation>(&node.op)) {
      step = {EpilogueKind::activation, *activation, -1};
    } else {
      ValueId operand = node.inputs[0] == flowing ? node.inputs[1] : node.inputs[0];
      bool bias = is_bias(graph, anchor.op, operand, graph.value(flowing).type.dims);
      step = {
          bias ? EpilogueKind::bias : EpilogueKind::add, {}, static_cast<int>(out.inputs.size())};
      out.inputs.push_back(operand);
    }
    out.problem.epilogue.push_back(step);
    flowing = node.outputs[0];
    out.name += "+" + node.name;
  }
  out.outputs = members.size() > 1 ? std::vector<ValueId>{flowing} : anchor.outputs;
  for (ValueId v : out.inputs) out.problem.inputs.push_back(describe(graph, v));
  for (ValueId v : out.outputs) out.problem.outputs.push_back(describe(graph, v));
  return out;
}

bool only_reference(const std::vector<Tactic>& tactics) {
  return std::all_of(tactics.begin(), tactics.end(),
                     [](const Tactic& t) { return t.trust == Trust::reference; });
}

// Whether a float64 value would lie in a format of another type: it would be rounded unseen.
bool narrows_float64(const std::vector<TensorDesc>& descs, const std::vector<Format>& formats) {
  for (size_t i = 0; i < descs.size() && i < formats.size(); ++i) {
    const bool lies_somewhere = descs[i].present && !descs[i].constant;
    if (lies_somewhere && descs[i].type.type == DataType::float64 &&
        formats[i].type != DataType::float64)
      return true;
  }
  return false;
}

class Lowering {
 public:
  Lowering(Graph graph, const TacticSources& sources, const std::set<Precision>& allowed)
      : sources_(sources), allowed_(allowed) {
    network_.graph = std::move(graph);
  }

  Result<Network> run() {
    give_outputs_a_producer();
    std::map<int32_t, std::vector<NodeId>> groups;
    std::vector<NodeId> order = network_.graph.topological_order();
    for (NodeId id : order) {
      int32_t group = network_.graph.node(id).group;
      if (group != kNoGroup) groups[group].push_back(id);
    }
    for (NodeId id : order) {
      int32_t group = network_.graph.node(id).group;
      // A group stands where its last node stood: there all of its operands exist.
      if (group == kNoGroup)
        CHECK_OK(add({id}));
      else if (groups[group].back() == id)
        CHECK_OK(add_group(groups[group]));
    }
    return std::move(network_);
  }

 private:
  // An output that is a constant or an input is copied by a node, so that plan knows one kind of
  // output only; so is the second of two outputs that are the same value.
  void give_outputs_a_producer() {
    Graph& graph = network_.graph;
    std::vector<ValueId> outputs = graph.outputs();
    std::set<ValueId> seen;
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (graph.value(outputs[i]).producer != kNoNode && seen.insert(outputs[i]).second) continue;
      auto copy = graph.add_node(graph.value(outputs[i]).name + ".copy", Identity{}, {outputs[i]});
      ENSURE(copy.ok(), "identity takes any value");
      graph.set_output(i, (*copy)[0]);
    }
  }

  Status add(const std::vector<NodeId>& members) {
    NetworkNode node = make_node(network_.graph, members);
    for (const TensorDesc& d : node.problem.outputs) {
      if (!is_static(d.type.dims)) {
        return Error{ErrorCode::invalid_argument, "node '" + node.name + "': its output " +
                                                      to_string(d.type) +
                                                      " has a run-time size; give --shapes"};
      }
    }
    auto tactics = offer_all(sources_, node.problem, allowed_);
    if (!tactics)
      return tactics.error().within("node '" + node.name + "' (" +
                                    std::string(op_name(node.problem.op)) + ")");
    node.tactics = std::move(*tactics);
    network_.nodes.push_back(std::move(node));
    return {};
  }

  // Keeps the longest head of the group that some source other than the reference can run; the rest
  // runs node by node.
  Status add_group(std::vector<NodeId> members) {
    size_t keep = members.size();
    while (keep > 1) {
      std::vector<NodeId> head(members.begin(),
                               members.begin() + static_cast<std::ptrdiff_t>(keep));
      auto tactics = offer_all(sources_, make_node(network_.graph, head).problem, allowed_);
      if (tactics && !only_reference(*tactics)) break;
      --keep;
    }
    CHECK_OK(add({members.begin(), members.begin() + static_cast<std::ptrdiff_t>(keep)}));
    for (size_t i = keep; i < members.size(); ++i) CHECK_OK(add({members[i]}));
    return {};
  }

  const TacticSources& sources_;
  const std::set<Precision>& allowed_;
  Network network_;
};

}  // namespace

std::vector<const Tensor*> Network::weights(const NetworkNode& node) const {
  std::vector<const Tensor*> out;
  for (ValueId v : node.inputs) out.push_back(graph.constant(v));
  return out;
}

const TacticSource* find_source(const TacticSources& sources, const std::string& name) {
  for (const auto& source : sources) {
    if (source->name() == name) return source.get();
  }
  return nullptr;
}

Result<std::vector<Tactic>> offer_all(const TacticSources& sources, const Problem& problem,
                                      const std::set<Precision>& allowed) {
  std::vector<Tactic> out;
  std::string reasons;
  for (const auto& source : sources) {
    auto offered = source->offer(problem, allowed);
    if (!offered) {
      reasons += (reasons.empty() ? "" : "; ") + std::string(source->name()) + ": " +
                 offered.error().message;
      if (offered.error().code != ErrorCode::unsupported) return offered.error();
      continue;
    }
    std::erase_if(*offered, [&](const Tactic& tactic) {
      return narrows_float64(problem.inputs, tactic.inputs) ||
             narrows_float64(problem.outputs, tactic.outputs);
    });
    if (offered->empty())
      reasons += (reasons.empty() ? "" : "; ") + std::string(source->name()) +
                 ": float64 would be rounded to float32";
    for (Tactic& tactic : *offered) tactic.trust = source->traits().trust;
    out.insert(out.end(), std::make_move_iterator(offered->begin()),
               std::make_move_iterator(offered->end()));
  }
  if (out.empty())
    return Error{ErrorCode::unsupported, "no tactic source can run it (" + reasons + ")"};
  return out;
}

Result<Network> lower(Graph graph, const TacticSources& sources,
                      const std::set<Precision>& allowed) {
  return Lowering(std::move(graph), sources, allowed).run();
}

}  // namespace enginery
