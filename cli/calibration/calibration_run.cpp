#include "cli/calibration/calibration_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "cli/local/engine_session.h"
#include "cli/output/progress.h"
#include "cli/output/text.h"
#include "cli/process/signals.h"
#include "engine/base/file.h"
#include "engine/compile/compile.h"
#include "engine/options/toolchain.h"
#include "pipeline/keys.h"
#include "tuner/calibrate/calibrator.h"

namespace enginery {
namespace {

namespace fs = std::filesystem;

// `collecting` with progress on the terminal until Ctrl-C; then what was left out.
Result<HistogramSet> with_progress(
    const CalibrationWords& words, DataReport& report, Console& console,
    const std::function<Result<HistogramSet>(const CollectWatch&)>& collecting) {
  const Interrupt interrupt;
  const SystemClock clock;
  ProgressDisplay display(console, clock);
  const CollectWatch watch{[&](const Progress& p) {
                             display.show({{"", p.phase, p.done, p.total, p.eta_seconds, ""}});
                           },
                           [&] { return interrupt.requested(); }};
  auto set = collecting(watch);
  if (!set) return as_local(set.error());
  display.finish();
  if (report.chosen < report.available)
    console.note(fmt::format("{} of {} rows of the data, chosen with seed {}", report.chosen,
                             report.available, seed_of(words)));
  for (const SkippedRow& row : report.skipped)
    console.warn("left out: " + row.label + ": " + row.reason);
  if (const std::string constant = constant_tensors_note(*set); !constant.empty())
    console.note(constant);
  return set;
}

// The file, or the files of the folder in the byte order of their names.
Result<std::vector<fs::path>> files_of(const fs::path& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) return std::vector<fs::path>{path};
  std::vector<fs::path> out;
  for (fs::directory_iterator entry(path, error), end; !error && entry != end;
       entry.increment(error)) {
    if (entry->is_regular_file(error)) out.push_back(entry->path());
  }
  if (error) return Error{ErrorCode::storage, "read " + path.string() + ": " + error.message()};
  std::ranges::sort(out, {}, [](const fs::path& file) { return file.filename().string(); });
  return out;
}

// By what the files hold and what they are called, since names decide the order of the rows.
Result<Digest> digest_of_data(const std::vector<std::string>& data) {
  Sha256 hash;
  for (const std::string& word : data) {
    const size_t equals = word.find('=');
    const bool named = equals != std::string::npos && !fs::exists(word);
    hash.update("input " + (named ? word.substr(0, equals) : std::string()) + "\n");
    TRY(const auto files, files_of(named ? word.substr(equals + 1) : word));
    for (const fs::path& file : files) {
      TRY(const Bytes bytes, read_file(file));
      hash.update(file.filename().string() + "\n" + sha256(bytes).hex() + "\n");
    }
  }
  return hash.finish();
}

// What the histograms are made with: in float and before the passes, whatever the build allows.
BuildOptions of_collection(const BuildOptions& options) {
  BuildOptions out = options;
  out.precisions = {Precision::fp32};
  out.skip_passes.clear();
  out.layer_precisions.clear();
  return out;
}

std::vector<NamedText> made_from(const ActionKey& key) {
  std::vector<NamedText> out;
  for (const char* name : {"data", "preprocess", "rows", "seed"})
    if (const std::string* value = key.find(name)) out.push_back({name, *value});
  return out;
}

Result<Digest> calibrate(Catalog& catalog, const PackedModel& model, const BuildOptions& options,
                         const CalibrationWords& words, Console& console) {
  DataReport report;
  TRY(const HistogramSet set, with_progress(words, report, console, [&](const CollectWatch& watch) {
        return collect_apart(model, of_collection(options), words, report, watch);
      }));
  TRY(const Digest digest, catalog.blobs().put(as_bytes(encode(set))));
  console.note(fmt::format("calibrated on {} in {:.1f} s: histograms {}",
                           counted(set.samples, "row"), report.seconds, digest.text()));
  return digest;
}

}  // namespace

Result<HistogramSet> collect_histograms(const Graph& imported, const CalibrationWords& words,
                                        DataReport& report, Console& console) {
  return with_progress(words, report, console, [&](const CollectWatch& watch) {
    return collect_here(imported, words, report, watch);
  });
}

Result<ActionKey> calibration_key(const Digest& model, const BuildOptions& options,
                                  const CalibrationWords& words) {
  std::vector<NamedText> fields = validate_key(model, of_collection(options), reader_name());
  TRY(const Digest data, digest_of_data(words.data));
  fields.push_back({"data", data.text()});
  Bytes preprocess;
  if (!words.preprocess.empty()) {
    TRY(preprocess, read_file(words.preprocess));
  }
  fields.push_back({"preprocess", sha256(preprocess).text()});
  fields.push_back({"rows", std::to_string(words.rows.value_or(0))});
  fields.push_back({"seed", std::to_string(seed_of(words))});
  if (words.with_channels) fields.push_back({"bias_correction", "true"});
  return action_key("calibrate", fields);
}

Result<CalibratedData> calibrate_through(Catalog& catalog, const PackedModel& model,
                                         const BuildFlags& flags, BuildOptions& options,
                                         Console& console) {
  const CalibrationWords words{flags.calib_data,     flags.preprocess, flags.calib_images,
                               std::nullopt,         flags.threads,    "--calib-data",
                               flags.bias_correction};
  TRY(const auto calibrator, find_calibrator(flags.calibrator.empty() ? "mse" : flags.calibrator));
  TRY(const ActionKey key, calibration_key(model.digest, options, words));
  TRY(std::optional<Digest> histograms, catalog.calibrations().find(key.digest()));
  Result<Bytes> bytes = Error{ErrorCode::not_found, ""};
  if (histograms) bytes = catalog.blobs().get(*histograms);
  const bool is_gone = !bytes.ok() && bytes.error().code == ErrorCode::not_found;
  if (bytes.ok()) console.note("calibrated before: histograms " + histograms->text());
  if (is_gone) {
    TRY(histograms, calibrate(catalog, model, options, words, console));
    CHECK_OK(catalog.calibrations().put(key, *histograms));
    bytes = catalog.blobs().get(*histograms);
  }
  if (!bytes.ok()) return bytes.error();
  options.calibration = histograms->text();
  options.calibrator = calibrator->name();
  return CalibratedData{std::make_shared<const Bytes>(std::move(*bytes)), made_from(key)};
}

}  // namespace enginery
