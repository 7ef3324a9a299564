#include "cli/calibration/collector.h"

#include "cli/options/environment.h"
#include "cli/process/signals.h"
#include "engine/base/clock.h"
#include "engine/base/file.h"
#include "engine/base/log.h"
#include "pipeline/result.h"
#include "worker/runner/runner_process.h"
#include "worker/runner/scratch_folder.h"

namespace enginery {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kFirstSeed = 1;
constexpr char kModelFile[] = "model", kHistogramsFile[] = "histograms";

Result<PreprocessTable> preprocess_of(const CalibrationWords& words) {
  if (words.preprocess.empty()) return PreprocessTable();
  return read_preprocess(words.preprocess);
}

// The command line of the child; `collector` declares the same options.
std::vector<std::string> program_of(const CalibrationWords& words) {
  std::vector<std::string> out{"/proc/self/exe", "collector", "--option=" + words.option,
                               "--seed=" + std::to_string(seed_of(words))};
  for (const std::string& data : words.data) out.push_back("--data=" + data);
  if (!words.preprocess.empty()) out.push_back("--preprocess=" + words.preprocess);
  if (words.rows) out.push_back("--calib-images=" + std::to_string(*words.rows));
  if (words.threads) out.push_back("--threads=" + std::to_string(*words.threads));
  if (words.with_channels) out.push_back("--bias-correction");
  return out;
}

Result<Outcome> outcome_of(const RunnerReport& report) {
  const auto* end = std::get_if<RunnerEnd>(&report);
  if (!end) return Error{ErrorCode::internal, "the collector ended without a result"};
  if (end->kind != OutcomeKind::succeeded) return Error{end->fault.code, end->fault.message};
  return *end;
}

// What the child saw of the data travels as its numbers, and a fact for each row that it left out.
void put_report(const DataReport& report, Outcome& out) {
  out.metrics = {{"available", static_cast<double>(report.available)},
                 {"chosen", static_cast<double>(report.chosen)},
                 {"seconds", report.seconds}};
  for (const SkippedRow& row : report.skipped) out.facts.push_back({row.label, row.reason});
}

DataReport report_in(const Outcome& outcome) {
  DataReport out;
  out.available = static_cast<int64_t>(number_named(outcome.metrics, "available"));
  out.chosen = static_cast<int64_t>(number_named(outcome.metrics, "chosen"));
  out.seconds = number_named(outcome.metrics, "seconds");
  for (const NamedText& row : outcome.facts) out.skipped.push_back({row.name, row.value});
  return out;
}

Result<Outcome> collect_requested(const RunnerRequest& request, const CalibrationWords& words,
                                  const CollectWatch& watch) {
  TRY(const BuildOptions options, parse_options(request.options));
  const auto file = request.inputs.find(kModelFile);
  if (file == request.inputs.end())
    return Error{ErrorCode::internal, "the collector was started without a model"};
  TRY(Bytes bytes, read_file(file->second));
  PassOptions none;
  none.list = {};
  TRY(const LoadedModel loaded, load_model({request.model_file, std::move(bytes), std::nullopt},
                                           request.name, options, none));
  DataReport report;
  TRY(const HistogramSet set, collect_here(loaded.imported, words, report, watch));
  CHECK_OK(write_file(fs::path(request.output_folder) / kHistogramsFile, encode(set)));
  Outcome out;
  put_report(report, out);
  return out;
}

}  // namespace

uint64_t seed_of(const CalibrationWords& words) {
  return static_cast<uint64_t>(words.seed.value_or(kFirstSeed));
}

Result<HistogramSet> collect_here(const Graph& imported, const CalibrationWords& words,
                                  DataReport& report, const CollectWatch& watch) {
  CalibrationRequest request;
  request.paths = words.data;
  TRY(request.preprocess, preprocess_of(words));
  request.rows = words.rows.value_or(0);
  request.seed = seed_of(words);
  request.option = words.option;
  TRY(CalibrationData data, CalibrationData::open(request, input_descriptions(imported)));
  const SystemClock clock;
  const Nanoseconds begin = clock.monotonic();
  CollectOptions options;
  options.watch.threads = static_cast<int>(words.threads.value_or(0));
  options.with_channels = words.with_channels;
  options.cancelled = watch.cancelled;
  options.progress = [&](int64_t done, int64_t total) {
    const double seconds = to_seconds(clock.monotonic() - begin);
    const double left = seconds / static_cast<double>(done) * static_cast<double>(total - done);
    watch.progress(
        {"calibrating", static_cast<uint64_t>(done), static_cast<uint64_t>(total), left});
  };
  TRY(HistogramSet set, collect(imported, data, options));
  report = {data.available(), data.chosen(), data.skipped(), to_seconds(clock.monotonic() - begin)};
  return set;
}

Result<HistogramSet> collect_apart(const PackedModel& model, const BuildOptions& options,
                                   const CalibrationWords& words, DataReport& report,
                                   const CollectWatch& watch) {
  std::error_code error;
  const fs::path base = fs::temp_directory_path(error);
  TRY(const auto folder, ScratchFolder::make(error ? "/tmp" : base));
  RunnerRequest request;
  request.step = "collect";
  request.name = model.name;
  request.model_file = model.file;
  request.model = model.digest;
  request.options = to_text(options);
  request.inputs[kModelFile] = (folder->path() / kModelFile).string();
  request.output_folder = folder->path().string();
  CHECK_OK(write_file(folder->path() / kModelFile, model.bytes));
  RunnerEvents events;
  events.report = [&](const RunnerReport& said) {
    if (const auto* progress = std::get_if<Progress>(&said)) watch.progress(*progress);
  };
  events.output = [](const std::string& line) { log_info(line); };
  events.cancelled = watch.cancelled;
  // The child reads the user's files as this process would.
  TRY(const auto child, RunnerProcess::start({program_of(words), environment_of_this_process()}));
  TRY(const Outcome outcome, outcome_of(child->run(request, events)));
  report = report_in(outcome);
  TRY(const Bytes bytes, read_file(folder->path() / kHistogramsFile));
  return decode_histogram_set(bytes);
}

bool serve_collector(const CalibrationWords& words) {
  LineWriter out(kRunnerReportFd);
  LineBuffer lines;
  const auto line = read_line(kRunnerRequestFd, lines);
  if (!line.ok()) return false;
  const auto request = parse_request(*line);
  if (!request.ok()) return false;
  const Interrupt interrupt;
  const CollectWatch watch{
      [&](const Progress& progress) { (void)out.write(to_line(RunnerReport(progress))); },
      [&] { return interrupt.requested(); }};
  const auto done = collect_requested(*request, words, watch);
  return out.write(to_line(RunnerReport(done.ok() ? *done : failed_outcome(done.error())))).ok();
}

}  // namespace enginery
