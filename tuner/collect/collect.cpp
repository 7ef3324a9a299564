#include "tuner/collect/collect.h"

#include <algorithm>
#include <cmath>

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

// Where the first dimension is the batch's.
void observe_channels(HistogramSet& set, const std::string& name, const Tensor& tensor,
                      int64_t rows, int64_t valid) {
  if (tensor.rank() < 2 || tensor.dims()[0] != rows || tensor.size() == 0) return;
  const auto channels = static_cast<size_t>(tensor.dims()[1]);
  const size_t positions = static_cast<size_t>(tensor.size() / rows) / channels;
  set.channels[name].observe(valid_part(tensor, rows, valid), channels, positions);
}

// "; it is of n0144.jpg": the first row with what is no number; "" where the first dimension is no
// batch.
std::string row_at_fault(const Tensor& tensor, const InputBatch& batch,
                         const CalibrationBatches& data) {
  const int64_t rows = data.batch_rows();
  if (rows > 1 && (tensor.rank() == 0 || tensor.dims()[0] != rows)) return "";
  const std::span<const float> elements = valid_part(tensor, rows, batch.valid_rows);
  const auto odd = std::ranges::find_if(elements, [](float x) { return !std::isfinite(x); });
  if (odd == elements.end()) return "";
  const int64_t of_row = tensor.size() / rows;
  return "; it is of " + data.row_name((odd - elements.begin()) / of_row);
}

Status observe(HistogramSet& set, const std::vector<WatchedModel::Seen>& values,
               const InputBatch& batch, const CalibrationBatches& data, const Graph& graph,
               const std::set<std::string>& by_channel) {
  for (const WatchedModel::Seen& value : values) {
    const Tensor tensor = value.tensor.type() == DataType::float32
                              ? value.tensor
                              : convert(value.tensor, DataType::float32);
    const int64_t rows = data.batch_rows();
    const Status seen = set.observe(value.name, valid_part(tensor, rows, batch.valid_rows));
    if (!seen.ok()) {
      Error error = seen.error().within("calibrate: " + maker_of(graph, value.name));
      error.message += row_at_fault(tensor, batch, data);
      return error;
    }
    if (by_channel.contains(value.name))
      observe_channels(set, value.name, tensor, rows, batch.valid_rows);
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

std::set<std::string> read_by_channel(const Graph& graph) {
  std::set<std::string> out;
  for (const NodeId id : graph.needed_order()) {
    const Node& node = graph.node(id);
    if (std::holds_alternative<Convolution>(node.op) || std::holds_alternative<Gemm>(node.op))
      out.insert(graph.value(node.inputs[0]).name);
  }
  return out;
}

Result<HistogramSet> collect(const Graph& imported, CalibrationBatches& data,
                             const CollectOptions& options) {
  TRY(const std::unique_ptr<WatchedModel> model, WatchedModel::make(imported, options.watch));
  HistogramSet set;
  set.model = fingerprint(imported);
  std::set<std::string> by_channel;
  if (options.with_channels) by_channel = read_by_channel(imported);
  for (;;) {
    if (options.cancelled()) return Error{ErrorCode::cancelled, "calibrate: cancelled"};
    TRY(const InputBatch batch, data.next());
    if (batch.valid_rows == 0) return set;
    TRY(const auto values, model->run(batch.tensors));
    CHECK_OK(observe(set, values, batch, data, imported, by_channel));
    options.progress(data.done(), data.chosen());
  }
}

}  // namespace enginery
