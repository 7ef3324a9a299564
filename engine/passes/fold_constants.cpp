#include "engine/passes/fold_constants.h"

#include <algorithm>
#include <limits>

#include "engine/passes/folding_work.h"
#include "engine/passes/remove_dead.h"

namespace enginery {
namespace {

constexpr int64_t kMaxKeptBytes = 64 << 20;  // of one value
// Sizes, axes and the like: what reads them needs them as constants, so they are kept at no cost.
constexpr int64_t kSmallBytes = 4096;
// Weights that are transposed, or multiplied with each other, grow with the model.
constexpr double kBytesAByte = 2, kOperationsAByte = 4096;
// What is computed may take so many times the bytes that may be kept while it is computed.
constexpr double kHeldToKept = 4;

// What is left of the graph's limits.
struct FoldBudget {
  double kept_bytes, held_bytes, operations;
  double own_operations = 0;  // those that the model's own constants allow

  explicit FoldBudget(const Graph& graph) {
    double own = 0;
    for (ValueId v = 0; v < graph.value_count(); ++v) {
      if (const Tensor* t = graph.constant(v)) own += static_cast<double>(t->bytes());
    }
    const double limit = static_cast<double>(graph.limits.folded_mib) * (1 << 20);
    kept_bytes = limit + kBytesAByte * own;
    held_bytes = kHeldToKept * limit + kBytesAByte * own;
    own_operations = kOperationsAByte * own;
    operations = static_cast<double>(graph.limits.folded_gflop) * 1e9 + own_operations;
  }
};

bool all_constant(const Graph& graph, const Node& node) {
  return std::ranges::all_of(
      node.inputs, [&](ValueId v) { return v == kNoValue || graph.constant(v) != nullptr; });
}

bool has_static_inputs(const Graph& graph, const Node& node) {
  return std::ranges::all_of(
      node.inputs, [&](ValueId v) { return v == kNoValue || is_static(graph.value(v).type.dims); });
}

bool has_static_outputs(const Graph& graph, const Node& node) {
  return std::ranges::all_of(node.outputs,
                             [&](ValueId v) { return is_static(graph.value(v).type.dims); });
}

// The shape of a value is known at build time even where the value is not.
bool is_known_shape(const Graph& graph, const Node& node) {
  return std::holds_alternative<Shape>(node.op) && is_static(graph.value(node.inputs[0]).type.dims);
}

bool gives_floats_of_integers(const Graph& graph, ValueId v) {
  const NodeId made_by = v == kNoValue ? kNoNode : graph.value(v).producer;
  return made_by != kNoNode && std::holds_alternative<Dequantize>(graph.node(made_by).op);
}

// Whether a product reads the value as its weights beside quantised activations.
bool is_integer_product(const Graph& graph, const Node& reader, ValueId weights) {
  const bool multiplies = std::holds_alternative<Convolution>(reader.op) ||
                          std::holds_alternative<Gemm>(reader.op) ||
                          std::holds_alternative<MatMul>(reader.op);
  return multiplies && reader.inputs[1] == weights && reader.inputs[0] != weights &&
         !graph.constant(reader.inputs[0]) && gives_floats_of_integers(graph, reader.inputs[0]);
}

// Whether the node makes floats of constant weights whose every reader may multiply the integers
// instead: they stay what they are until lowering (engine/plan/network.h).
bool are_quantized_weights(const Graph& graph, const std::vector<std::vector<NodeId>>& users,
                           const Node& node) {
  if (!std::holds_alternative<Dequantize>(node.op) || graph.is_output(node.outputs[0]))
    return false;
  const auto& readers = users[static_cast<size_t>(node.outputs[0])];
  return !readers.empty() && graph.constant(node.inputs[0]) &&
         graph.value(node.inputs[0]).type.type == DataType::int8 &&
         std::ranges::all_of(readers, [&](NodeId reader) {
           return is_integer_product(graph, graph.node(reader), node.outputs[0]);
         });
}

Result<std::vector<Tensor>> evaluate(const Graph& graph, const Node& node) {
  std::vector<const Tensor*> inputs;
  Tensor stand_in;
  for (const ValueId v : node.inputs) inputs.push_back(graph.constant(v));
  if (is_known_shape(graph, node) && !inputs[0]) {
    // Only the dims are read: one element under them would do, but a Tensor owns all of its
    // elements.
    const Dims& dims = graph.value(node.inputs[0]).type.dims;
    const Tensor shape = Tensor::of<int64_t>({static_cast<int64_t>(dims.size())},
                                             std::span(dims.data(), dims.size()));
    const Shape& op = std::get<Shape>(node.op);
    const int64_t rank = shape.size();
    const auto clamp = [&](int64_t i) {
      return std::min(std::max<int64_t>(i < 0 ? i + rank : i, 0), rank);
    };
    const int64_t first = clamp(op.start), last = std::max(first, clamp(op.end));
    return std::vector<Tensor>{Tensor::of<int64_t>(
        {last - first}, shape.data<int64_t>().subspan(static_cast<size_t>(first),
                                                      static_cast<size_t>(last - first)))};
  }
  return run_reference(node.op, inputs);
}

class Folding {
 public:
  explicit Folding(Graph& graph)
      : graph_(graph),
        budget_(graph),
        order_(graph.topological_order()),
        users_(graph.users()),
        varies_(static_cast<size_t>(graph.value_count()), false),
        sized_(varies_.size(), false),
        readers_left_(varies_.size(), 0),
        leaves_constants_(varies_.size(), false) {
    count_readers();
  }

