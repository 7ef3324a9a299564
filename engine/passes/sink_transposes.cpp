#include "engine/passes/sink_transposes.h"

#include <algorithm>

#include "engine/ops/element_order.h"
#include "engine/passes/pattern_matcher.h"
#include "engine/passes/permutation.h"
#include "engine/passes/remove_no_ops.h"

namespace enginery {
namespace {

bool maps_elements(const Op& op) {
  return std::holds_alternative<Activation>(op) || std::holds_alternative<Unary>(op) ||
         std::holds_alternative<Cast>(op);
}

// The constant beside a transposed tensor, as it lies beside the tensor before.
Result<Tensor> beside(const Tensor& constant, const Permutation& permutation) {
  if (constant.size() == 1) return constant;
  Dims dims(permutation.size() - constant.dims().size(), 1);
  dims.insert(dims.end(), constant.dims().begin(), constant.dims().end());
  return transposed(constant.reshaped(dims), inverse(permutation));
}

bool is_anchor_of_sums(const Op& op) {
  return std::holds_alternative<Convolution>(op) || std::holds_alternative<Deconvolution>(op) ||
         std::holds_alternative<MatMul>(op) || std::holds_alternative<Gemm>(op);
}

class Sinker {
 public:
  explicit Sinker(Graph& graph) : graph_(graph), matcher_(graph) {}

  // Lets transpose `id` sink as long as that gains something; gives how many times it did.
  Result<int> sink(NodeId id) {
    int changed = undoes_above(id) ? 1 : 0;
    while (const auto path = path_from(id)) {
      for (const NodeId next : path->through) CHECK_OK(change_places(id, next));
      ++changed;
      if (std::holds_alternative<Transpose>(graph_.node(path->end).op)) {
        merge(id, path->end);
        break;
      }
      CHECK_OK(join(id, path->end));
    }
    return changed;
  }

 private:
  // What lies between a transpose and the node at which sinking gains something.
  struct Path {
    std::vector<NodeId> through;
    NodeId end = kNoNode;
  };

  Permutation permutation_of(const Node& node) const {
    return written_out(std::get<Transpose>(node.op).permutation, dims_of(node.inputs[0]).size());
  }
  const Dims& dims_of(ValueId v) const { return graph_.value(v).type.dims; }

  std::optional<Path> path_from(NodeId id) const {
    Path path;
    NodeId last = id;
    Permutation permutation = permutation_of(graph_.node(id));
    Dims before = dims_of(graph_.node(id).inputs[0]);
    while (true) {
      const NodeId next = matcher_.only_reader(graph_.node(last));
      if (next == kNoNode) return std::nullopt;
      const ValueId flowing = graph_.node(last).outputs[0];
      path.end = next;
      if (std::holds_alternative<Transpose>(graph_.node(next).op)) return path;
      if (has_twin(graph_.node(next), flowing, permutation)) return path;
      if (adds_residual(graph_.node(next), flowing) && path.through.empty() && ends_anchor(id))
        return path;
      if (!passes(graph_.node(next), flowing, before, permutation)) return std::nullopt;
      path.through.push_back(next);
      last = next;
    }
  }

  ValueId other_operand(const Node& node, ValueId flowing) const {
    return node.inputs[node.inputs[0] == flowing ? 1 : 0];
  }

  bool is_transposed_by(ValueId v, const Permutation& permutation) const {
    const Node* producer = matcher_.producer(v);
    return producer && std::holds_alternative<Transpose>(producer->op) &&
           permutation_of(*producer) == permutation;
  }

  // Whether an equal transpose, which nothing else reads, feeds the other operand.
  bool has_twin(const Node& node, ValueId flowing, const Permutation& permutation) const {
    if (!std::holds_alternative<Binary>(node.op)) return false;
    const ValueId other = other_operand(node, flowing);
    return matcher_.private_producer(other) && is_transposed_by(other, permutation);
  }

