// build: one model for one SKU of this machine, through the local catalog.
#include <nlohmann/json.hpp>

#include "cli/calibration/calibration_run.h"
#include "cli/calibration/prepared_data.h"
#include "cli/explain/node_report.h"
#include "cli/farm/calibration_file.h"
#include "cli/local/engine_session.h"
#include "cli/local/local_catalog.h"
#include "cli/local/user_keys.h"
#include "cli/options/build_flags.h"
#include "cli/options/targets.h"
#include "cli/output/engine_output.h"
#include "cli/output/job_report.h"
#include "cli/output/json_output.h"
#include "cli/output/progress.h"
#include "cli/output/table.h"
#include "cli/output/text.h"
#include "cli/output/tuning_summary.h"
#include "cli/process/signals.h"
#include "cli/verbs/verbs.h"
#include "engine/base/log.h"
#include "engine/base/signed_file.h"
#include "engine/data/input_set.h"
#include "engine/device/device.h"
#include "engine/device/sku_table.h"
#include "worker/local_explain.h"

namespace enginery {
namespace {

class BuildCommand final : public Command {
 public:
  void declare(Options& options) override {
    options.positional("MODEL", model_, "the model file (ONNX); - is stdin");
    options.text("-o,--output", output_, "FILE",
                 "where to write the engine; - is stdout (default: ./NAME.SKU.engine)");
    options.text("--target", target_, "SKU", "for which SKU of this machine (default: this)");
    options.text(
        "--name", name_, "NAME",
        "what the engine is called in the catalog (default: the file's name without extension)");
    flags_.declare(options);
    options.texts("--input", inputs_, "[NAME=]PATH",
                  "verify on these instead of made-up inputs, given as for run; repeatable");
    options.flag("--rebuild", rebuild_, "build even if the catalog has the engine");
    options.flag("--provisional", provisional_,
                 "untuned: choices from the analytic model; needs no GPU, but this CPU's type or "
                 "an older one");
    options.text("--timing-cache", timing_cache_, "FILE|none",
                 "keep timings in a file, or nowhere (default: in the catalog)");
    options.flag("--error-on-timing-cache-miss", error_on_miss_,
                 "fail instead of measuring anything");
    options.text(
        "--sandbox", sandbox_, "MODE",
        "bubblewrap around what runs tactics: require, prefer (default: where it works) or off");
    options.text("--explain", explain_, "NODE",
                 "say which tactics were considered for this node, with the time of each or the "
                 "reason why it has none");
    options.flag("--json", json_, "print JSON (enginery.build/1)");
    place_.declare(options);
    options.about(
        "stdout is the engine's path. What was built before for the same model, SKU, options and "
        "software comes from the catalog;\n"
        "a retrained model of the same structure is built without measuring. trtexec's names "
        "(--fp16, --saveEngine, --onnx, ...) work too.");
  }

  Result<ExitCode> run(Session& session) override {
    Console& console = session.console;
    LocalBuildRequest request;
    TRY(request.options, flags_.resolve());
    TRY(request.calibration, read_calibration_file(flags_, request.options));
    request.options.provisional = provisional_;
    if (target_.find(',') != std::string::npos)
      return Error{ErrorCode::usage,
                   "--target " + target_ + ": build takes one SKU; enginery submit takes a list"};
    TRY(const auto targets, resolve_targets({target_.empty() ? "this" : target_}));
    request.sku = targets.front();
    CHECK_OK(refuse_idle_precisions(request.sku, session));
    request.model = model_ == "-" ? "/dev/stdin" : model_;
    request.name = engine_name(name_, request.model);
    request.rebuild = rebuild_;
    request.timing_cache = timing_cache_;
    request.error_on_miss = error_on_miss_;
    request.keys = keys_folder();
    if (!explain_.empty() && timing_cache_ == "none")
      return Error{ErrorCode::usage, "--explain: --timing-cache none keeps no times to tell"};
    if (inputs_.empty() && !flags_.has_data() && !flags_.preprocess.empty())
      return Error{ErrorCode::usage,
                   "--preprocess: there is no --input, no --calib-data and no "
                   "--accuracy-data to prepare"};
    if (!inputs_.empty()) {
      if (provisional_)
        return Error{ErrorCode::usage, "--input: an untuned engine is not verified"};
      PreprocessTable table;
      if (!flags_.preprocess.empty()) {
        TRY(table, read_preprocess(flags_.preprocess));
      }
      request.verify_inputs = [this, table](const Graph& model) {
        return first_batch(model, inputs_, table);
      };
    }
    // A tactic that faults ends the process that runs it.
    request.runner = {"/proc/self/exe", "runner"};
    TRY(request.sandbox, parse_sandbox_mode(sandbox_));
    CHECK_OK(check_engine_output({output_, request.name, request.sku}));
    TRY(const auto catalog, open_catalog(place_));
    if (flags_.has_data()) CHECK_OK(read_data(*catalog, request, console));
    TRY(const BuiltEngine built, build(*catalog, request, console));
    TRY(const auto explained, explain(*catalog, request, built));
    return deliver(console, built, explained);
  }

