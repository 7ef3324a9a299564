// bench: latency percentiles, throughput and the per-layer profile of an engine on random data.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "cli/local/bench_measure.h"
#include "cli/local/engine_page.h"
#include "cli/local/engine_session.h"
#include "cli/output/json_output.h"
#include "cli/output/output_file.h"
#include "cli/output/table.h"
#include "cli/output/text.h"
#include "cli/process/signals.h"
#include "cli/verbs/verbs.h"
#include "engine/base/statistics.h"
#include "engine/options/options.h"

namespace enginery {
namespace {

constexpr int kProfileRounds = 30;

Json latency_json(const LatencySummary& l) {
  return {{"min_ms", l.min_ms},       {"mean_ms", l.mean_ms}, {"p25_ms", l.p25_ms},
          {"median_ms", l.median_ms}, {"p75_ms", l.p75_ms},   {"p90_ms", l.p90_ms},
          {"p95_ms", l.p95_ms},       {"p99_ms", l.p99_ms},   {"max_ms", l.max_ms}};
}

// The engine's own shapes are the only ones in its range: asking for another is invalid input.
Status check_shapes(const EngineInfo& info, const std::string& text) {
  TRY(const auto wanted, parse_shapes(text));
  for (const auto& [name, dims] : wanted) {
    const TensorInfo* input = nullptr;
    for (const TensorInfo& one : info.inputs) {
      if (one.name == name) input = &one;
    }
    if (!input)
      return Error{ErrorCode::invalid_argument, "--shapes: the engine has no input '" + name + "'"};
    if (input->type.dims == dims) continue;
    return Error{
        ErrorCode::invalid_argument,
        fmt::format(
            "--shapes: input '{}' is {} in this engine, not {}; build one for that shape with: "
            "enginery build MODEL --shapes={}",
            name, to_string(input->type.dims), to_string(dims), text)};
  }
  return {};
}

class BenchCommand final : public Command {
 public:
  void declare(Options& options) override {
    options.positional("ENGINE", engine_, "the engine file");
    options.text("--shapes", shapes_, "NAME:DIMS,...",
                 "a shape within the engine's range, e.g. data:1x3x224x224");
    options.number("--iterations", iterations_, {1, 100'000'000}, "N",
                   "at least N runs; without --duration: exactly N (default: 10)");
    options.real("--duration", duration_, "SECONDS", "measure at least this long (default: 3)");
    options.number("--warm-up", warm_up_, {0, 3'600'000}, "MS",
                   "run this long before measuring (default: 200)");
    options.number("--streams", streams_, {1, 256}, "N",
                   "run N execution contexts in parallel (default: 1)");
    options.flag("--use-cuda-graph", cuda_graph_,
                 "replay a captured graph (a GPU always does; a CPU has none)");
    options.flag("--no-data-transfers", no_transfers_, "exclude copies to and from the device");
    options.flag("--dump-profile", profile_, "each layer's time");
    options.list(
        "--beside", beside_, "FILE,...",
        "compare with other engines: they alternate with this one in one process, run by run");
    options.text("--export-times", export_times_, "FILE", "write every run's time as JSON");
    options.text("--html", html_, "FILE",
                 "write a page with the times, and the layers' with --dump-profile, for a browser");
    options.number("--seed", seed_, {0, INT64_MAX}, "N", "of the random inputs (default: 1)");
    options.number("--threads", threads_, {1, 4096}, "N",
                   "CPU threads (default: the cores of the affinity mask)");
    options.flag("--json", json_, "print JSON (enginery.bench/1)");
    options.about("Throughput counts rows of the batch: a batch of 8 in 4 ms is 2000 a second.");
  }

  Result<ExitCode> run(Session& session) override {
    for (const std::string& file : {export_times_, html_}) {
      if (!file.empty()) CHECK_OK(check_output_file(file));
    }
    TRY(const Engine engine, open_engine(engine_, threads_, session.console));
    CHECK_OK(check_shapes(engine.info(), shapes_));
    if (cuda_graph_ && engine.info().kind == "cpu")
      session.console.note("--use-cuda-graph has no effect on a CPU");
    const Interrupt interrupt;
    cancelled_ = [&interrupt] { return interrupt.requested(); };
    if (session.console.err_is_terminal()) session.console.show_progress("measuring\n");
    if (!beside_.empty()) return compare(engine, session.console);
    (void)engine.device_state();  // the load of other programs counts from here
    TRY(const BenchSamples samples, measure(engine, bench_options()));
    state_ = engine.device_state();
    std::vector<double> layer_us;
    if (profile_) {
      TRY(layer_us, measure_layers(engine, bench_options().seed, kProfileRounds));
    }
    CHECK_OK(export_times(samples));
    CHECK_OK(write_page(engine, samples, layer_us));
    if (json_) {
      print_json(session.console, report_json(engine, samples, layer_us));
    } else {
      session.console.print(report_text(engine, samples, layer_us, session.console.table_width()));
    }
    if (const std::string remark = load_remark(foreign_load()); !remark.empty())
      session.console.warn(remark + "; measure again when the machine is quiet");
    return ExitCode::ok;
  }

