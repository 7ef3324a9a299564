#include "tuner/collect/collect.h"

#include "engine/graph/text.h"

namespace enginery {
namespace {

// The elements of the first `valid` of `rows` rows; all where the first dimension is no batch.
std::span<const float> valid_part(const Tensor& tensor, int64_t rows, int64_t valid) {
  const std::span<const float> all = tensor.data<float>();
  if (valid == rows || tensor.rank() == 0 || tensor.dims()[0] != rows) return all;
  return all.first(all.size() / static_cast<size_t>(rows) * static_cast<size_t>(valid));
}

// "layer 'conv1' (conv)": whose value it is.
std::string maker_of(const Graph& graph, const std::string& value) {
  for (NodeId id = 0; id < graph.node_count(); ++id) {
    const Node& node = graph.node(id);
    for (const ValueId v : node.outputs) {
      if (!node.erased && graph.value(v).name == value)
        return "layer '" + node.name + "' (" + std::string(op_name(node.op)) + ")";
    }
  }
  return "the data";
}

Status observe(HistogramSet& set, const std::vector<WatchedModel::Seen>& values,
               const InputBatch& batch, int64_t rows, const Graph& graph) {
  for (const WatchedModel::Seen& value : values) {
    const Tensor tensor = value.tensor.type() == DataType::float32
                              ? value.tensor
                              : convert(value.tensor, DataType::float32);
    const Status seen = set.observe(value.name, valid_part(tensor, rows, batch.valid_rows));
    if (!seen.ok()) return seen.error().within("calibrate: " + maker_of(graph, value.name));
  }
  set.samples += static_cast<uint64_t>(batch.valid_rows);
  return {};
}

}  // namespace

std::vector<InputDescription> input_descriptions(const Graph& graph) {
  std::vector<InputDescription> out;
  for (const ValueId v : graph.inputs()) out.push_back({graph.value(v).name, graph.value(v).type});
  return out;
}

Result<HistogramSet> collect(const Graph& imported, CalibrationBatches& data,
                             const CollectOptions& options) {
  TRY(const std::unique_ptr<WatchedModel> model, WatchedModel::make(imported, options.watch));
  HistogramSet set;
  set.model = fingerprint(imported);
  for (;;) {
    if (options.cancelled()) return Error{ErrorCode::cancelled, "calibrate: cancelled"};
    TRY(const InputBatch batch, data.next());
    if (batch.valid_rows == 0) return set;
    TRY(const auto values, model->run(batch.tensors));
    CHECK_OK(observe(set, values, batch, data.batch_rows(), imported));
    options.progress(data.done(), data.chosen());
  }
}

}  // namespace enginery
