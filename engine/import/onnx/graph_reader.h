// GraphReader: an ONNX model message -> Graph. Orchestrates: limits, operator sets, functions,
// inputs, the nodes of the model's graph (block_reader.h), outputs. What a node means is the
// readers' work (readers.h). Not thread-safe; one for each model.
#pragma once

#include "engine/import/importer.h"
#include "engine/import/onnx/block_reader.h"
#include "engine/import/onnx/graph_inputs.h"

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
  // The same without an error for nodes that cannot be read. Call once, instead of read().
  Result<ModelSurvey> survey();

 private:
  Status read_graph();  // what of it can be read; the rest is in the problems
  Status read_operator_sets();
  Status check_limits() const;
  Status add_inputs(BlockReader& block);
  Status add_given_value(BlockReader& block, const std::string& name, const TensorType& type,
                         const Tensor& tensor);
  Status mark_output(ValueId value, const std::string& name);
  Status mark_outputs(BlockReader& block);

  onnx::ModelProto& model_;
  onnx::GraphProto& proto_;
  const ImportOptions& options_;
  ImportState state_;
  ImportedModel out_;
  int64_t opset_ = 0;
};

}  // namespace enginery