  bool adds_residual(const Node& node, ValueId flowing) const {
    const Binary* binary = std::get_if<Binary>(&node.op);
    if (!binary || binary->kind != BinaryKind::add) return false;
    const ValueId other = other_operand(node, flowing);
    return !graph_.constant(other) && dims_of(other) == dims_of(flowing);
  }

  // Whether what the transpose reads ends a chain from a product or convolution, which takes a sum
  // in its place as one more step.
  bool ends_anchor(NodeId id) const {
    const Node* node = matcher_.private_producer(graph_.node(id).inputs[0]);
    while (node) {
      if (is_anchor_of_sums(node->op)) return true;
      const bool combines = std::holds_alternative<Binary>(node->op);
      if (!combines && !std::holds_alternative<Activation>(node->op)) return false;
      const bool first = combines && graph_.constant(node->inputs[0]);
      if (combines && !graph_.constant(node->inputs[first ? 0 : 1])) return false;
      node = matcher_.private_producer(node->inputs[first ? 1 : 0]);
    }
    return false;
  }

  // Whether a transpose above the node may stand below it; what it then moves, and how.
  bool passes(const Node& node, ValueId flowing, Dims& before, Permutation& permutation) const {
    if (maps_elements(node.op)) return true;
    if (std::holds_alternative<Binary>(node.op)) {
      const Tensor* other = graph_.constant(other_operand(node, flowing));
      return other && other->dims().size() <= permutation.size() &&
             dims_of(node.outputs[0]) == dims_of(flowing);
    }
    const Dims& to = dims_of(node.outputs[0]);
    if (!keeps_element_order(node.op) || !is_static(before) || !is_static(to) ||
        volume(before) == 0)
      return false;
    auto changed = reshape_first(before, permutation, to);
    if (!changed) return false;
    before = std::move(changed->dims);
    permutation = std::move(changed->permutation);
    return true;
  }

  // Transpose `upper` is what `lower`, its only reader, makes of its input: now the other way
  // round. The value between them is read by `lower`'s only reader.
  Status change_places(NodeId upper, NodeId lower) {
    const ValueId x = graph_.node(upper).inputs[0], y = graph_.node(upper).outputs[0],
                  v = graph_.node(lower).outputs[0];
    const TensorType type = graph_.value(v).type;
    Dims before = dims_of(x);
    Permutation permutation = permutation_of(graph_.node(upper));
    ENSURE(passes(graph_.node(lower), y, before, permutation), "the path was looked at before");
    std::vector<ValueId> inputs{x};
    if (keeps_element_order(graph_.node(lower).op)) {
      inputs.push_back(graph_.add_constant(graph_.node(lower).name + ".shape",
                                           Tensor::of<int64_t>({std::ssize(before)}, before)));
      graph_.node(lower).op = Reshape{};
    } else if (std::holds_alternative<Binary>(graph_.node(lower).op)) {
      const bool first = graph_.node(lower).inputs[0] == y;
      const ValueId other = other_operand(graph_.node(lower), y);
      TRY(Tensor moved, beside(*graph_.constant(other), permutation));
      const ValueId constant =
          graph_.add_constant(graph_.value(other).name + ".moved", std::move(moved));
      inputs.insert(first ? inputs.end() : inputs.begin(), constant);
    }
    const NodeId reader = matcher_.only_reader(graph_.node(lower));
    rewire(lower, std::move(inputs));
    rewire(upper, {v});
    read_instead(reader, v, y);
    graph_.node(upper).op = Transpose{permutation};
    graph_.value(v).type.dims = before;
    graph_.value(y).type = type;
    return {};
  }

