#include "cli/calibration/held_out_data.h"

#include "tuner/accuracy/held_out_rows.h"
#include "tuner/collect/collect.h"

namespace enginery {
namespace {

// The inputs of the model as imported; what it computes in says nothing of them.
Result<std::vector<InputDescription>> inputs_of_model(const PackedModel& model,
                                                      const BuildOptions& options) {
  BuildOptions in_float = options;
  in_float.precisions = {Precision::fp32};
  in_float.skip_passes.clear();
  PassOptions none;
  none.list = {};
  TRY(const LoadedModel loaded,
      load_model({model.file, model.bytes, std::nullopt}, model.name, in_float, none));
  return input_descriptions(loaded.imported);
}

Result<HeldOutRows> rows_of(CalibrationData& data) {
  RowJoin join;
  while (true) {
    TRY(const InputBatch batch, data.next());
    if (batch.valid_rows == 0) return join.finish();
    CHECK_OK(join.add(batch.tensors, data.batch_rows(), batch.valid_rows));
  }
}

}  // namespace

Result<std::shared_ptr<const Bytes>> read_held_out(const PackedModel& model,
                                                   const BuildFlags& flags, bool provisional,
                                                   BuildOptions& options, Console& console) {
  if (flags.accuracy_data.empty()) return std::shared_ptr<const Bytes>();
  if (provisional)
    return Error{ErrorCode::usage, "--accuracy-data: an untuned engine is not run"};
  CalibrationRequest request;
  request.paths = flags.accuracy_data;
  if (!flags.preprocess.empty()) {
    TRY(request.preprocess, read_preprocess(flags.preprocess));
  }
  request.rows = flags.accuracy_images.value_or(0);
  request.option = "--accuracy-data";
  TRY(const auto inputs, inputs_of_model(model, options));
  TRY(CalibrationData data, CalibrationData::open(request, inputs));
  TRY(const HeldOutRows rows, rows_of(data));
  for (const SkippedRow& row : data.skipped())
    console.warn("left out: " + row.label + ": " + row.reason);
  auto bytes = std::make_shared<const Bytes>(encode_rows(rows));
  options.held_out = sha256(*bytes).text();
  return std::shared_ptr<const Bytes>(std::move(bytes));
}

}  // namespace enginery