 private:
  Result<ExitCode> compare(const Engine& engine, Console& console) const {
    if (profile_ || streams_.value_or(1) != 1 || !export_times_.empty() || !html_.empty()) {
      return Error{
          ErrorCode::usage,
          "--beside compares engines: it cannot be combined with --dump-profile, --streams, "
          "--export-times or --html"};
    }
    std::vector<Engine> others;
    for (const std::string& file : beside_) {
      TRY(Engine other, open_engine(file, threads_, console));
      others.push_back(std::move(other));
    }
    std::vector<const Engine*> engines = {&engine};
    for (const Engine& other : others) engines.push_back(&other);
    TRY(const auto samples, measure_interleaved(engines, bench_options()));
    Json rows = Json::array();
    Table table({{"ENGINE"},
                 {"MEDIAN ms", Align::right},
                 {"P25", Align::right},
                 {"P75", Align::right},
                 {"OF THE FIRST", Align::right}});
    for (size_t i = 0; i < engines.size(); ++i) {
      const LatencySummary l = summarize_latency(samples[i]);
      const double ratio = median_ratio(samples[i], samples[0]);
      const std::string& file = i == 0 ? engine_ : beside_[i - 1];
      rows.push_back({{"file", valid_utf8(file)},
                      {"content_digest", engines[i]->info().content_digest},
                      {"latency", latency_json(l)},
                      {"ratio_to_first", ratio}});
      table.add({file, fmt::format("{:.4f}", l.median_ms), fmt::format("{:.4f}", l.p25_ms),
                 fmt::format("{:.4f}", l.p75_ms), fmt::format("{:.3f}", ratio)});
    }
    if (json_)
      print_json(console, {{"schema", "enginery.bench.beside/1"},
                           {"rounds", samples[0].size()},
                           {"transfers", !no_transfers_},
                           {"engines", rows}});
    else
      console.print(
          table.text(console.table_width()) +
          "OF THE FIRST is the median of this engine's time over the first one's in the same "
          "round\n");
    return ExitCode::ok;
  }

  // Of runs in the same round, so that a passing state of the device cancels out.
  static double median_ratio(const std::vector<double>& these, const std::vector<double>& those) {
    std::vector<double> ratios;
    for (size_t i = 0; i < these.size(); ++i) ratios.push_back(these[i] / those[i]);
    return median(std::move(ratios));
  }

  BenchOptions bench_options() const {
    BenchOptions options;
    options.min_iterations = iterations_.value_or(10);
    options.min_seconds = duration_.value_or(iterations_ ? 0 : 3);
    options.warm_up_ms = static_cast<double>(warm_up_.value_or(200));
    options.streams = static_cast<int>(streams_.value_or(1));
    options.seed = static_cast<uint64_t>(seed_.value_or(1));
    options.transfers = !no_transfers_;
    options.cancelled = cancelled_;
    return options;
  }

  // A clock, a temperature or a power of 0 is one that the device does not tell.
  static bool is_reading(const std::string& name) {
    return name.ends_with("_mhz") || name.ends_with("_c") || name.ends_with("_w");
  }

  double foreign_load() const {
    for (const auto& [name, value] : state_)
      if (name == "foreign_load") return value;
    return 0;
  }

  static double throughput(const EngineInfo& info, const BenchSamples& samples) {
    return static_cast<double>(samples.milliseconds.size()) * static_cast<double>(batch_of(info)) /
           samples.elapsed_seconds;
  }

  Status export_times(const BenchSamples& samples) const {
    if (export_times_.empty()) return {};
    const Json json{{"schema", "enginery.bench.times/1"}, {"milliseconds", samples.milliseconds}};
    return write_output_file(export_times_, json.dump() + "\n");
  }

  Status write_page(const Engine& engine, const BenchSamples& samples,
                    const std::vector<double>& layer_us) const {
    if (html_.empty()) return {};
    BenchFindings findings{samples, layer_us, throughput(engine.info(), samples), {}};
    findings.setting = {{"threads", std::to_string(engine.threads())},
                        {"batch", std::to_string(batch_of(engine.info()))},
                        {"streams", std::to_string(bench_options().streams)},
                        {"transfers", no_transfers_ ? "left out" : "included"},
                        {"warm-up", fmt::format("{} ms", bench_options().warm_up_ms)},
                        {"inputs", fmt::format("made up, seed {}", bench_options().seed)}};
    if (profile_)
      findings.setting.emplace_back("roofline", "share of " + ceilings_text(engine.info()));
    for (const auto& [name, value] : state_) {
      if (!is_reading(name) || value > 0)
        findings.setting.emplace_back(name, fmt::format("{:g}", value));
    }
    return write_output_file(html_, bench_page(engine.info(), findings));
  }

  // The share of what the device's peaks allow that the layer reaches; 0 where it is not known.
  static double roofline_share(const LayerInfo& layer, double us) {
    return us > 0 ? layer.roofline_us / us : 0;
  }

  // Against what the shares are: what was measured where the engine was built, or the data sheet.
  static bool has_measured_ceilings(const EngineInfo& info) {
    return std::any_of(info.provenance.begin(), info.provenance.end(),
                       [](const auto& fact) { return fact.first.starts_with("ceiling."); });
  }

