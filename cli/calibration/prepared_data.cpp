#include "cli/calibration/prepared_data.h"

#include <fmt/format.h>

#include <charconv>
#include <map>

#include "engine/base/file.h"
#include "tuner/accuracy/held_out_rows.h"
#include "tuner/calibrate/calibrator.h"
#include "tuner/collect/calibration_data.h"
#include "tuner/collect/collect.h"

namespace enginery {
namespace {

// The inputs of the model as imported; what it computes in says nothing of them.
Result<std::vector<InputDescription>> inputs_of_model(const PackedModel& model,
                                                      const BuildOptions& options) {
  BuildOptions in_float = options;
  in_float.precisions = {Precision::fp32};
  in_float.skip_passes.clear();
  in_float.layer_precisions.clear();
  PassOptions none;
  none.list = {};
  TRY(const LoadedModel loaded,
      load_model({model.file, model.bytes, std::nullopt}, model.name, in_float, none));
  return input_descriptions(loaded.imported);
}

struct PreparedRows {
  HeldOutRows rows;
  std::vector<std::string> names;  // one a row
};

Result<PreparedRows> rows_of(CalibrationRequest request, const PackedModel& model,
                             const BuildFlags& flags, const BuildOptions& options,
                             Console& console) {
  if (!flags.preprocess.empty()) {
    TRY(request.preprocess, read_preprocess(flags.preprocess));
  }
  TRY(const auto inputs, inputs_of_model(model, options));
  TRY(CalibrationData data, CalibrationData::open(request, inputs));
  RowJoin join;
  while (true) {
    TRY(const InputBatch batch, data.next());
    if (batch.valid_rows == 0) break;
    CHECK_OK(join.add(batch.tensors, data.batch_rows(), batch.valid_rows));
  }
  if (data.chosen() < data.available())
    console.note(fmt::format("{} of {} rows of {}, chosen with seed {}", data.chosen(),
                             data.available(), request.option, request.seed));
  for (const SkippedRow& row : data.skipped())
    console.warn("left out: " + row.label + ": " + row.reason);
  return PreparedRows{join.finish(), data.given()};
}

// Lines "NAME,CLASS" and whatever follows behind a comma. A first line without a number there is a
// heading.
Result<std::map<std::string, int64_t>> read_classes(const std::string& file) {
  TRY(const Bytes text, read_file(file));
  std::map<std::string, int64_t> out;
  std::string_view rest = text;
  for (int line = 1; !rest.empty(); ++line) {
    std::string_view one = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(one.size() + 1, rest.size()));
    if (one.ends_with('\r')) one.remove_suffix(1);
    if (one.empty()) continue;
    const size_t comma = std::min(one.find(','), one.size());
    const std::string_view behind = one.substr(std::min(comma + 1, one.size()));
    const std::string_view digits = behind.substr(0, behind.find(','));
    int64_t number = -1;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    const bool is_class = error == std::errc() && end == digits.data() + digits.size();
    if (is_class && number >= 0) {
      out[std::string(one.substr(0, comma))] = number;
    } else if (line > 1) {
      return Error{ErrorCode::invalid_argument,
                   fmt::format("--accuracy-labels {}: line {} is not NAME,CLASS", file, line)};
    }
  }
  return out;
}

Result<Tensor> labels_of(const std::string& file, const std::vector<std::string>& names) {
  TRY(const auto classes, read_classes(file));
  Tensor out(DataType::int64, {static_cast<int64_t>(names.size())});
  for (size_t i = 0; i < names.size(); ++i) {
    const auto found = classes.find(names[i]);
    if (found == classes.end())
      return Error{ErrorCode::invalid_argument,
                   fmt::format("--accuracy-labels {}: no class of {}", file, names[i])};
    out.mutable_data<int64_t>()[i] = found->second;
  }
  return out;
}

}  // namespace

Result<std::shared_ptr<const Bytes>> read_held_out(const PackedModel& model,
                                                   const BuildFlags& flags, bool provisional,
                                                   BuildOptions& options, Console& console) {
  if (flags.accuracy_data.empty()) return std::shared_ptr<const Bytes>();
  if (provisional) return Error{ErrorCode::usage, "--accuracy-data: an untuned engine is not run"};
  CalibrationRequest request;
  request.paths = flags.accuracy_data;
  request.rows = flags.accuracy_images.value_or(0);
  request.option = "--accuracy-data";
  TRY(PreparedRows data, rows_of(request, model, flags, options, console));
  if (!flags.accuracy_labels.empty()) {
    TRY(data.rows[kRowLabels], labels_of(flags.accuracy_labels, data.names));
  }
  auto bytes = std::make_shared<const Bytes>(encode_rows(data.rows));
  options.held_out = sha256(*bytes).text();
  return std::shared_ptr<const Bytes>(std::move(bytes));
}

Result<std::shared_ptr<const Bytes>> read_calib_data(const PackedModel& model,
                                                     const BuildFlags& flags, BuildOptions& options,
                                                     Console& console) {
  if (flags.calib_data.empty()) return std::shared_ptr<const Bytes>();
  TRY(const auto calibrator, find_calibrator(flags.calibrator.empty() ? "mse" : flags.calibrator));
  CalibrationRequest request;
  request.paths = flags.calib_data;
  request.rows = flags.calib_images.value_or(0);
  request.option = "--calib-data";
  TRY(const PreparedRows data, rows_of(request, model, flags, options, console));
  auto bytes = std::make_shared<const Bytes>(encode_rows(data.rows));
  options.calib_data = sha256(*bytes).text();
  options.calibrator = calibrator->name();
  options.bias_correction = flags.bias_correction;
  return std::shared_ptr<const Bytes>(std::move(bytes));
}

}  // namespace enginery
