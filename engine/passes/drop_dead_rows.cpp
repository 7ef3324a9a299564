#include "engine/passes/drop_dead_rows.h"

#include <algorithm>
#include <set>

#include "engine/ops/element_order.h"
#include "engine/passes/remove_no_ops.h"
#include "engine/passes/row_demand.h"

namespace enginery {
namespace {

// A node that is to make only some rows of its output.
struct Narrowing {
  Rows rows;
  InputRows inputs;
};

// What makes it worth the slices that stand above it then.
bool is_costly(const Op& op) {
  return std::holds_alternative<MatMul>(op) || std::holds_alternative<Gemm>(op) ||
         std::holds_alternative<LayerNorm>(op) || std::holds_alternative<RmsNorm>(op) ||
         std::holds_alternative<Softmax>(op) || std::holds_alternative<Attention>(op);
}

class RowDropper {
 public:
  explicit RowDropper(Graph& graph)
      : graph_(graph), users_(graph.users()), order_(graph.topological_order()) {}

  Result<int> run() {
    find();
    keep_worthwhile();
    for (const NodeId id : order_) {
      if (plan_.contains(id)) CHECK_OK(narrow(id));
    }
    for (const NodeId id : order_) shorten_selection(id);
    // Slices that took what alone is left have become reshapes to the same sizes.
    if (!plan_.empty()) CHECK_OK(remove_no_ops(graph_));
    return static_cast<int>(plan_.size());
  }

 private:
  // From the readers to what they read: each node whose readers all want the same rows.
  void find() {
    for (size_t i = order_.size(); i-- > 0;) {
      const Node& node = graph_.node(order_[i]);
      if (node.outputs.size() != 1 || graph_.is_output(node.outputs[0])) continue;
      const auto rows = rows_wanted(node.outputs[0]);
      if (!rows) continue;
      if (auto inputs = rows_to_read(graph_, node, *rows))
        plan_.emplace(order_[i], Narrowing{*rows, std::move(*inputs)});
    }
  }

  std::optional<Rows> rows_wanted(ValueId v) const {
    std::optional<Rows> out;
    for (const NodeId reader : users_[static_cast<size_t>(v)]) {
      const auto wanted = rows_wanted(reader, v);
      if (!wanted || (out && *out != *wanted)) return std::nullopt;
      out = wanted;
    }
    return out;
  }

  std::optional<Rows> rows_wanted(NodeId reader, ValueId v) const {
    const Node& node = graph_.node(reader);
    const auto planned = plan_.find(reader);
    std::optional<Rows> out;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (node.inputs[i] != v) continue;
      std::optional<Rows> wanted;
      if (planned != plan_.end())
        wanted = planned->second.inputs[i];
      else if (i == 0)
        wanted = rows_taken(graph_, node);
      if (!wanted || (out && *out != *wanted)) return std::nullopt;
      out = wanted;
    }
    return out;
  }

  bool is_planned(ValueId v) const {
    return v != kNoValue && plan_.contains(graph_.value(v).producer);
  }

  // The planned nodes that hang together with `id`, by what they want of each other.
  void collect(NodeId id, std::set<NodeId>& out) const {
    std::vector<NodeId> left{id};
    while (!left.empty()) {
      const NodeId next = left.back();
      left.pop_back();
      if (!plan_.contains(next) || !out.insert(next).second) continue;
      const Node& node = graph_.node(next);
      for (size_t i = 0; i < node.inputs.size(); ++i)
        if (is_planned(node.inputs[i]) && plan_.at(next).inputs[i])
          left.push_back(graph_.value(node.inputs[i]).producer);
      for (const NodeId reader : users_[static_cast<size_t>(node.outputs[0])])
        left.push_back(reader);
    }
  }

  void keep_worthwhile() {
    std::set<NodeId> seen, worthless;
    for (const auto& [id, narrowing] : plan_) {
      if (seen.contains(id)) continue;
      std::set<NodeId> together;
      collect(id, together);
      seen.insert(together.begin(), together.end());
      const bool worth =
          std::ranges::any_of(together, [&](NodeId n) { return is_costly(graph_.node(n).op); });
      if (!worth) worthless.insert(together.begin(), together.end());
    }
    for (const NodeId id : worthless) plan_.erase(id);
  }

  // The inputs that are made whole are cut, each way once.
  Status narrow(NodeId id) {
    const Narrowing& narrowing = plan_.at(id);
    std::vector<ValueId> inputs = graph_.node(id).inputs;
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (!narrowing.inputs[i] || is_planned(inputs[i])) continue;
      TRY(inputs[i], part_of(inputs[i], *narrowing.inputs[i]));
    }
    const ValueId v = graph_.node(id).outputs[0];
    const Rows& rows = narrowing.rows;
    Op op = of_rows(graph_.node(id).op, rows);
    Dims& dims = graph_.value(v).type.dims;
    dims[rows.axis] = rows.count;
    if (keeps_element_order(op)) inputs = {inputs[0], shape_constant(graph_.node(id).name, v)};
    graph_.node(id).op = std::move(op);
    graph_.node(id).inputs = std::move(inputs);
    return {};
  }

  ValueId shape_constant(const std::string& name, ValueId of) {
    const Dims dims = graph_.value(of).type.dims;
    return graph_.add_constant(name + ".shape", Tensor::of<int64_t>({std::ssize(dims)}, dims));
  }

  Result<ValueId> part_of(ValueId v, const Rows& rows) {
    const auto known = parts_.find({v, rows.axis, rows.first, rows.count});
    if (known != parts_.end()) return known->second;
    const std::string name = graph_.value(v).name + ".rows";
    const Tensor starts = Tensor::of<int64_t>({1}, {rows.first}),
                 ends = Tensor::of<int64_t>({1}, {rows.first + rows.count}),
                 axes = Tensor::of<int64_t>({1}, {static_cast<int64_t>(rows.axis)});
    ValueId part = kNoValue;
    if (const Tensor* constant = graph_.constant(v)) {
      const std::vector<const Tensor*> inputs{constant, &starts, &ends, &axes};
      TRY(std::vector<Tensor> cut, run_reference(Slice{}, inputs));
      part = graph_.add_constant(name, std::move(cut[0]));
    } else {
      const std::vector<ValueId> inputs{v, graph_.add_constant(name + ".starts", starts),
                                        graph_.add_constant(name + ".ends", ends),
                                        graph_.add_constant(name + ".axes", axes)};
      TRY(const std::vector<ValueId> made, graph_.add_node(name, Slice{}, inputs));
      part = made[0];
    }
    parts_.emplace(std::tuple(v, rows.axis, rows.first, rows.count), part);
    return part;
  }

  // What took the rows that alone are made now gives all of them.
  void shorten_selection(NodeId id) {
    const Node& node = graph_.node(id);
    const bool selects =
        std::holds_alternative<Gather>(node.op) || std::holds_alternative<Slice>(node.op);
    if (!selects || !is_planned(node.inputs[0])) return;
    const ValueId whole = node.inputs[0], shape = shape_constant(node.name, node.outputs[0]);
    graph_.node(id).op = Reshape{};
    graph_.node(id).inputs = {whole, shape};
  }

  Graph& graph_;
  const std::vector<std::vector<NodeId>> users_;
  const std::vector<NodeId> order_;
  std::map<NodeId, Narrowing> plan_;
  std::map<std::tuple<ValueId, size_t, int64_t, int64_t>, ValueId> parts_;
};

}  // namespace

Result<int> drop_dead_rows(Graph& graph) {
  return RowDropper(graph).run();
}

}  // namespace enginery
