// fetch: the best engine for a device, from the farm's catalog into a file.
#include <nlohmann/json.hpp>

#include "cli/farm/engine_download.h"
#include "cli/farm/farm.h"
#include "cli/farm/set_files.h"
#include "cli/local/user_keys.h"
#include "cli/options/build_flags.h"
#include "cli/options/targets.h"
#include "cli/output/engine_output.h"
#include "cli/output/json_output.h"
#include "cli/output/progress.h"
#include "cli/verbs/verbs.h"
#include "engine/base/signed_file.h"
#include "engine/device/sku_table.h"

namespace enginery {
namespace {

Result<Bytes> download(Client& client, const EngineView& engine, Console& console) {
  const SystemClock clock;
  ProgressDisplay display(console, clock);
  const TransferProgress progress = [&](uint64_t done, uint64_t total) {
    if (console.err_is_terminal())
      display.show({{engine.sku, "fetching", done >> 10, total >> 10, 0, ""}});
  };
  return client.get_blob(engine.engine, progress);
}

class FetchCommand final : public Command {
 public:
  void declare(Options& options) override {
    options.positional("NAME", name_,
                       "NAME[@TAG] as submitted, a job's id, or sha256: and at least 8 hex digits");
    options.text("--target", target_, "SKU",
                 "for which device: a SKU or `this` (default: the best that this machine runs)");
    options.text("--shapes", shapes_, "NAME:DIMS,...",
                 "the engine that was built with these --shapes (default: as the newest)");
    options.list("--precision", precisions_, "LIST",
                 "the engine that was built with this --precision (default: as the newest)");
    options.text("-o,--output", output_, "FILE",
                 "where to write it; - is stdout (default: ./NAME.SKU.engine)");
    options.flag("--set", set_,
                 "the engines of all SKUs, and NAME.set, a signed list of them; -o names a folder");
    options.flag("--explain", explain_, "say why this engine and why not the others");
    options.flag("--json", json_, "print JSON (enginery.fetch/1; with --set enginery.fetch.set/1)");
    farm_.declare(options);
    options.about(
        "The best is: of the newest model of that name, tuned before untuned, then the lowest "
        "latency.\n"
        "The engine's signature is checked before it is written; one by an unknown key is exit "
        "code 5.");
  }

  Result<ExitCode> run(Session& session) override {
    EngineQuery query = parse_engine_query(name_);
    if (set_) return run_set(query, session.console);
    TRY(query.skus, possible_skus());
    CHECK_OK(ask_for_kind(query));
    TRY(const auto client, connect(farm_));
    TRY(const EngineChoice choice, choose(*client, query));
    if (explain_) {
      for (const std::string& reason : choice.reasons) session.console.note(reason);
    } else if (!choice.others.empty()) {
      session.console.note(choice.others);
    }
    CHECK_OK(check_engine_output({output_, choice.engine.name, choice.engine.sku}));
    TRY(const Bytes bytes, download(*client, choice.engine, session.console));
    TRY(const TrustStore trust, load_trust());
    CHECK_OK(check(bytes, trust));
    return deliver(session.console, choice.engine, bytes);
  }

 private:
  Result<ExitCode> run_set(const EngineQuery& query, Console& console) const {
    const bool narrowed = !target_.empty() || !shapes_.empty() || !precisions_.empty();
    if (narrowed || explain_ || output_ == "-")
      return Error{ErrorCode::usage,
                   "--set brings the engines of all SKUs into a folder: no --target, --shapes, "
                   "--precision, --explain, -o -"};
    TRY(const auto client, connect(farm_));
    TRY(const Bytes bytes, client->make_set(query.name, query.tag));
    TRY(const TrustStore trust, load_trust());
    const Result<SignedSet> set = read_set(as_bytes(bytes), trust);
    if (!set.ok()) return set.error().within("fetch " + name_);
    const std::filesystem::path folder = output_.empty() ? "." : output_;
    CHECK_OK(fetch_set(*client, as_bytes(bytes), set->set, trust, folder));
    report_set(set->set, folder, console);
    return set->set.missing.empty() ? ExitCode::ok : ExitCode::partial;
  }

