// Graph: a model as typed values and the nodes that make them. The one type between importers,
// passes and plan.
//
// Values and nodes live in tables and are named by index; erased nodes leave a hole, so indices
// stay valid while passes run. A graph is a value: copying it is cheap, because constants share
// their storage. Not thread-safe for writing.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/graph/run_time_sizes.h"
#include "engine/ops/op.h"
#include "engine/tensor/limits.h"

namespace enginery {

using ValueId = int32_t;
using NodeId = int32_t;
inline constexpr ValueId kNoValue = -1;  // an absent optional input
inline constexpr NodeId kNoNode = -1;
inline constexpr int32_t kNoGroup = -1;

// A tensor that flows through the graph: an input, a constant or a node's output.
struct Value {
  std::string name;
  TensorType type;
  std::optional<Tensor> constant;
  NodeId producer = kNoNode;  // kNoNode for inputs and constants
};

// One operator applied to values. Nodes of one fusion group (`group` >= 0) may run as one kernel:
// its first node in order is the anchor, the others are its epilogue. Groups are proposals; plan
// keeps or expands them.
struct Node {
  std::string name;
  Op op;
  std::vector<ValueId> inputs;  // kNoValue where an optional input is absent
  std::vector<ValueId> outputs;
  int32_t group = kNoGroup;
  bool erased = false;
};

class Graph {
 public:
  std::string name;
  std::vector<std::string> symbols;  // symbols[i] is the name of the run-time size -2 - i
  Limits limits;                     // what passes and planner may spend on it
  RunTimeSizes run_time_sizes;       // of outputs; the counts stand behind the model's own outputs

  // Building. Names are made unique by a suffix where they collide.
  // Any of these may move the tables: references to values and nodes do not survive them.
  ValueId add_input(std::string name, TensorType type);
  ValueId add_constant(std::string name, Tensor tensor);
  // Infers the outputs' types and adds the node after its producers. On error the graph is
  // unchanged. The error does not name the node: callers know more about it than the graph does.
  Result<std::vector<ValueId>> add_node(std::string name, Op op, std::vector<ValueId> inputs,
                                        const std::vector<std::string>& output_names = {});
  // An inner value that has the name already gives it up; an input or another output keeps it.
  // Errors: invalid_argument for an id that is none. An empty name keeps the value's own.
  Status mark_output(ValueId value, std::string name = "");
  // Output `index` becomes `value`, under the name that the output has.
  void set_output(size_t index, ValueId value);
  // The run-time size that `symbol` names, the same each time.
  int64_t symbol_size(const std::string& symbol);

  // Ids must come from this graph: they are not checked.
  const Value& value(ValueId id) const { return values_[static_cast<size_t>(id)]; }
  Value& value(ValueId id) { return values_[static_cast<size_t>(id)]; }
  const Node& node(NodeId id) const { return nodes_[static_cast<size_t>(id)]; }
  Node& node(NodeId id) { return nodes_[static_cast<size_t>(id)]; }
  const std::vector<ValueId>& inputs() const { return inputs_; }
  const std::vector<ValueId>& outputs() const { return outputs_; }
  size_t own_output_count() const {  // of the outputs, those that are no counts of sizes
    return enginery::own_output_count(run_time_sizes, outputs_.size());
  }
  int32_t value_count() const { return static_cast<int32_t>(values_.size()); }
  int32_t node_count() const { return static_cast<int32_t>(nodes_.size()); }  // holes included
  int32_t live_node_count() const;

  // Live nodes, producers before consumers. What hangs on no input of the graph stands right before
  // its first reader, so that its values live no longer than they must.
  std::vector<NodeId> topological_order() const;
  // Of these, the nodes that an output hangs on.
  std::vector<NodeId> needed_order() const;
  // For each value the live nodes that read it (once for each use), index = ValueId.
  std::vector<std::vector<NodeId>> users() const;
  bool is_output(ValueId id) const;
  const Tensor* constant(ValueId id) const;  // null when absent or not a constant

  // Editing, for passes.
  // In every node and in the outputs; an output keeps its name. Walks the graph: a pass that
  // replaces many values names the nodes that read `from`.
  void replace_uses(ValueId from, ValueId to);
  void replace_uses(ValueId from, ValueId to, const std::vector<NodeId>& readers);
  void erase_node(NodeId id);    // its outputs must be unused
  void erase_input(ValueId id);  // an input that nothing uses (an importer's initialiser)
  // A node's inputs as shape rules see them; they point into this graph.
  std::vector<Operand> operands(const Node& node) const;

 private:
  std::string unique_name(std::string wanted);
  void give_up_name(const std::string& wanted);
  std::vector<NodeId> breadth_first_order() const;
  void replace_outputs(ValueId from, ValueId to);

  std::vector<Value> values_;
  std::vector<Node> nodes_;
  std::vector<ValueId> inputs_, outputs_;
  std::map<std::string, int> names_;
};

// The verifier: indices in range, one producer for each value, no cycle, types equal to what the
// shape rules infer, at least one output, run-time sizes that are counted. Run after every importer
// and pass; it never aborts, whatever the graph holds. Errors: invalid_argument that names the
// node.
Status verify(const Graph& graph);

// Gives symbols and inputs their sizes and infers every type again. `shapes` maps input names to
// dims (over symbolic and fixed sizes); symbols left over become 1 and are listed in `defaulted`.
// Errors: invalid_argument naming the node at which the graph contradicts the sizes.
struct SpecializedGraph {
  Graph graph;
  std::vector<std::string> defaulted;  // "data: N = 1"
};
Result<SpecializedGraph> specialize(const Graph& graph, const std::map<std::string, Dims>& shapes);

}  // namespace enginery