  Result<int> run() {
    for (const NodeId id : order_) {
      CHECK_OK(infer_again(graph_.node(id)));
      CHECK_OK(visit(id));
    }
    return settle();
  }

 private:
  int32_t& readers_left(ValueId v) { return readers_left_[static_cast<size_t>(v)]; }
  double bytes(ValueId v) const { return static_cast<double>(bytes_of(graph_.value(v).type)); }

  // A shape that has just become constant makes the sizes that depend on it known, which an
  // operator behind them may refuse.
  Status infer_again(const Node& node) {
    const auto is_sized = [&](ValueId v) {
      return v != kNoValue && sized_[static_cast<size_t>(v)];
    };
    const auto is_open = [&](ValueId v) { return !is_static(graph_.value(v).type.dims); };
    if (std::ranges::none_of(node.outputs, is_open) && std::ranges::none_of(node.inputs, is_sized))
      return {};
    const auto types = infer_types(node.op, graph_.operands(node));
    if (!types) return types.error().within("node '" + node.name + "'");
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      const ValueId v = node.outputs[i];
      sized_[static_cast<size_t>(v)] = is_open(v);
      graph_.value(v).type = (*types)[i];
    }
    return {};
  }

  // An output counts as a reader that never comes; so does, in effect, a node that stays.
  void count_readers() {
    for (const ValueId v : graph_.inputs()) varies_[static_cast<size_t>(v)] = true;
    for (const ValueId v : graph_.outputs()) {
      ++readers_left(v);
      leaves_constants_[static_cast<size_t>(v)] = true;
    }
    for (const NodeId id : order_) {
      const Node& node = graph_.node(id);
      const bool varying =
          !is_known_shape(graph_, node) && std::ranges::any_of(node.inputs, [&](ValueId v) {
            return v != kNoValue && varies_[static_cast<size_t>(v)];
          });
      for (const ValueId v : node.outputs) varies_[static_cast<size_t>(v)] = varying;
      for (const ValueId v : node.inputs) {
        if (v == kNoValue) continue;
        ++readers_left(v);
        if (varying) leaves_constants_[static_cast<size_t>(v)] = true;
      }
    }
  }

  // Computes the node, if it can be.
  Status visit(NodeId id) {
    const Node& node = graph_.node(id);
    const bool known = all_constant(graph_, node) || is_known_shape(graph_, node);
    if (!known && varies_[static_cast<size_t>(node.outputs[0])]) return {};
    if (!has_static_inputs(graph_, node) || !has_static_outputs(graph_, node)) return {};
    if (are_quantized_weights(graph_, users_, node)) return {};
    CHECK_OK(spend_work(node));
    if (!known || !has_room(node)) return {};
    auto results = evaluate(graph_, node);
    if (!results) {
      if (results.error().code == ErrorCode::unsupported) return {};
      return results.error().within("node '" + node.name + "'");
    }
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      graph_.value(node.outputs[i]).constant = std::move((*results)[i]);
      budget_.held_bytes -= bytes(node.outputs[i]);
    }
    computed_.push_back(id);
    release_inputs(node);
    return {};
  }

