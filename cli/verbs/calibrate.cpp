// calibrate: INT8 scales for a model, from data or from histograms of an earlier run; and
// `collector`, the process in which a build collects.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/calibration/calibration_run.h"
#include "cli/output/json_output.h"
#include "cli/output/output_file.h"
#include "cli/output/text.h"
#include "cli/process/stdin_copy.h"
#include "cli/verbs/verbs.h"
#include "engine/base/file.h"
#include "engine/compile/bias_correction.h"
#include "engine/graph/text.h"
#include "engine/import/onnx/write_qdq.h"
#include "tuner/calibrate/table.h"

namespace enginery {
namespace {

Json tensor_json(const std::string& name, float scale, const Histogram& histogram) {
  return {{"name", valid_utf8(name)},
          {"scale", scale},
          {"least", histogram.least},
          {"largest", histogram.largest}};
}

Json data_json(const DataReport& data, int64_t seed) {
  if (data.available == 0) return nullptr;
  Json skipped = Json::array();
  for (const SkippedRow& row : data.skipped)
    skipped.push_back({{"file", valid_utf8(row.label)}, {"reason", valid_utf8(row.reason)}});
  return {{"available", data.available},
          {"chosen", data.chosen},
          {"seed", seed},
          {"skipped", skipped},
          {"seconds", data.seconds}};
}

// Where a build with these scales computes in 8 bits, by the names of the file.
Result<QdqPlaces> qdq_places(Graph graph, const CalibrationTable& table, Console& console) {
  TRY(const QuantizedPlaces places, place_quantization(graph, {table.scales, table.unusable}));
  for (const std::string& note : places.notes) console.note(note);
  QdqPlaces out;
  for (const auto& [value, scale] : places.pairs) out.tensors[graph.value(value).name] = scale;
  for (const auto& [id, correction] : bias_corrections(graph, places.products, table.means))
    out.bias_corrections[graph.value(graph.node(id).outputs[0]).name] = correction;
  for (const auto& [reader, input, value] : places.reads)
    out.reads.insert({graph.value(graph.node(reader).outputs[0]).name, graph.value(value).name});
  return out;
}

// As protobuf writes a model: its version in one byte, then a field that stands behind it.
bool is_onnx(std::string_view first_bytes) {
  constexpr std::string_view kVersion = "\x08", kNext = "\x12\x1a\x22\x28\x32\x3a\x42";
  return first_bytes.size() > 2 && first_bytes.starts_with(kVersion) &&
         kNext.find(first_bytes[2]) != std::string_view::npos;
}

class CalibrateCommand final : public Command {
 public:
  void declare(Options& options) override {
    options.positional("MODEL", model_, "the model file (ONNX)");
    options.texts("--data", data_, "[NAME=]PATH",
                  "a folder of images, JPEG, PNG, .npy or .npz; - is stdin (.npy or .npz); "
                  "repeatable, NAME for models with several inputs");
    options.text("--preprocess", preprocess_, "FILE",
                 "TOML file that says how images become the input");
    options.text("-o,--output", output_, "TABLE",
                 "where to write the scales, in TensorRT's text layout; - is stdout");
    options.text(
        "--histograms", histograms_, "FILE",
        "with --data: keep what was seen there; without: read it from there, no data runs");
    options.text("--to-qdq", qdq_, "FILE",
                 "write the model with its scales, as ONNX with QuantizeLinear and "
                 "DequantizeLinear");
    options.flag("--bias-correction", bias_correction_,
                 "keep the means of channels with the histograms: whoever quantises with them "
                 "(--to-qdq; build --calib FILE) corrects biases for the rounding of weights");
    options.text("--calibrator", calibrator_, "NAME",
                 "mse (default), entropy, entropy2, minmax, percentile or legacy");
    options.number("--calib-images", images_, {1, INT64_MAX}, "N",
                   "take at most N rows of the data (default: all)");
    options.number("--seed", seed_, {0, INT64_MAX}, "N",
                   "which rows, where there are more than N (default: 1)");
    options.text("--shapes", shapes_, "NAME:DIMS,...",
                 "the inputs' shapes, e.g. data:8x3x224x224 for batches of 8");
    options.number("--threads", threads_, {1, 4096}, "N",
                   "CPU threads (default: the cores of the affinity mask)");
    options.flag("--json", json_, "print JSON (enginery.calibrate/1)");
    options.about(calibrators_text());
  }