 private:
  // Calibrates, and reads what the engine is held against the float model on.
  Status read_data(Catalog& catalog, LocalBuildRequest& request, Console& console) const {
    TRY(const PackedModel packed, pack_model_file(model_, name_));
    request.model_bytes = std::make_shared<const Bytes>(packed.bytes);
    TRY(request.held_out, read_held_out(packed, flags_, provisional_, request.options, console));
    if (flags_.calib_data.empty()) return {};
    TRY(CalibratedData made, calibrate_through(catalog, packed, flags_, request.options, console));
    request.calibration = std::move(made.histograms);
    request.calibrated_on = std::move(made.made_from);
    return {};
  }

  // Arithmetic that the device does not have changes the engine's key and nothing else. Where it
  // was asked for it is refused; where it comes from the configuration, which is for every device,
  // it is told. `best` is whatever the device has. Errors: usage.
  Status refuse_idle_precisions(const std::string& sku, Session& session) const {
    const bool configured = session.configuration.find("precision").has_value();
    for (const std::string& word : flags_.precisions) {
      const std::string reason = why_idle(sku, word);
      if (reason.empty()) continue;
      const std::string told =
          "--precision " + word + " changes nothing for " + sku + ": " + reason;
      if (!configured)
        return Error{ErrorCode::usage, told +
                                           "; leave it out, or say --precision best for "
                                           "whatever a device has"};
      session.console.warn(told);
    }
    return {};
  }
  // Empty: the device computes so, or is not known.
  static std::string why_idle(const std::string& sku, const std::string& word) {
    const auto row = resolve_sku_name(sku);
    if (!row || word == "fp32" || word == "int8" || word == "best") return {};
    if (row->kind == DeviceKind::cpu) {
      if (word != "bf16") return "CPUs compute in fp32, bf16 and int8";
      return multiplies_bfloat16(row->isa) ? ""
                                           : "CPUs multiply in bf16 with AVX-512 BF16 "
                                             "(cpu-avx512-bf16) or AMX (cpu-amx) alone";
    }
    const bool since_80 = word == "bf16" || word == "tf32";
    return since_80 && row->compute_capability < 80 ? "GPUs have it since SM 8.0" : "";
  }

  struct BuiltEngine {
    LocalBuildReport report;
    std::shared_ptr<const Bytes> bytes;
  };

  // Further rows than the model takes at once are not looked at.
  static Result<std::vector<Tensor>> first_batch(const Graph& model,
                                                 const std::vector<std::string>& arguments,
                                                 const PreprocessTable& table) {
    std::vector<InputDescription> wanted;
    for (const ValueId v : model.inputs())
      wanted.push_back({model.value(v).name, model.value(v).type});
    TRY(InputSet set, InputSet::open(arguments, wanted, table));
    if (set.batches() == 0)
      return Error{ErrorCode::invalid_argument, arguments[0] + " holds no rows to verify on"};
    TRY(InputBatch batch, set.batch(0));
    std::vector<Tensor> out;
    for (const InputDescription& input : wanted) out.push_back(batch.tensors.at(input.name));
    return out;
  }

  // A stored engine that this user would not run (another key signed it) is built again.
  static Result<BuiltEngine> build(Catalog& catalog, LocalBuildRequest request, Console& console) {
    TRY(LocalBuildReport report, build_with_progress(catalog, request, console));
    TRY(Bytes bytes, catalog.blobs().get(report.engine));
    TRY(const TrustStore trust, load_trust());
    const auto signature = check_signature(as_bytes(bytes), trust);
    if (signature.ok()) return built(std::move(report), std::move(bytes));
    if (report.source != Source::cache) return signature.error();
    request.rebuild = true;
    TRY(report, build_with_progress(catalog, request, console));
    TRY(bytes, catalog.blobs().get(report.engine));
    return built(std::move(report), std::move(bytes));
  }

  static BuiltEngine built(LocalBuildReport report, Bytes bytes) {
    return {std::move(report), std::make_shared<const Bytes>(std::move(bytes))};
  }

  // Nothing without --explain.
  Result<std::vector<ExplainedLayer>> explain(Catalog& catalog, const LocalBuildRequest& request,
                                              const BuiltEngine& built) const {
    std::vector<ExplainedLayer> out;
    if (explain_.empty()) return out;
    TRY(const TrustStore trust, load_trust());
    TRY(const EngineFile engine, read_engine(built.bytes, trust));
    TRY(const auto layers, layers_of_node(engine.plan, explain_));
    for (const PlanStep* layer : layers) {
      TRY(ConsideredProblem considered, explain_layer(catalog, request, *layer));
      out.push_back({layer->name, std::string(op_name(layer->problem.op)), selected_key(*layer),
                     std::move(considered)});
    }
    return out;
  }