  Status spend_work(const Node& node) {
    const double operations = folding_work(graph_, node);
    if (operations > budget_.operations) {
      const int64_t all = gflop_of_all();
      return Error{ErrorCode::unsupported,
                   "node '" + node.name + "' (" + std::string(op_name(node.op)) +
                       "): computing constants takes " + std::to_string(all) +
                       " GFLOP, more than " + std::to_string(graph_.limits.folded_gflop) +
                       limit_advice(&Limits::folded_gflop, all)};
    }
    budget_.operations -= operations;
    return {};
  }

  // The limit that would be enough; work that the model's own bytes allow is not counted, nor what
  // has no size yet.
  int64_t gflop_of_all() const {
    double sum = 0;
    for (const NodeId id : order_) {
      const Node& node = graph_.node(id);
      const bool varies = varies_[static_cast<size_t>(node.outputs[0])];
      if (!varies && has_static_inputs(graph_, node) && has_static_outputs(graph_, node))
        sum += folding_work(graph_, node);
    }
    const double beyond = sum - budget_.own_operations;
    return std::max(graph_.limits.folded_gflop, static_cast<int64_t>(beyond / 1e9)) + 1;
  }

  // Whether the results may be held, and kept where something reads them that is computed in every
  // run. What is kept is taken out of the budget.
  bool has_room(const Node& node) {
    double made = 0, kept = 0;
    for (const ValueId v : node.outputs) {
      made += bytes(v);
      if (leaves_constants_[static_cast<size_t>(v)]) kept += cost_of_keeping(v);
    }
    if (made > budget_.held_bytes || kept > budget_.kept_bytes) return false;
    budget_.kept_bytes -= kept;
    return true;
  }

  double cost_of_keeping(ValueId v) const {
    if (bytes(v) <= kSmallBytes) return 0;
    return bytes(v) <= kMaxKeptBytes ? bytes(v) : std::numeric_limits<double>::infinity();
  }

  // Drops what this pass has computed once its last reader is computed, too.
  void release_inputs(const Node& node) {
    for (const ValueId v : node.inputs) {
      if (v == kNoValue || --readers_left(v) > 0 || !is_computed(v) || bytes(v) <= kSmallBytes)
        continue;
      graph_.value(v).constant.reset();
      budget_.held_bytes += bytes(v);
    }
  }
  bool is_computed(ValueId v) const {
    return graph_.value(v).producer != kNoNode && graph_.constant(v);
  }

  // Readers first: nodes whose results are kept, or that no reader needs any more, go; the others
  // stay, and so does what they read. The nodes' own output values become the constants, so names
  // of outputs stay.
  int settle() {
    int changed = 0;
    for (size_t i = computed_.size(); i-- > 0;) {
      const NodeId id = computed_[i];
      if (can_keep(graph_.node(id))) {
        graph_.erase_node(id);
        ++changed;
        continue;
      }
      const Node& node = graph_.node(id);
      for (const ValueId v : node.outputs) graph_.value(v).constant.reset();
      for (const ValueId v : node.inputs) {
        if (v != kNoValue) ++readers_left(v);
      }
    }
    return changed;
  }

  bool can_keep(const Node& node) {
    double kept = 0;
    for (const ValueId v : node.outputs) {
      if (readers_left(v) == 0) continue;
      if (!graph_.constant(v)) return false;  // dropped for a reader that stays after all
      if (!leaves_constants_[static_cast<size_t>(v)]) kept += cost_of_keeping(v);
    }
    if (kept > budget_.kept_bytes) return false;
    budget_.kept_bytes -= kept;
    return true;
  }

  Graph& graph_;
  FoldBudget budget_;
  const std::vector<NodeId> order_;
  const std::vector<std::vector<NodeId>> users_;
  std::vector<bool> varies_;            // by value: hangs on an input of the graph
  std::vector<bool> sized_;             // by value: its sizes were not known before
  std::vector<int32_t> readers_left_;   // by value: nodes that are not computed, and outputs
  std::vector<bool> leaves_constants_;  // by value: an output, or read by what hangs on an input
  std::vector<NodeId> computed_;        // in order; in the graph until settle()
};

}  // namespace

Result<int> fold_constants(Graph& graph) {
  TRY(const int dead, remove_dead(graph));
  TRY(const int folded, Folding(graph).run());
  return dead + folded;
}

}  // namespace enginery