  void report_set(const EngineSet& set, const std::filesystem::path& folder,
                  Console& console) const {
    for (const SetGap& gap : set.missing)
      console.note("the set has no engine for " + gap.sku + ": " + gap.reason);
    const std::string manifest = set_path(folder, set).string();
    if (!json_) {
      for (const EngineView& engine : set.engines)
        console.print_line(engine_path(folder, engine).string());
      return console.print_line(manifest);
    }
    Json engines = Json::array(), missing = Json::array();
    for (const EngineView& engine : set.engines)
      engines.push_back({{"sku", engine.sku},
                         {"engine", engine.engine.text()},
                         {"path", valid_utf8(engine_path(folder, engine).string())},
                         {"provisional", engine.provisional},
                         {"latency_ms", json_known(engine.latency_ms)},
                         {"size_bytes", engine.size_bytes}});
    for (const SetGap& gap : set.missing)
      missing.push_back({{"sku", gap.sku}, {"reason", valid_utf8(gap.reason)}});
    print_json(console, {{"schema", "enginery.fetch.set/1"},
                         {"name", valid_utf8(set.name)},
                         {"job", json_text_or_null(set.job)},
                         {"path", valid_utf8(manifest)},
                         {"engines", engines},
                         {"missing", missing}});
  }

  // The shapes and the precision in the words of the catalog.
  Status ask_for_kind(EngineQuery& query) const {
    if (!shapes_.empty()) {
      TRY(query.shapes, parse_shapes(shapes_));
    }
    if (!precisions_.empty()) {
      TRY(const auto precisions, allowed_precisions(precisions_));
      query.precision = to_text(precisions);
    }
    return {};
  }

  Result<std::vector<std::string>> possible_skus() const {
    if (!target_.empty()) return resolve_targets({target_});
    std::vector<std::string> skus;
    if (name_.starts_with("sha256:")) return skus;
    for (const LocalSku& local : local_skus()) skus.push_back(local.name);
    return skus;
  }

  Result<EngineChoice> choose(Client& client, const EngineQuery& query) const {
    const auto candidates = find_candidates(client, query);
    if (!candidates.ok()) return with_names_like(client, query.name, candidates.error());
    return choose_engine(query, *candidates);
  }

  Status check(const Bytes& bytes, const TrustStore& trust) const {
    const auto parts = check_signature(as_bytes(bytes), trust);
    return parts.ok() ? Status() : Status(parts.error().within("fetch " + name_));
  }

  Result<ExitCode> deliver(Console& console, const EngineView& engine, const Bytes& bytes) const {
    TRY(const auto path, write_engine({output_, engine.name, engine.sku}, bytes, console));
    if (!path) return ExitCode::ok;
    if (engine.provisional)
      console.note(
          "this engine is untuned (provisional); once a worker of that device is there, submit "
          "the model again for a tuned one");
    if (json_) {
      print_json(console, {{"schema", "enginery.fetch/1"},
                           {"name", valid_utf8(engine.name)},
                           {"sku", engine.sku},
                           {"engine", engine.engine.text()},
                           {"path", valid_utf8(path->string())},
                           {"provisional", engine.provisional},
                           {"latency_ms", json_known(engine.latency_ms)},
                           {"size_bytes", engine.size_bytes}});
    } else {
      console.print_line(path->string());
    }
    return ExitCode::ok;
  }

  FarmOptions farm_;
  std::string name_, target_, output_, shapes_;
  std::vector<std::string> precisions_;
  bool set_ = false, explain_ = false, json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_fetch() {
  return std::make_unique<FetchCommand>();
}

}  // namespace enginery