  Result<ExitCode> run(Session& session) override {
    CHECK_OK(check_words());
    TRY(const auto calibrator, find_calibrator(calibrator_.empty() ? "mse" : calibrator_));
    CHECK_OK(check_outputs());
    TRY(const ModelSource source, read_model(model_));
    if (!qdq_.empty()) {
      const Status writable = check_qdq(source);
      if (!writable.ok()) return writable.error().within("--to-qdq");
    }
    TRY(const LoadedModel model, load(source, session.console));
    DataReport report;
    TRY(const HistogramSet set, data_.empty() ? read_histograms(model.imported)
                                              : observe(model.imported, report, session.console));
    const CalibrationTable table = make_table(set, *calibrator);
    QuantizedModel quantized;
    if (!qdq_.empty()) {
      TRY(const QdqPlaces places, qdq_places(model.imported, table, session.console));
      if (!places.bias_corrections.empty())
        session.console.note(fmt::format("biases of {} corrected",
                                         counted(places.bias_corrections.size(), "layer")));
      TRY(quantized, write_qdq(source, places));
      for (const std::string& note : quantized.notes) session.console.note(note);
    }
    CHECK_OK(write_results(set, to_text(table), quantized));
    if (json_) {
      print_json(session.console, report_json(model, *calibrator, set, table, report));
    } else if (output_ == "-") {
      session.console.print(to_text(table));
    } else {
      for (const std::string& file : {output_, data_.empty() ? std::string() : histograms_, qdq_}) {
        if (!file.empty()) session.console.print_line(file);
      }
    }
    return ExitCode::ok;
  }

 private:
  static std::string calibrators_text() {
    std::string out = "Calibrators:\n";
    for (const auto& one : make_calibrators())
      out += fmt::format("  {:<12}{}\n", one->name(), one->summary());
    return out +
           "\nThe model runs in float32 on the CPU, every value watched. The calibrator is applied "
           "to the histograms alone:\n"
           "  calibrate MODEL --data DIR --preprocess F.toml --histograms H -o A.table\n"
           "  calibrate MODEL --histograms H --calibrator entropy -o B.table";
  }

  Status check_words() const {
    if (data_.empty() && histograms_.empty())
      return Error{ErrorCode::usage, "there is no data: give --data DIR, or --histograms FILE"};
    if (output_.empty() && qdq_.empty() && (data_.empty() || histograms_.empty()))
      return Error{ErrorCode::usage, "nothing would be written: give -o TABLE"};
    if (data_.empty() && (!preprocess_.empty() || images_ || seed_))
      return Error{ErrorCode::usage,
                   "--preprocess, --calib-images and --seed choose from --data, which is missing"};
    if (bias_correction_ && histograms_.empty() && qdq_.empty())
      return Error{ErrorCode::usage,
                   "--bias-correction: a table has no place for the means of channels; give "
                   "--histograms FILE (for build --calib FILE) or --to-qdq FILE"};
    if (output_ == "-" && json_)
      return Error{ErrorCode::usage, "-o - and --json both write to stdout"};
    return {};
  }

  // Before the work, so that what cannot be written is reported at once; only a file of the same
  // kind is written over.
  Status check_outputs() const {
    if (!output_.empty() && output_ != "-")
      CHECK_OK(check_output_file(output_, files_that_begin_with("TRT-")));
    std::error_code ignored;
    if (!qdq_.empty() && std::filesystem::equivalent(model_, qdq_, ignored))
      return Error{ErrorCode::usage, "--to-qdq " + qdq_ + " is the model itself"};
    if (!qdq_.empty()) CHECK_OK(check_output_file(qdq_, is_onnx));
    if (data_.empty() || histograms_.empty()) return {};
    return check_output_file(histograms_, files_that_begin_with("ENGHIST"));
  }

  Status write_results(const HistogramSet& set, const std::string& table,
                       const QuantizedModel& quantized) const {
    if (!data_.empty() && !histograms_.empty())
      CHECK_OK(write_output_file(histograms_, encode(set)));
    if (!output_.empty() && output_ != "-") CHECK_OK(write_output_file(output_, table));
    return qdq_.empty() ? Status() : write_output_file(qdq_, quantized.bytes);
  }