  // `other` as it lies before a transpose by `permutation`: what is there already, or made.
  Result<ValueId> before_transpose(ValueId other, const Permutation& permutation,
                                   const std::string& name) {
    if (is_transposed_by(other, permutation))
      return graph_.node(graph_.value(other).producer).inputs[0];
    const Permutation back = inverse(permutation);
    for (const NodeId reader : matcher_.readers(other)) {
      const Node& node = graph_.node(reader);
      const bool turns_back =
          std::holds_alternative<Transpose>(node.op) && permutation_of(node) == back;
      if (turns_back) return node.outputs[0];
    }
    TRY(const auto made, graph_.add_node(name + ".back", Transpose{back}, {other}));
    matcher_.rewired(graph_.value(made[0]).producer, {}, {other});
    return made[0];
  }

  // Transpose `id` above binary `end` now stands below it.
  Status join(NodeId id, NodeId end) {
    const ValueId x = graph_.node(id).inputs[0], y = graph_.node(id).outputs[0],
                  v = graph_.node(end).outputs[0], other = other_operand(graph_.node(end), y);
    const Permutation permutation = permutation_of(graph_.node(id));
    TRY(const ValueId z, before_transpose(other, permutation, graph_.node(end).name));
    const bool first = graph_.node(end).inputs[0] == y;
    const std::vector<NodeId> readers = matcher_.readers(v);
    rewire(end, first ? std::vector<ValueId>{x, z} : std::vector<ValueId>{z, x});
    if (matcher_.readers(other).empty() && !graph_.is_output(other)) {
      const NodeId unread = graph_.value(other).producer;
      rewire(unread, {});
      graph_.erase_node(unread);
    }
    graph_.value(y).type = graph_.value(v).type;
    graph_.value(v).type.dims = permuted(dims_of(v), inverse(permutation));
    // What y holds now is what v held, also by its name; an output's goes over by itself.
    if (!graph_.is_output(v)) std::swap(graph_.value(v).name, graph_.value(y).name);
    graph_.replace_uses(v, y, readers);
    for (const NodeId reader : readers) matcher_.rewired(reader, {v}, {y});
    rewire(id, {v});
    return {};
  }

  // Transpose `upper` into `lower`, its only reader.
  void merge(NodeId upper, NodeId lower) {
    const Permutation both =
        one_after_other(permutation_of(graph_.node(upper)), permutation_of(graph_.node(lower)));
    const ValueId x = graph_.node(upper).inputs[0];
    graph_.node(lower).op = Transpose{both};
    rewire(lower, {x});
    rewire(upper, {});
    graph_.erase_node(upper);
  }

  // Where the transpose takes back what the one above it did, which others read too, it reads what
  // was there before and moves nothing.
  bool undoes_above(NodeId id) {
    const Node* above = matcher_.producer(graph_.node(id).inputs[0]);
    if (!above || !std::holds_alternative<Transpose>(above->op)) return false;
    Permutation both = one_after_other(permutation_of(*above), permutation_of(graph_.node(id)));
    if (!std::ranges::is_sorted(both)) return false;
    rewire(id, {above->inputs[0]});
    graph_.node(id).op = Transpose{std::move(both)};
    return true;
  }

  void read_instead(NodeId reader, ValueId from, ValueId to) {
    std::vector<ValueId> inputs = graph_.node(reader).inputs;
    std::ranges::replace(inputs, from, to);
    rewire(reader, std::move(inputs));
  }
  void rewire(NodeId id, std::vector<ValueId> inputs) {
    matcher_.rewired(id, graph_.node(id).inputs, inputs);
    graph_.node(id).inputs = std::move(inputs);
  }

  Graph& graph_;
  Matcher matcher_;
};

}  // namespace

Result<int> sink_transposes(Graph& graph) {
  int changed = 0;
  Sinker sinker(graph);
  for (const NodeId id : graph.topological_order()) {
    const Node& node = graph.node(id);
    if (node.erased || !std::holds_alternative<Transpose>(node.op)) continue;
    TRY(const int more, sinker.sink(id));
    changed += more;
  }
  // Two that cancel have become one that moves nothing.
  if (changed > 0) CHECK_OK(remove_no_ops(graph));
  return changed;
}

}  // namespace enginery
