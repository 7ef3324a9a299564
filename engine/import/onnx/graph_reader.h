// GraphReader: an ONNX model message -> Graph. Orchestrates: limits, inputs, initialisers, nodes in
// order, outputs. What a node means is the readers' work (readers.h).
//
// Initialisers are added when something first reads them, so that unused ones cost nothing. A node
// that cannot be read is noted in Problems and reading goes on: values that depend on it are
// kNoValue, and their nodes are skipped in silence. Not thread-safe; one per model.
#pragma once

#include <set>
#include <unordered_map>
#include <unordered_set>

#include "engine/import/importer.h"
#include "engine/import/onnx/graph_inputs.h"
#include "engine/import/onnx/node_reader.h"
#include "engine/import/onnx/problems.h"
#include "engine/import/onnx/weights.h"

namespace onnx {
class GraphProto;
class ModelProto;
}  // namespace onnx

namespace enginery {

class GraphReader {
 public:
  // Empties the model's tensors as it copies them, so that the weights are not in memory twice.
  GraphReader(onnx::ModelProto& model, const ModelSource& source, const ImportOptions& options);
  // Call once. Errors: invalid_argument, unsupported; one message that lists every problem.
  Result<ImportedModel> read();

 private:
  Status read_operator_sets();
  Status check_limits() const;
  Status list_initializers();
  Status add_inputs();
  Status add_given_value(const std::string& name, const TensorType& type, const Tensor& tensor);
  Status read_nodes();
  void read_node(int index);
  void read_known_node(const SourceNode& node, const std::vector<ValueId>& inputs);
  Error problem(const SourceNode& node, const std::vector<ValueId>& inputs,
                const Error& reason) const;
  // The value's id; kNoValue when its producer could not be read. Errors: nothing has this name, a
  // broken tensor.
  Result<ValueId> find(const std::string& name);
  Result<ValueId> add_initializer(const std::string& name);
  Status mark_outputs();
  std::string type_text(ValueId v) const;

  onnx::ModelProto& model_;
  onnx::GraphProto& proto_;
  const ImportOptions& options_;
  WeightReader weights_;
  FoldBudget budget_;
  Problems problems_;
  ImportedModel out_;
  int64_t opset_ = 0;
  std::unordered_map<std::string, int> dense_, sparse_;  // initialiser name -> index
  std::unordered_map<std::string, ValueId> values_;      // kNoValue: its producer could not be read
  std::unordered_set<std::string> used_, node_names_;
};

}  // namespace enginery
