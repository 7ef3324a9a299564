// inspect: what is inside a model (its graph), an engine (layers, tactics, memory, provenance) or
// the histograms of a calibration (thresholds, noise).
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/calibration/ranges_page.h"
#include "cli/local/engine_page.h"
#include "cli/local/engine_rows.h"
#include "cli/output/json_output.h"
#include "cli/output/output_file.h"
#include "cli/output/table.h"
#include "cli/output/text.h"
#include "cli/verbs/verbs.h"
#include "engine/base/file.h"
#include "engine/compile/compile.h"
#include "engine/format/statement.h"
#include "engine/graph/text.h"

namespace enginery {
namespace {

Json type_json(const std::string& name, const TensorType& type) {
  return {{"name", valid_utf8(name)}, {"type", to_string(type.type)}, {"dims", type.dims}};
}

// A size that is known at run time only is its symbol's name, or null where it has none.
Json type_json(const std::string& name, const TensorType& type, const Graph& graph) {
  Json json = type_json(name, type);
  for (Json& dim : json["dims"]) {
    const auto size = dim.get<int64_t>();
    if (size >= 0) continue;
    const auto symbol = static_cast<size_t>(-2 - size);
    dim = size < -1 && symbol < graph.symbols.size() ? Json(valid_utf8(graph.symbols[symbol]))
                                                     : Json(nullptr);
  }
  return json;
}

Json facts_json(const std::vector<std::pair<std::string, std::string>>& facts) {
  Json json = Json::object();
  for (const auto& [name, value] : facts) json[valid_utf8(name)] = valid_utf8(value);
  return json;
}

Json texts_json(const std::vector<std::string>& texts) {
  Json json = Json::array();
  for (const std::string& text : texts) json.push_back(valid_utf8(text));
  return json;
}

Json layer_json(const LayerInfo& layer) {
  return {{"name", valid_utf8(layer.name)},
          {"op", layer.op},
          {"tactic", layer.tactic},
          {"problem", valid_utf8(layer.problem)},
          {"stream", layer.stream},
          {"median_us", json_known(layer.median_us)},
          {"flops", layer.flops},
          {"bytes", layer.bytes},
          {"inputs", texts_json(layer.inputs)},
          {"outputs", texts_json(layer.outputs)},
          {"workspace_bytes", layer.workspace_bytes}};
}

// One profile: the shapes are fixed, so its smallest, best and largest are the same.
Json profile_json(const EngineInfo& info) {
  Json inputs = Json::array();
  for (const TensorInfo& input : info.inputs) {
    Json one = type_json(input.name, input.type);
    one["min"] = one["opt"] = one["max"] = input.type.dims;
    inputs.push_back(std::move(one));
  }
  return {{"index", 0}, {"inputs", inputs}};
}

Json engine_json(const EngineInfo& info) {
  Json layers = Json::array();
  Json inputs = Json::array();
  Json outputs = Json::array();
  for (const LayerInfo& layer : info.layers) layers.push_back(layer_json(layer));
  for (const TensorInfo& input : info.inputs) inputs.push_back(type_json(input.name, input.type));
  for (const TensorInfo& output : info.outputs) {
    outputs.push_back(type_json(output.name, output.type));
    if (!output.run_time_axes.empty()) outputs.back()["run_time_axes"] = output.run_time_axes;
  }
  return {{"schema", "enginery.inspect/1"},
          {"kind", "engine"},
          {"name", valid_utf8(info.name)},
          {"digest", info.digest},
          {"content_digest", info.content_digest},
          {"sku", info.sku},
          {"precision", precision_text(info.precisions)},
          {"threads", info.threads},
          {"level", info.level},
          {"provisional", info.provisional},
          {"median_ms", json_known(info.median_us / 1000)},
          {"inputs", inputs},
          {"outputs", outputs},
          {"layers", layers},
          {"profiles", Json::array({profile_json(info)})},
          {"provenance",
           {{"facts", facts_json(info.provenance)},
            {"hardware", facts_json(info.hardware)},
            {"software", facts_json(info.software)},
            {"builder", info.builder},
            {"model_digest", info.model_digest},
            {"structure_digest", info.structure_digest},
            {"signer", info.signer},
            {"portability", info.portability}}},
          {"memory", {{"weights_bytes", info.weights_bytes}, {"arena_bytes", info.arena_bytes}}},
          {"size_bytes", info.file_bytes}};
}

std::string streams_text(const EngineInfo& info) {
  int last = 0;
  for (const LayerInfo& layer : info.layers) last = std::max(last, layer.stream);
  return last > 0 ? fmt::format(", {} streams", last + 1) : "";
}

// " at most: dimension 0 is known after a run"; "" for an output of fixed size.
std::string at_most_text(const TensorInfo& output) {
  if (output.run_time_axes.empty()) return "";
  std::vector<std::string> axes;
  for (const int64_t axis : output.run_time_axes) axes.push_back(std::to_string(axis));
  return fmt::format(" at most: dimension {} {} known after a run", joined(axes, ", "),
                     axes.size() == 1 ? "is" : "are");
}

std::string engine_text(const EngineInfo& info, int columns) {
  std::string text = fmt::format("engine {} for {}{}\n", info.name, info.sku,
                                 info.provisional ? " (untuned)" : "");
  text += fmt::format("content {}\nfile    {} {}\n", info.content_digest, info.digest,
                      human_bytes(static_cast<uint64_t>(info.file_bytes)));
  const std::string threads = info.kind == "cpu" ? fmt::format(", {} threads", info.threads) : "";
  text +=
      fmt::format("{}{}, level {}, signed by {}, built by {}\n", precision_text(info.precisions),
                  threads, info.level, info.signer, info.builder);
  text += fmt::format("weights {}, arena {} for each context{}{}\n",
                      human_bytes(static_cast<uint64_t>(info.weights_bytes)),
                      human_bytes(static_cast<uint64_t>(info.arena_bytes)), streams_text(info),
                      info.median_us > 0 ? fmt::format(", {} ms when built",
                                                       human_milliseconds(info.median_us / 1000))
                                         : "");
  for (const TensorInfo& input : info.inputs)
    text += "input  " + input.name + " " + to_string(input.type) + "\n";
  for (const TensorInfo& output : info.outputs)
    text += "output " + output.name + " " + to_string(output.type) + at_most_text(output) + "\n";
  return text + "\n" + layers_text(info, columns);
}

Json model_json(const Graph& graph, const Digest& model) {
  Json layers = Json::array();
  Json inputs = Json::array();
  Json outputs = Json::array();
  for (const NodeId id : graph.topological_order()) {
    const Node& node = graph.node(id);
    Json reads = Json::array();
    Json writes = Json::array();
    for (const ValueId value : node.inputs)
      reads.push_back(value == kNoValue ? Json(nullptr)
                                        : Json(valid_utf8(graph.value(value).name)));
    for (const ValueId value : node.outputs)
      writes.push_back(type_json(graph.value(value).name, graph.value(value).type, graph));
    layers.push_back({{"name", valid_utf8(node.name)},
                      {"op", op_name(node.op)},
                      {"inputs", reads},
                      {"outputs", writes}});
  }
  for (const ValueId value : graph.inputs())
    inputs.push_back(type_json(graph.value(value).name, graph.value(value).type, graph));
  for (size_t i = 0; i < graph.own_output_count(); ++i) {
    const Value& value = graph.value(graph.outputs()[i]);
    outputs.push_back(type_json(value.name, value.type, graph));
    for (const RunTimeSize& size : graph.run_time_sizes) {
      if (size.output == i) outputs.back()["run_time_axes"].push_back(size.axis);
    }
  }
  return {{"schema", "enginery.inspect/1"},
          {"kind", "model"},
          {"name", valid_utf8(graph.name)},
          {"digest", model.text()},
          {"symbols", graph.symbols},
          {"inputs", inputs},
          {"outputs", outputs},
          {"layers", layers}};
}

Json histograms_json(const HistogramSet& set, const Calibrator& calibrator) {
  Json tensors = Json::array();
  for (const TensorRange& r : tensor_ranges(set, calibrator)) {
    const bool finite = std::isfinite(r.sqnr_db);
    tensors.push_back({{"name", valid_utf8(r.name)},
                       {"elements", r.histogram->count()},
                       {"zeros", r.histogram->zeros},
                       {"least", r.histogram->least},
                       {"largest", r.histogram->largest},
                       {"threshold", r.threshold},
                       {"clipped", r.clipped},
                       {"sqnr_db", finite ? Json(r.sqnr_db) : Json(nullptr)}});
  }
  return {{"schema", "enginery.inspect/1"},
          {"kind", "histograms"},
          {"digest", set.digest().text()},
          {"model_digest", set.model.text()},
          {"rows", set.samples},
          {"calibrator", calibrator.name()},
          {"tensors", tensors}};
}

class InspectCommand final : public Command {
 public:
  void declare(Options& options) override {
    options.positional("FILE", file_,
                       "a model, an engine, or histograms (enginery calibrate --histograms)");
    options.text("--shapes", shapes_, "NAME:DIMS,...", "model: the dimensions of its inputs");
    options.flag("--optimized", optimized_, "model: after the graph passes, as tuning sees it");
    options.flag("--provenance", provenance_,
                 "engine: print its in-toto statement (SLSA v1 provenance) as JSON");
    options.text("--html", html_, "FILE",
                 "engine: write a page with its layers, times, streams and memory, for a browser; "
                 "histograms: one with their plots");
    options.text("--calib", calib_, "FILE",
                 "engine, with --html: histograms whose plots and thresholds the page shows, too");
    options.text("--calibrator", calibrator_, "NAME",
                 "what makes thresholds of histograms (default: mse)");
    options.flag("--json", json_, "print JSON (enginery.inspect/1)");
    options.about(
        "A model is printed as its graph in text form. An engine is verified first (exit code 5 "
        "when it is not trusted).");
  }

