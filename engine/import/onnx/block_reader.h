// BlockReader: the nodes of one block (the model's graph, a subgraph of a node, the body of a
// function) -> nodes of the Graph. The blocks of a model share an ImportState.
//
// Subgraphs and functions are read in place each time that they are used: the Graph has no blocks.
// Initialisers are added when something first reads them, so that unused ones cost nothing. A node
// that cannot be read is noted in Problems and reading goes on: values that depend on it are
// unknown, and their nodes are skipped in silence. Not thread-safe.
#pragma once

#include <unordered_map>
#include <unordered_set>

#include "engine/import/importer.h"
#include "engine/import/onnx/functions.h"
#include "engine/import/onnx/node_reader.h"
#include "engine/import/onnx/problems.h"
#include "engine/import/onnx/weights.h"

namespace onnx {
class GraphProto;
class NodeProto;
}  // namespace onnx

namespace enginery {

// The most nodes that the model's graph may have, and that subgraphs and functions may add to it:
// ten times the largest models that exporters write; beyond it a file is a mistake or an attack.
inline constexpr int kMaxNodes = 200'000;

// What all blocks of one model share.
struct ImportState {
  WeightReader weights;
  FoldBudget budget;
  OpenAxes open;
  Problems problems;
  FunctionTable functions;
  std::unordered_set<std::string> node_names;
  // What blocks inside of the model's graph may still cost: their nodes, and their size in the
  // file.
  int64_t nodes_left = kMaxNodes, bytes_left = int64_t{1} << 28;
  // What the model is made of, and the nodes that were not looked at.
  std::map<std::string, SurveyedOperator> operators;
  int64_t unchecked = 0;
  // Initialisers of subgraphs, which are the same each time that a subgraph is read.
  std::unordered_map<const void*, ValueId> constants;
};

// Where a block stands.
struct BlockPlace {
  int64_t opset = 0;                   // of the standard domain
  const Attributes* bound = nullptr;   // the attributes of the call, inside of a function
  class BlockReader* outer = nullptr;  // whose names a subgraph may read
  int depth = 0;                       // blocks around this one
  std::string function;                // the innermost function's name, for messages
};

class BlockReader final : private Bodies {
 public:
  // Of the model's graph (depth 0), which it empties as it copies, so that the weights are not in
  // memory twice.
  BlockReader(onnx::GraphProto& proto, BlockPlace place, ImportState& state, Graph& graph);

  Status list_initializers();
  bool has_initializer(const std::string& name) const;
  // `name` stands for `value` from now on.
  void define(const std::string& name, SourceValue value) { values_[name] = std::move(value); }
  Status read_nodes();  // errors: a cycle, a value made twice; the nodes' own go to Problems
  // Unknown when its producer could not be read. Errors: nothing has this name, a broken tensor.
  Result<SourceValue> find(const std::string& name);

 private:
  // Of a block inside of the model's graph, which stays as it is.
  BlockReader(const onnx::GraphProto& proto, BlockPlace place, ImportState& state, Graph& graph);
  Result<std::vector<SourceValue>> read_inner(const onnx::GraphProto& proto,
                                              const BlockPlace& place,
                                              const std::vector<SourceValue>& inputs);
  Result<std::vector<SourceValue>> read_body(const std::string& attribute,
                                             const std::vector<SourceValue>& inputs) override;
  void read_node(int index);
  SurveyedOperator& surveyed(const SourceNode& node);
  Status check_open_axes(const SourceNode& node, const std::vector<SourceValue>& inputs) const;
  void read_known_node(const SourceNode& node, const std::vector<SourceValue>& inputs);
  void call(const Function& function, const SourceNode& node,
            const std::vector<SourceValue>& inputs);
  Result<SourceNode> source_node(const onnx::NodeProto& proto);
  Result<SourceValue> add_initializer(const std::string& name);
  void add_problem(const SourceNode& node, const std::vector<SourceValue>& inputs,
                   const Error& reason);
  std::string type_text(const SourceValue& value) const;

  const onnx::GraphProto& proto_;
  onnx::GraphProto* owned_;  // proto_, where its tensors may be taken
  const BlockPlace place_;
  ImportState& state_;
  Graph& graph_;
  const onnx::NodeProto* current_ = nullptr;             // the node being read
  std::unordered_map<std::string, int> dense_, sparse_;  // initialiser name -> index
  std::unordered_map<std::string, SourceValue> values_;
  std::unordered_set<std::string> used_;
};

}  // namespace enginery