  // As imported: calibration sees the graph before any pass.
  Result<LoadedModel> load(const ModelSource& source, Console& console) const {
    BuildOptions options;
    TRY(options.shapes, parse_shapes(shapes_));
    PassOptions none;
    none.list = {};
    TRY(LoadedModel model, load_model(source, model_, options, none));
    for (const std::string& note : model.notes) console.note(readable_note(note));
    return model;
  }

  Result<HistogramSet> read_histograms(const Graph& graph) const {
    TRY(const Bytes bytes, read_file(histograms_));
    auto set = decode_histogram_set(bytes);
    if (!set) return set.error().within("--histograms " + histograms_);
    if (set->model != fingerprint(graph)) {
      return Error{ErrorCode::invalid_argument,
                   "--histograms " + histograms_ +
                       ": it is of another model, other weights or other shapes; run with --data"};
    }
    if (bias_correction_ && set->channels.empty())
      return Error{ErrorCode::invalid_argument,
                   "--histograms " + histograms_ +
                       ": it has no means of channels; run --bias-correction with --data"};
    return set;
  }

  Result<HistogramSet> observe(const Graph& graph, DataReport& report, Console& console) const {
    std::optional<StdinCopy> from_stdin;
    CalibrationWords words{{}, preprocess_, images_, seed_, threads_};
    words.with_channels = bias_correction_;
    TRY(words.data, paths(from_stdin));
    return collect_histograms(graph, words, report, console);
  }

  // The arguments with a file in place of `-`.
  Result<std::vector<std::string>> paths(std::optional<StdinCopy>& from_stdin) const {
    std::vector<std::string> out = data_;
    for (std::string& text : out) {
      if (text != "-" && !text.ends_with("=-")) continue;
      if (from_stdin)
        return Error{ErrorCode::usage, "--data " + text + ": stdin can be read only once"};
      TRY(StdinCopy copy, StdinCopy::make());
      from_stdin.emplace(std::move(copy));
      text.replace(text.size() - 1, 1, from_stdin->path().string());
    }
    return out;
  }

  Json report_json(const LoadedModel& model, const Calibrator& calibrator, const HistogramSet& set,
                   const CalibrationTable& table, const DataReport& data) const {
    Json tensors = Json::array();
    for (const auto& [name, scale] : table.scales)
      tensors.push_back(tensor_json(name, scale, set.tensors.at(name)));
    return {{"schema", "enginery.calibrate/1"},
            {"model", {{"file", valid_utf8(model_)}, {"digest", model.model_digest.text()}}},
            {"calibrator", calibrator.name()},
            {"table", output_.empty() ? Json(nullptr) : Json(valid_utf8(output_))},
            {"table_digest", sha256(to_text(table)).text()},
            {"histograms", histograms_.empty() ? Json(nullptr) : Json(valid_utf8(histograms_))},
            {"histograms_digest", set.digest().text()},
            {"samples", set.samples},
            {"data", data_json(data, seed_.value_or(1))},
            {"tensors", tensors},
            {"qdq", qdq_.empty() ? Json(nullptr) : Json(valid_utf8(qdq_))},
            {"channel_means", !set.channels.empty()}};
  }

  std::string model_, preprocess_, output_, histograms_, qdq_, calibrator_, shapes_;
  std::vector<std::string> data_;
  std::optional<int64_t> images_, seed_, threads_;
  bool json_ = false, bias_correction_ = false;
};

class CollectorCommand final : public Command {
 public:
  void declare(Options& options) override {
    options.texts("--data", words_.data, "[NAME=]PATH", "as for calibrate");
    options.text("--preprocess", words_.preprocess, "FILE", "as for calibrate");
    options.number("--calib-images", words_.rows, {1, INT64_MAX}, "N", "as for calibrate");
    options.number("--seed", words_.seed, {0, INT64_MAX}, "N", "as for calibrate");
    options.number("--threads", words_.threads, {1, 4096}, "N", "as for calibrate");
    options.text("--option", words_.option, "NAME", "what messages call the data");
    options.flag("--bias-correction", words_.with_channels, "as for calibrate");
    options.about("Started by a build; not for people.");
  }

  Result<ExitCode> run(Session&) override {
    return serve_collector(words_) ? ExitCode::ok : ExitCode::failed;
  }

 private:
  CalibrationWords words_;
};

}  // namespace

std::unique_ptr<Command> make_calibrate() {
  return std::make_unique<CalibrateCommand>();
}
std::unique_ptr<Command> make_collector() {
  return std::make_unique<CollectorCommand>();
}

}  // namespace enginery