  Result<ExitCode> run(Session& session) override {
    TRY(const Bytes bytes, read_file(file_));
    const bool is_engine = looks_like_engine(file_, bytes);
    if (!calib_.empty() && (!is_engine || html_.empty()))
      return Error{ErrorCode::usage, "--calib is of an engine's --html"};
    if (is_engine) return inspect_engine(session.console);
    if (const auto set = decode_histogram_set(bytes); set.ok())
      return inspect_histograms(*set, session.console);
    return inspect_model(session.console);
  }

 private:
  Result<ExitCode> print_statement(Console& console) const {
    TRY(const EngineFile engine, read_trusted_engine(file_));
    TRY(const std::string statement, readable_statement(engine));
    console.print_line(statement);
    return ExitCode::ok;
  }

  Result<ExitCode> inspect_engine(Console& console) const {
    if (provenance_) return print_statement(console);
    if (!html_.empty()) CHECK_OK(check_output_file(html_));
    TRY(const EngineInfo info, Engine::inspect(file_));
    if (!html_.empty()) {
      TRY(const EngineFile engine, read_trusted_engine(file_));
      TRY(const std::optional<HistogramSet> set, given_histograms());
      TRY(const auto calibrator, find_calibrator(calibrator_));
      CHECK_OK(write_output_file(html_, inspection_page(info, engine, [&](HtmlPage& page) {
                                   if (set)
                                     add_ranges(page, tensor_ranges(*set, *calibrator),
                                                *calibrator);
                                 })));
      if (!json_) {
        console.print_line(html_);
        return ExitCode::ok;
      }
    }
    if (json_) {
      print_json(console, engine_json(info));
      return ExitCode::ok;
    }
    console.print(engine_text(info, console.table_width()));
    return ExitCode::ok;
  }