  static std::string ceilings_text(const EngineInfo& info) {
    return has_measured_ceilings(info) ? "the ceilings measured where the engine was built"
                                       : "the data sheet's peaks: no ceilings were measured";
  }

  static Json layers_json(const EngineInfo& info, const std::vector<double>& layer_us) {
    const double sum = std::max(std::accumulate(layer_us.begin(), layer_us.end(), 0.0), 1e-9);
    Json layers = Json::array();
    for (size_t i = 0; i < layer_us.size(); ++i) {
      const LayerInfo& layer = info.layers[i];
      layers.push_back({{"name", valid_utf8(layer.name)},
                        {"op", layer.op},
                        {"tactic", layer.tactic},
                        {"median_us", layer_us[i]},
                        {"share", layer_us[i] / sum},
                        {"flops", layer.flops},
                        {"bytes", layer.bytes},
                        {"roofline_share", json_known(roofline_share(layer, layer_us[i]))}});
    }
    return layers;
  }

  Json report_json(const Engine& engine, const BenchSamples& samples,
                   const std::vector<double>& layer_us) const {
    const EngineInfo& info = engine.info();
    Json shapes = Json::object();
    Json state = Json::object();
    for (const TensorInfo& input : info.inputs) shapes[valid_utf8(input.name)] = input.type.dims;
    for (const auto& [name, value] : state_)
      state[name] = is_reading(name) ? json_known(value) : Json(value);
    Json json{{"schema", "enginery.bench/1"},
              {"engine",
               {{"digest", info.digest},
                {"content_digest", info.content_digest},
                {"name", valid_utf8(info.name)},
                {"sku", info.sku},
                {"precision", precision_text(info.precisions)}}},
              {"shapes", shapes},
              {"threads", engine.threads()},
              {"batch", batch_of(info)},
              {"iterations", samples.milliseconds.size()},
              {"warm_up", bench_options().warm_up_ms},
              {"streams", bench_options().streams},
              {"seed", bench_options().seed},
              {"transfers", !no_transfers_},
              {"latency", latency_json(summarize_latency(samples.milliseconds))},
              {"throughput_per_s", throughput(info, samples)},
              {"device_state", state}};
    if (profile_) {
      json["layers"] = layers_json(info, layer_us);
      json["roofline"] = has_measured_ceilings(info) ? "measured" : "data sheet";
      json["layers_sum_us"] = std::accumulate(layer_us.begin(), layer_us.end(), 0.0);
    }
    return json;
  }

  std::string report_text(const Engine& engine, const BenchSamples& samples,
                          const std::vector<double>& layer_us, int columns) const {
    const EngineInfo& info = engine.info();
    const LatencySummary l = summarize_latency(samples.milliseconds);
    std::string text = fmt::format("{} for {}, {}, {} threads, batch {}, {} runs\n", info.name,
                                   info.sku, precision_text(info.precisions), engine.threads(),
                                   batch_of(info), samples.milliseconds.size());
    text += fmt::format(
        "latency ms: median {:.4f}  mean {:.4f}  min {:.4f}  p90 {:.4f}  p95 {:.4f}  p99 {:.4f}  "
        "max {:.4f}\n",
        l.median_ms, l.mean_ms, l.min_ms, l.p90_ms, l.p95_ms, l.p99_ms, l.max_ms);
    text += fmt::format("throughput: {:.1f} a second{}\n", throughput(info, samples),
                        no_transfers_ ? ", without transfers" : "");
    if (!profile_) return text;
    const double sum = std::max(std::accumulate(layer_us.begin(), layer_us.end(), 0.0), 1e-9);
    Table table({{"LAYER"},
                 {"OP"},
                 {"US", Align::right},
                 {"SHARE", Align::right},
                 {"ROOFLINE", Align::right},
                 {"TACTIC"}});
    for (size_t i = 0; i < layer_us.size(); ++i) {
      const double roofline = roofline_share(info.layers[i], layer_us[i]);
      table.add({info.layers[i].name, info.layers[i].op, fmt::format("{:.2f}", layer_us[i]),
                 fmt::format("{:.1f} %", 100 * layer_us[i] / sum),
                 roofline > 0 ? fmt::format("{:.0f} %", 100 * roofline) : "",
                 info.layers[i].tactic});
    }
    table.add({"sum", "", fmt::format("{:.2f}", sum)});
    return text + "\n" + table.text(columns) + "ROOFLINE is the share of " + ceilings_text(info) +
           "\n";
  }

  std::string engine_, shapes_, export_times_, html_;
  std::vector<std::string> beside_;
  std::optional<int64_t> iterations_, warm_up_, streams_, seed_, threads_;
  std::optional<double> duration_;
  std::function<bool()> cancelled_ = [] { return false; };
  std::vector<std::pair<std::string, double>> state_;  // of the device, while it measured
  bool cuda_graph_ = false, no_transfers_ = false, profile_ = false, json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_bench() {
  return std::make_unique<BenchCommand>();
}

}  // namespace enginery
