#include "builder/calibration.h"

#include "builder/called_batches.h"
#include "engine/base/file.h"
#include "engine/c_api/growing_struct.h"
#include "engine/compile/compile.h"
#include "engine/device/sku_table.h"
#include "tuner/calibrate/table.h"
#include "tuner/collect/calibration_data.h"
#include "tuner/collect/collect.h"

namespace enginery {
namespace {

bool is_given(const char* text) {
  return text && *text;
}

Error misused(const std::string& why) {
  return {ErrorCode::usage, why};
}

// Which of the sources there are.
Status check_sources(const enginery_build_options& from, const BuildOptions& options) {
  std::string first;
  for (const auto& [given, name] : {std::pair(is_given(from.calibration), "calibration"),
                                    std::pair(from.calibration_data_count > 0, "calibration_data"),
                                    std::pair(from.calibrator != nullptr, "calibrator")}) {
    if (given && !first.empty())
      return misused(first + " and " + name + ": scales come from one of them");
    if (given) first = name;
  }
  if (first.empty() && is_given(from.calibrator_name))
    return misused(
        "calibrator_name is for histograms: set calibration, calibration_data or "
        "calibrator");
  if (first != "calibration_data" &&
      (from.calibration_rows != 0 || is_given(from.calibration_preprocess)))
    return misused(
        "calibration_rows and calibration_preprocess are for calibration_data, which is "
        "missing");
  if (from.bias_correction && first != "calibration_data" && first != "calibrator")
    return misused(
        "bias_correction keeps means of calibration_data or of a calibrator's batches, which are "
        "missing; histograms of calibrate --bias-correction have theirs");
  if (from.calibration_data_count < 0 || from.calibration_rows < 0)
    return misused("calibration_data_count and calibration_rows are not negative");
  if (!first.empty() && !options.precisions.contains(Precision::int8))
    return misused(first + " gives scales of int8, which is not among the precisions");
  return {};
}

// A process runs one CPU type: the one that is built for, where it is a CPU's and is here.
std::string collecting_sku(const std::string& wanted) {
  std::string best;
  for (const LocalSku& local : local_skus()) {
    if (local.kind != DeviceKind::cpu) continue;
    if (local.name == wanted) return wanted;
    if (best.empty()) best = local.name;
  }
  return best;
}

// The model as it is calibrated: in float, before any pass.
Result<Graph> imported_model(LocalBuildRequest& request) {
  if (!request.model_bytes) {
    TRY(Bytes packed, pack_model(request.model));
    request.model_bytes = std::make_shared<const Bytes>(std::move(packed));
  }
  BuildOptions options = request.options;
  options.precisions = {Precision::fp32};
  options.layer_precisions.clear();
  PassOptions none;
  none.list = {};
  TRY(LoadedModel loaded, load_model({request.model.string(), request.model_bytes, std::nullopt},
                                     request.name, options, none));
  return std::move(loaded.imported);
}

Result<Bytes> histograms_of(const Graph& model, CalibrationBatches& data,
                            const enginery_build_options& from, const StepHooks& hooks,
                            const LocalBuildRequest& request) {
  CollectOptions options;
  options.with_channels = from.bias_correction != 0;
  options.watch.sku = collecting_sku(request.sku);
  options.watch.threads = request.options.threads;
  options.cancelled = hooks.cancelled;
  options.progress = [&](int64_t done, int64_t total) {
    hooks.progress({"calibrating", static_cast<uint64_t>(done), static_cast<uint64_t>(total)});
  };
  TRY(const HistogramSet set, collect(model, data, options));
  if (const std::string constant = constant_tensors_note(set); !constant.empty())
    hooks.log(constant);
  return encode(set);
}

Result<Bytes> from_data(const enginery_build_options& from, const StepHooks& hooks,
                        LocalBuildRequest& request) {
  CalibrationRequest wanted;
  for (int32_t i = 0; i < from.calibration_data_count; ++i) {
    if (!from.calibration_data || !is_given(from.calibration_data[i]))
      return Error{ErrorCode::invalid_argument,
                   "calibration_data[" + std::to_string(i) + "] is null or empty"};
    wanted.paths.emplace_back(from.calibration_data[i]);
  }
  if (is_given(from.calibration_preprocess)) {
    TRY(wanted.preprocess, read_preprocess(from.calibration_preprocess));
  }
  wanted.rows = from.calibration_rows;
  wanted.option = "calibration_data";
  TRY(const Graph model, imported_model(request));
  TRY(CalibrationData data, CalibrationData::open(wanted, input_descriptions(model)));
  return histograms_of(model, data, from, hooks, request);
}

// "" where the calibrator has none.
Result<Bytes> cached(const enginery_calibrator& calibrator) {
  const void* data = nullptr;
  size_t bytes = 0;
  if (!calibrator.read_cache) return Bytes();
  if (calibrator.read_cache(calibrator.user, &data, &bytes) != 0)
    return Error{ErrorCode::storage, "the calibrator's read_cache has failed"};
  return data ? Bytes(static_cast<const char*>(data), bytes) : Bytes();
}

// What a cache is good for: all of it, or less where it has means that nobody asked for; "" where
// it lacks those that are asked for, so that the batches are to run. Errors: usage (a table, which
// has no place for them); those of decode_histogram_set.
Result<Bytes> useful_part(Bytes known, bool with_channels, LocalBuildRequest& request) {
  if (known.empty()) return known;
  if (!holds_histograms(known)) {
    if (!with_channels) return known;
    return misused(
        "bias_correction: read_cache gives a table, which has no place for the means of channels");
  }
  TRY(HistogramSet set, decode_histogram_set(known));
  if (with_channels) {
    if (!set.channels.empty()) return known;
    TRY(const Graph model, imported_model(request));
    return read_by_channel(model).empty() ? known : Bytes();
  }
  set.channels.clear();
  return encode(set);
}

Result<Bytes> from_calls(const enginery_calibrator& calibrator, const enginery_build_options& from,
                         const StepHooks& hooks, LocalBuildRequest& request) {
  TRY(Bytes cache, cached(calibrator));
  auto known = useful_part(std::move(cache), from.bias_correction != 0, request);
  if (!known) return known.error().within("calibrator");
  if (!known->empty()) return known;
  TRY(const Graph model, imported_model(request));
  CalledBatches batches(calibrator, input_descriptions(model));
  TRY(Bytes bytes, histograms_of(model, batches, from, hooks, request));
  if (calibrator.write_cache &&
      calibrator.write_cache(calibrator.user, bytes.data(), bytes.size()) != 0)
    return Error{ErrorCode::storage, "the calibrator's write_cache has failed"};
  return bytes;
}

Result<enginery_calibrator> complete(const enginery_calibrator& given) {
  enginery_calibrator out{};
  out.struct_size = sizeof out;
  const Failure unread = read_struct("enginery_calibrator", &given, out);
  if (unread.status() != ENGINERY_OK) return Error{ErrorCode::invalid_argument, unread.message()};
  if (out.batch_size <= 0 || !out.get_batch)
    return Error{ErrorCode::invalid_argument,
                 "calibrator: expected a batch_size above 0 and a function get_batch"};
  return out;
}

Result<Bytes> calibration_of(const enginery_build_options& from, const StepHooks& hooks,
                             LocalBuildRequest& request) {
  if (is_given(from.calibration)) return read_file(from.calibration);
  if (from.calibration_data_count > 0) return from_data(from, hooks, request);
  TRY(const enginery_calibrator calibrator, complete(*from.calibrator));
  return from_calls(calibrator, from, hooks, request);
}

}  // namespace

Status calibrate(const enginery_build_options& from, const StepHooks& hooks,
                 LocalBuildRequest& request) {
  CHECK_OK(check_sources(from, request.options));
  const bool is_asked =
      is_given(from.calibration) || from.calibration_data_count > 0 || from.calibrator;
  if (!is_asked) return {};
  const std::string name = from.calibrator_name ? from.calibrator_name : "";
  if (!name.empty()) {
    TRY(const auto known, find_calibrator(name));  // before the data are read
  }
  TRY(Bytes bytes, calibration_of(from, hooks, request));
  auto calibrator = calibrator_in_full(bytes, name);
  if (!calibrator.ok()) return calibrator.error().within("calibration");
  request.options.calibration = sha256(bytes).text();
  request.options.calibrator = std::move(*calibrator);
  request.calibration = std::make_shared<const Bytes>(std::move(bytes));
  return {};
}

}  // namespace enginery