  static Result<LocalBuildReport> build_with_progress(Catalog& catalog,
                                                      const LocalBuildRequest& request,
                                                      Console& console) {
    const SystemClock clock;
    const Interrupt interrupt;
    ProgressDisplay display(console, clock);
    StepHooks hooks;
    hooks.progress = [&](const Progress& p) {
      display.show({{request.sku, p.phase, p.done, p.total, p.eta_seconds, ""}});
    };
    hooks.cancelled = [&] { return interrupt.requested(); };
    hooks.log = [](const std::string& line) { log_info(line); };
    auto report = build_local(catalog, request, hooks);
    if (!report.ok()) return with_advice(as_local(std::move(report).error()), request);
    return report;
  }

  static bool is_gpu(const std::string& sku) {
    const auto row = resolve_sku_name(sku);
    return row && row->kind == DeviceKind::cuda;
  }

  static Error with_advice(Error error, const LocalBuildRequest& request) {
    const bool no_gpu = error.code == ErrorCode::incompatible && is_gpu(request.sku) &&
                        !request.options.provisional;
    const bool is_kept = request.timing_cache != "none";
    if (error.code == ErrorCode::cancelled && is_kept)
      error.message += "; what was measured is kept, and the same command goes on from there";
    const bool no_cpu = error.code == ErrorCode::incompatible && !is_gpu(request.sku) &&
                        !open_device(request.sku, {}).ok();
    if (no_cpu)
      error.message += "; enginery skus lists what is HERE, and submit builds on a farm's machine";
    if (no_gpu) error.message += "; --provisional builds an untuned engine without the device";
    return error;
  }

  Result<ExitCode> deliver(Console& console, const BuiltEngine& built,
                           const std::vector<ExplainedLayer>& explained) const {
    const LocalBuildReport& report = built.report;
    for (const std::string& note : report.notes) console.note(readable_note(note));
    TRY(const auto path, write_engine({output_, report.name, report.sku}, *built.bytes, console));
    if (!path) return ExitCode::ok;
    if (json_) {
      Json json = report_json(report, *path);
      if (!explain_.empty()) json["explained"] = explained_json(explain_, explained);
      print_json(console, json);
      return ExitCode::ok;
    }
    if (const std::string tuned = tuning_summary(report.phases); !tuned.empty())
      console.note(tuned);
    const bool cached = report.source == Source::cache;
    console.note(
        (cached ? "from the catalog, " : "built, ") + human_bytes(report.size_bytes) +
        (report.latency_ms > 0 ? ", " + human_milliseconds(report.latency_ms) + " ms" : ""));
    if (const std::string near = accuracy_words(report.accuracy); !near.empty())
      console.note("accuracy beside the model in float: " + near);
    if (const std::string remark = load_remark(report.foreign_load); !remark.empty())
      console.warn("the latency was " + remark +
                   "; --rebuild measures again when the machine is quiet");
    if (!explained.empty())
      console.note(explained_text(explained, console.err_is_terminal() ? console.columns() : 0));
    console.print_line(path->string());
    return ExitCode::ok;
  }

  static Json report_json(const LocalBuildReport& report, const std::filesystem::path& path) {
    Json notes = Json::array();
    for (const std::string& note : report.notes) notes.push_back(valid_utf8(note));
    Json phases = Json::object();
    for (const auto& [phase, seconds] : report.phases) phases[phase + "_s"] = seconds;
    return {{"schema", "enginery.build/1"},
            {"name", report.name},
            {"sku", report.sku},
            {"engine", report.engine.text()},
            {"content_digest", report.content_digest.text()},
            {"path", valid_utf8(path.string())},
            {"source", to_string(report.source)},
            {"key", report.key.text()},
            {"model", report.model.text()},
            {"precision", report.precision},
            {"provisional", report.provisional},
            {"latency_ms", json_known(report.latency_ms)},
            {"size_bytes", report.size_bytes},
            {"timings_measured", report.timings_measured},
            {"timings_reused", report.timings_reused},
            {"error", report.verify_skipped.empty() ? Json(report.error) : Json(nullptr)},
            {"phases", phases},
            {"notes", notes},
            {"foreign_load", report.latency_ms > 0 ? Json(report.foreign_load) : Json(nullptr)},
            {"accuracy", accuracy_json(report.accuracy)},
            {"calibration", report.calibration.empty() ? Json(nullptr) : Json(report.calibration)},
            {"bias_correction", report.bias_correction}};
  }

  BuildFlags flags_;
  CatalogPlace place_;
  std::vector<std::string> inputs_;
  std::string model_, output_, target_, name_, timing_cache_, explain_, sandbox_ = "prefer";
  bool rebuild_ = false, provisional_ = false, error_on_miss_ = false, json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_build() {
  return std::make_unique<BuildCommand>();
}

}  // namespace enginery