  // Of --calib; nothing without it.
  Result<std::optional<HistogramSet>> given_histograms() const {
    if (calib_.empty()) return std::optional<HistogramSet>();
    TRY(const Bytes bytes, read_file(calib_));
    auto set = decode_histogram_set(bytes);
    if (!set.ok()) return set.error().within("--calib " + calib_);
    return std::optional(std::move(*set));
  }

  Result<ExitCode> inspect_histograms(const HistogramSet& set, Console& console) const {
    TRY(const auto calibrator, find_calibrator(calibrator_));
    if (!html_.empty()) {
      CHECK_OK(check_output_file(html_));
      const std::string title = std::filesystem::path(file_).filename().string();
      CHECK_OK(write_output_file(html_, ranges_page(set, *calibrator, title)));
    }
    if (json_)
      print_json(console, histograms_json(set, *calibrator));
    else if (!html_.empty())
      console.print_line(html_);
    else
      console.print(ranges_text(tensor_ranges(set, *calibrator), console.table_width()));
    return ExitCode::ok;
  }

  Result<ExitCode> inspect_model(Console& console) const {
    for (const char* option : {provenance_ ? "--provenance" : "", html_.empty() ? "" : "--html"}) {
      if (*option)
        return Error{ErrorCode::usage,
                     std::string(option) + " is of an engine; " + file_ + " is a model"};
    }
    TRY(const ModelSource source, read_model(file_));
    TRY(const auto shapes, parse_shapes(shapes_));
    TRY(const Graph graph, read_graph(source, shapes, console));
    if (json_) {
      print_json(console, model_json(graph, sha256(source.bytes.view())));
      return ExitCode::ok;
    }
    console.print(to_text(graph));
    return ExitCode::ok;
  }

  Result<Graph> read_graph(const ModelSource& source, const std::map<std::string, Dims>& shapes,
                           Console& console) const {
    if (!optimized_) {
      ImportOptions import;
      import.shapes = shapes;
      TRY(ImportedModel model, import_model(source, import));
      for (const std::string& note : model.notes) console.note(readable_note(note));
      return std::move(model.graph);
    }
    BuildOptions build;
    build.shapes = shapes;
    TRY(LoadedModel model, load_model(source, std::filesystem::path(file_).stem().string(), build));
    for (const std::string& note : model.notes) console.note(readable_note(note));
    return std::move(model.graph);
  }

  std::string file_, shapes_, html_, calib_, calibrator_ = "mse";
  bool optimized_ = false, provenance_ = false, json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_inspect() {
  return std::make_unique<InspectCommand>();
}

}  // namespace enginery
