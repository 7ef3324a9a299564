#include "worker/local_build.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>

#include "engine/base/file.h"
#include "engine/base/signed_file.h"
#include "engine/device/sku_table.h"
#include "engine/options/target_options.h"
#include "engine/options/toolchain.h"
#include "pipeline/keys.h"
#include "pipeline/result.h"
#include "worker/runner/runner_environment.h"
#include "worker/timing/catalog_timing_store.h"
#include "worker/timing/timing_file.h"

namespace enginery {
namespace {

std::vector<std::string> lines(std::string_view text) {
  std::vector<std::string> out;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    if (end > 0) out.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

constexpr char kWorker[] = "local build";  // who measures, as timings and provenance say

// A folder for the files between this process and its runners; removed with its owner.
class TemporaryFolder {
 public:
  static Result<TemporaryFolder> make() {
    std::error_code ignored;
    const std::filesystem::path base = std::filesystem::temp_directory_path(ignored);
    std::string name = ((base.empty() ? "/tmp" : base) / "enginery-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) return errno_error("make the folder " + name, errno);
    return TemporaryFolder(std::move(name));
  }
  TemporaryFolder(TemporaryFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  ~TemporaryFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  explicit TemporaryFolder(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

// One build: what has been gathered so far, and where it goes.
class LocalBuild {
 public:
  LocalBuild(Catalog& catalog, const LocalBuildRequest& request, const StepHooks& hooks)
      : catalog_(catalog), request_(request), hooks_(hooks) {}

  Result<LocalBuildReport> run() {
    CHECK_OK(open());
    TRY(bool hit, load("engine", engine_key_, !fresh()));
    if (hit) return report(Source::cache);
    TRY(const LoadedModel* model, bench_->model());
    subject_.structure = model->structure_digest;
    CHECK_OK(
        step(action_key("validate", validate_key(subject_.model, subject_.options, builder_name())),
             !request_.rebuild));
    if (!subject_.options.provisional)
      CHECK_OK(step(action_key("tune", tune_key(subject_)), !fresh()));
    CHECK_OK(step(chained_key("assemble", engine_key_.digest(), outputs_), !fresh()));
    if (!subject_.options.provisional) {
      CHECK_OK(step(chained_key("verify", engine_key_.digest(), outputs_), !fresh()));
      CHECK_OK(step(chained_key("profile", engine_key_.digest(), outputs_), !fresh()));
    }
    CHECK_OK(sign());
    return report(Source::built);
  }

 private:
  bool fresh() const { return request_.rebuild || !request_.timing_cache.empty(); }

  Status open() {
    CHECK_OK(open_timings());
    hooks_.progress({"reading the model", 0, 1});
    TRY(Bytes packed, pack_model(request_.model));
    auto model = std::make_shared<const Bytes>(std::move(packed));
    subject_.model = sha256(*model);
    subject_.name = request_.name.empty() ? request_.model.stem().string() : request_.name;
    subject_.sku = request_.sku;
    subject_.options = options_for(request_.sku, request_.options);
    bench_.emplace(BuildSessionSpec{subject_.name, request_.model.string(), model, subject_.model,
                                    subject_.sku, subject_.options});
    TRY(const Target* target, bench_->target());
    const DeviceInfo& info = target->device->info();
    subject_.toolchain = toolchain_text(info.kind, subject_.options.provisional ? nullptr : &info);
    subject_.cpu = info.kind == DeviceKind::cpu;
    engine_key_ = action_key("engine", engine_key(subject_));
    return {};
  }

  Status open_timings() {
    if (request_.timing_cache.empty()) {
      timings_ = std::make_unique<CatalogTimingStore>(catalog_);
    } else if (request_.timing_cache == "none") {
      timings_ = std::make_unique<MemoryTimingStore>();
    } else {
      TRY(auto file, FileTimingStore::open(request_.timing_cache));
      timing_file_ = file.get();
      timings_ = std::move(file);
    }
    return {};
  }

  // Takes a finished result; false when there is none.
  Result<bool> load(const std::string& kind, const ActionKey& key, bool may_read) {
    if (!may_read) return false;
    TRY(auto found, catalog_.results().lookup(key.digest()));
    if (!found || !found->success) return false;
    StepResult result;
    read_outcome_json(found->outcome, result);
    for (const ResultOutput& output : found->outputs)
      result.outputs.push_back({output.name, output.digest, output.size_bytes});
    if (kind == "engine" && !blob_named(result.outputs, "engine")) return false;
    absorb(result);
    return true;
  }

  void absorb(const StepResult& result) {
    const auto merge = [](auto& into, const auto& from) {
      for (const auto& item : from) {
        std::erase_if(into, [&](const auto& have) { return have.name == item.name; });
        into.push_back(item);
      }
    };
    merge(outputs_, result.outputs);
    merge(metrics_, result.metrics);
    merge(facts_, result.facts);
  }

  Status step(const ActionKey& key, bool may_read) {
    const std::string kind = key.kind();
    if (hooks_.cancelled())
      return Error{ErrorCode::cancelled, "build " + subject_.name + ": cancelled"};
    TRY(bool hit, load(kind, key, may_read));
    if (hit) return {};
    const auto start = std::chrono::steady_clock::now();
    auto done = execute(kind);
    phases_.emplace_back(
        kind, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    if (timing_file_) CHECK_OK(timing_file_->save());
    if (!done.ok()) return done.error().within("build " + subject_.name + " for " + subject_.sku);
    if (!done->rejected.empty()) return Error{ErrorCode::internal, done->rejected};
    if (kind == "tune") tuned_ = true;
    return commit(key, std::move(*done));
  }

  Result<StepOutputs> execute(const std::string& kind) {
    if (kind == "validate") return validate_step(*bench_);
    TRY(StepInputs inputs, inputs_of(kind));
    if (kind == "tune" && !request_.runner.empty()) {
      TRY(auto known, tune_from_timings());
      return known ? std::move(*known) : tune_apart();
    }
    if (kind == "tune")
      return tune_step(*bench_, *timings_, {kWorker, request_.error_on_miss}, hooks_);
    if (kind == "assemble") return assemble_step(*bench_, inputs, hooks_);
    if (kind == "verify") return verify_step(*bench_, inputs, hooks_);
    return profile_step(*bench_, inputs, kWorker, hooks_);
  }

  // Where nothing has to be measured no tactic runs, and none can fault: no process is started.
  // Null where something has.
  Result<std::optional<StepOutputs>> tune_from_timings() {
    auto done = tune_step(*bench_, *timings_, {kWorker, true}, hooks_);
    if (done.ok()) return std::optional(std::move(*done));
    if (done.error().code == ErrorCode::not_found && !request_.error_on_miss)
      return std::optional<StepOutputs>();
    return done.error();
  }

  // In processes of their own: a tactic that faults takes its process down.
  Result<StepOutputs> tune_apart() {
    bench_->close_target();
    TRY(const TemporaryFolder folder, TemporaryFolder::make());
    RunnerRequest request;
    request.step = "tune";
    request.name = subject_.name;
    request.model_file = bench_->spec().model_file;
    request.model = subject_.model;
    request.sku = subject_.sku;
    request.options = to_text(subject_.options);
    request.worker = kWorker;
    request.error_on_miss = request_.error_on_miss;
    request.inputs["model"] = (folder.path() / "model").string();
    request.output_folder = folder.path().string();
    CHECK_OK(write_file(request.inputs["model"], *bench_->spec().model));
    const RunnerCommand command{request_.runner,
                                runner_environment(subject_.sku, subject_.options.threads, 0)};
    TRY(Outcome end,
        run_attempts(command, request, *timings_,
                     {hooks_.progress, hooks_.log, hooks_.cancelled, request_.longest_trial}));
    if (end.kind != OutcomeKind::succeeded) return Error{end.fault.code, end.fault.message};
    StepOutputs out{{}, std::move(end.metrics), std::move(end.facts), ""};
    for (const NamedBlob& output : end.outputs) {
      TRY(out.blobs[output.name], read_file(folder.path() / output.name));
    }
    return out;
  }

  Result<StepInputs> inputs_of(const std::string& kind) {
    StepInputs inputs;
    for (const char* name : {"choices", "content"}) {
      const NamedBlob* blob = blob_named(outputs_, name);
      const bool wanted =
          std::string_view(name) == "choices" ? kind != "verify" : kind != "assemble";
      if (!blob || !wanted) continue;
      TRY(Bytes bytes, catalog_.blobs().get(blob->digest));
      inputs[name] = std::make_shared<const Bytes>(std::move(bytes));
    }
    return inputs;
  }

  Status commit(const ActionKey& key, StepOutputs done) {
    StepResult result;
    result.metrics = std::move(done.metrics);
    result.facts = std::move(done.facts);
    for (const auto& [name, bytes] : done.blobs) {
      TRY(const Digest digest, catalog_.blobs().put(as_bytes(bytes)));
      result.outputs.push_back({name, digest, bytes.size()});
    }
    CHECK_OK(write_result(key, result));
    absorb(result);
    return {};
  }

  Status write_result(const ActionKey& key, const StepResult& result) {
    ActionResult row;
    row.key = key.digest();
    row.outcome = outcome_json(result);
    for (const NamedBlob& blob : result.outputs)
      row.outputs.push_back({blob.name, blob.digest, blob.size_bytes});
    TRY(row.generation, catalog_.results().next_generation(row.key));
    TRY([[maybe_unused]] const Commit commit, catalog_.results().commit(key, row));
    return {};
  }

  Status sign() {
    const NamedBlob* unsigned_blob = blob_named(outputs_, "unsigned");
    ENSURE(unsigned_blob, "the last step leaves the unsigned engine");
    const std::filesystem::path keys =
        request_.keys.empty() ? data_folder() / "keys" : request_.keys;
    TRY(const SigningKey key, SigningKey::load_or_create(keys / "signing.key"));
    TRY(Bytes file, catalog_.blobs().get(unsigned_blob->digest));
    file += signature_trailer(unsigned_blob->digest, key);
    TRY(const Digest digest, catalog_.blobs().put(as_bytes(file)));
    StepResult result;
    result.metrics = metrics_;
    result.facts = facts_;
    result.outputs.push_back({"engine", digest, file.size()});
    if (const NamedBlob* content = blob_named(outputs_, "content"))
      result.outputs.push_back(*content);
    CHECK_OK(write_result(engine_key_, result));
    absorb(result);
    return {};
  }

  Result<LocalBuildReport> report(Source source) {
    const NamedBlob* engine = blob_named(outputs_, "engine");
    LocalBuildReport out;
    out.name = subject_.name;
    out.sku = subject_.sku;
    out.precision = to_text(subject_.options.precisions);
    out.engine = engine->digest;
    out.size_bytes = engine->size_bytes;
    out.model = subject_.model;
    out.key = engine_key_.digest();
    out.source = source;
    out.provisional = subject_.options.provisional;
    out.latency_ms = number_named(metrics_, "latency_ms");
    out.error = number_named(metrics_, "error");
    out.bar = number_named(metrics_, "bar");
    out.verify_skipped = out.provisional ? "an untuned engine is not run where it is built"
                                         : text_named(facts_, "verify_skipped");
    out.phases = phases_;
    if (tuned_) {
      for (const char* part : {"tune_preparing", "tune_racing", "tune_networks"})
        out.phases.emplace_back(part, number_named(metrics_, std::string(part) + "_s"));
    }
    out.notes = lines(text_named(facts_, "notes"));
    if (auto content = Digest::parse(text_named(facts_, "content_digest")); content.ok())
      out.content_digest = *content;
    count_timings(out);
    CHECK_OK(add_engine(out));
    return out;
  }

  void count_timings(LocalBuildReport& out) const {
    const auto measured = static_cast<uint64_t>(number_named(metrics_, "timings_measured"));
    const auto reused = static_cast<uint64_t>(number_named(metrics_, "timings_reused"));
    out.timings_measured = tuned_ ? measured : 0;
    out.timings_reused = tuned_ ? reused : measured + reused;
  }

  Status add_engine(const LocalBuildReport& report) {
    EngineRow row;
    row.digest = report.engine;
    row.content_digest = report.content_digest;
    row.name = report.name;
    row.model = report.model;
    row.sku = report.sku;
    row.precision = report.precision;
    row.key = report.key;
    row.size_bytes = report.size_bytes;
    row.latency_ms = report.latency_ms;
    row.provisional = report.provisional;
    return catalog_.engines().add(row);
  }

  Catalog& catalog_;
  const LocalBuildRequest& request_;
  const StepHooks& hooks_;
  KeySubject subject_;
  ActionKey engine_key_{"engine", kTrustDomain};
  std::optional<BuildSession> bench_;
  std::unique_ptr<TimingStore> timings_;
  FileTimingStore* timing_file_ = nullptr;
  bool tuned_ = false;
  std::vector<std::pair<std::string, double>> phases_;
  std::vector<NamedBlob> outputs_;
  std::vector<NamedNumber> metrics_;
  std::vector<NamedText> facts_;
};

}  // namespace

Result<LocalBuildReport> build_local(Catalog& catalog, const LocalBuildRequest& request,
                                     const StepHooks& hooks) {
  return LocalBuild(catalog, request, hooks).run();
}

}  // namespace enginery
