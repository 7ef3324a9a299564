#include "tuner/accuracy/held_out_check.h"

#include <algorithm>

#include "tuner/accuracy/held_out_rows.h"
#include "tuner/collect/collect.h"

namespace enginery {
namespace {

// Takes the labels out of the rows; none where there are none.
Result<std::vector<int64_t>> take_labels(HeldOutRows& rows) {
  const auto found = rows.extract(kRowLabels);
  if (found.empty()) return std::vector<int64_t>();
  const Tensor& labels = found.mapped();
  if (labels.type() != DataType::int64 || labels.rank() != 1)
    return Error{ErrorCode::invalid_argument, "the held-out rows have labels that are no classes"};
  const auto data = labels.data<int64_t>();
  return std::vector<int64_t>(data.begin(), data.end());
}

}  // namespace

NetworkRun network_of(WatchedModel& model, const Graph& graph) {
  std::vector<std::string> names;
  for (const ValueId v : graph.outputs()) names.push_back(graph.value(v).name);
  return [&model, names](const auto& inputs) -> Result<std::vector<Tensor>> {
    TRY(const auto seen, model.run(inputs));
    std::vector<Tensor> out;
    for (const std::string& name : names) {
      const auto found = std::ranges::find(seen, name, &WatchedModel::Seen::name);
      out.push_back(found == seen.end() ? Tensor() : found->tensor);
    }
    return out;
  };
}

Result<HeldOutCheck> HeldOutCheck::make(const Graph& in_float, std::string_view rows,
                                        const WatchOptions& options, const RowProgress& progress) {
  TRY(HeldOutRows tensors, decode_rows(rows));
  TRY(std::vector<int64_t> labels, take_labels(tensors));
  TRY(InputSet inputs, InputSet::of(tensors, input_descriptions(in_float), "the held-out rows"));
  if (inputs.batches() == 0)
    return Error{ErrorCode::invalid_argument, "there are no held-out rows"};
  WatchOptions of_outputs = options;
  of_outputs.outputs_only = true;
  TRY(const auto model, WatchedModel::make(in_float, of_outputs));
  const NetworkRun network = network_of(*model, in_float);
  if (!labels.empty() && static_cast<int64_t>(labels.size()) != inputs.rows())
    return Error{ErrorCode::invalid_argument, "the held-out data has " +
                                                  std::to_string(inputs.rows()) + " rows and " +
                                                  std::to_string(labels.size()) + " labels"};
  HeldOutCheck out(std::move(inputs), std::move(labels));
  for (int64_t i = 0; i < out.inputs_.batches(); ++i) {
    TRY(const InputBatch batch, out.inputs_.batch(i));
    TRY(const std::vector<Tensor> all, network(batch.tensors));
    if (i == 0) {
      for (size_t o = 0; o < all.size(); ++o) {
        if (all[o].bytes() > 0 && is_floating(all[o].type()))
          out.outputs_.push_back({in_float.value(in_float.outputs()[o]).name, o});
      }
    }
    auto& expected = out.expected_.emplace_back();
    for (const Compared& one : out.outputs_) expected.push_back(all[one.index]);
    CHECK_OK(progress(batch.first_row + batch.valid_rows, out.rows()));
  }
  if (out.outputs_.empty())
    return Error{ErrorCode::unsupported,
                 "the model has no floating-point output to hold an engine against"};
  return out;
}

std::span<const int64_t> HeldOutCheck::labels_of(const InputBatch& batch) const {
  if (labels_.empty()) return {};
  return std::span(labels_).subspan(static_cast<size_t>(batch.first_row),
                                    static_cast<size_t>(batch.valid_rows));
}

Result<AccuracyFigures> HeldOutCheck::compare(const NetworkRun& network,
                                              const RowProgress& progress, int64_t most_rows) {
  AccuracyFigures out;
  for (const Compared& one : outputs_) out.outputs.push_back({one.name, 0, {}, 0, 0});
  for (int64_t i = 0; i < inputs_.batches(); ++i) {
    if (most_rows > 0 && i > 0 && i * inputs_.batch_rows() >= most_rows) break;
    TRY(const InputBatch batch, inputs_.batch(i));
    TRY(const std::vector<Tensor> given, network(batch.tensors));
    for (size_t o = 0; o < outputs_.size(); ++o) {
      out.outputs[o].add(expected_[static_cast<size_t>(i)][o], given[outputs_[o].index],
                         inputs_.batch_rows(), batch.valid_rows, labels_of(batch));
    }
    CHECK_OK(progress(batch.first_row + batch.valid_rows, rows()));
  }
  return out;
}

}  // namespace enginery
