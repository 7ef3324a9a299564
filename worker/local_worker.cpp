#include "worker/local_worker.h"

#include "engine/base/clock.h"
#include "engine/options/target_options.h"
#include "engine/options/toolchain.h"
#include "worker/timing/catalog_timing_store.h"

namespace enginery {
namespace {

double seconds_between(Nanoseconds start, Nanoseconds end) {
  return to_seconds(end - start);
}

}  // namespace

Status LocalWorker::open() {
  CHECK_OK(open_timings());
  std::shared_ptr<const Bytes> model = request_.model_bytes;
  if (!model) {
    TRY(Bytes packed, pack_model(request_.model));
    model = std::make_shared<const Bytes>(std::move(packed));
  }
  subject_.model = sha256(*model);
  subject_.name = request_.name.empty() ? request_.model.stem().string() : request_.name;
  subject_.sku = request_.sku;
  subject_.options = options_for(request_.sku, request_.options);
  session_.emplace(BuildSessionSpec{subject_.name, request_.model.string(), model, subject_.model,
                                    request_.calibration, subject_.sku, subject_.options,
                                    request_.open});
  TRY(const Target* target, session_->target());
  const DeviceInfo& device = target->device->info();
  device_ = device.physical_id;
  subject_.cpu = device.kind == DeviceKind::cpu;
  subject_.toolchain =
      toolchain_text(device.kind, subject_.options.provisional ? nullptr : &device);
  return {};
}

Status LocalWorker::open_timings() {
  if (request_.timing_cache.empty()) {
    timings_ = std::make_unique<CatalogTimingStore>(catalog_);
  } else if (request_.timing_cache == "none") {
    timings_ = std::make_unique<MemoryTimingStore>();
  } else {
    TRY(auto file, FileTimingStore::open(request_.timing_cache, catalog_.clock()));
    timing_file_ = file.get();
    timings_ = std::move(file);
  }
  return {};
}

Result<Digest> LocalWorker::structure() {
  // Said here and not in open(), which may still find no file or no device.
  hooks_.progress({"reading the model", 0, 1});
  TRY(const LoadedModel* model, session_->model());
  return model->structure_digest;
}

Result<Outcome> LocalWorker::run(const RunStep& run) {
  if (hooks_.cancelled())
    return Error{ErrorCode::cancelled, "build " + subject_.name + ": cancelled"};
  const Step* step = find_step(run.kind, request_.steps);
  ENSURE(step != nullptr, "the core leased a step that its table lacks");
  if (step->kind == StepKind::verify && request_.verify_inputs) CHECK_OK(read_verify_inputs());
  const Nanoseconds start = catalog_.clock().monotonic();
  auto done = execute(run, *step);
  phases_.emplace_back(run.kind, seconds_between(start, catalog_.clock().monotonic()));
  if (timing_file_) CHECK_OK(timing_file_->save());
  // Data that an operator refuses is no answer about the engine either.
  if (!done.ok() && step->kind == StepKind::verify && !verify_inputs_.empty())
    return done.error().within("build " + subject_.name + ": --input");
  if (!done.ok()) return failed_outcome(done.error());
  if (!done->rejected.empty())
    return failed_outcome(OutcomeKind::failed, {ErrorCode::internal, done->rejected});
  return store(std::move(*done));
}

// Before the step begins: a file that does not fit is no answer about the engine, and is not kept.
Status LocalWorker::read_verify_inputs() {
  TRY(const LoadedModel* model, session_->model());
  TRY(verify_inputs_, request_.verify_inputs(model->imported));
  return {};
}

// An engine is large: what a step of this build has left is not read again.
Result<std::shared_ptr<const Bytes>> LocalWorker::blob_of(const NamedBlob& named) {
  const auto made = made_.find(named.name);
  if (made != made_.end() && made->second.digest == named.digest) return made->second.bytes;
  TRY(Bytes bytes, catalog_.blobs().get(named.digest));
  return to_blob(std::move(bytes));
}

Result<StepInputs> LocalWorker::inputs_for(const RunStep& run, const Step& step) {
  StepInputs inputs;
  for (const std::string& name : inputs_of(step, run.provisional, request_.steps)) {
    const NamedBlob* blob = blob_named(run.inputs, name);
    if (!blob) continue;  // the model: the session has it
    TRY(inputs[name], blob_of(*blob));
  }
  for (const std::string& name : step.takes) {
    const NamedBlob* blob = blob_named(run.inputs, name);
    if (!blob || name == kCalibrationInput) continue;  // the session has the calibration
    if (name == kHeldOutInput) {
      inputs[name] = request_.held_out;
    } else {
      TRY(inputs[name], blob_of(*blob));
    }
  }
  return inputs;
}

// A tuning that may take its process down is first tried over the timings that there are: where
// nothing has to be measured no tactic runs, none can fault, and no process is started.
Result<StepOutputs> LocalWorker::execute(const RunStep& run, const Step& step) {
  const bool apart = may_crash(step) && !request_.runner.empty();
  const bool may_need_none = step.kind == StepKind::tune;
  ReadOnlyTimingStore known(*timings_);
  StepContext context{*session_, {}, kWorkerName, hooks_, {}};
  TRY(context.inputs, inputs_for(run, step));
  if (const auto layers = context.inputs.find(std::string(kFloatLayersInput));
      layers != context.inputs.end())
    session_->keep_in_float(layers->second);
  context.verify_inputs = verify_inputs_;
  if (!apart || may_need_none) {
    // Level 0 measures nothing: there is no miss to wait for, and what failed may be due again.
    const bool may_miss = apart && subject_.options.level > 0;
    context.tuning.timings = may_miss || request_.error_on_miss ? &known : timings_.get();
    auto done = run_step(run.kind, context, request_.functions, request_.steps);
    const bool miss = !done.ok() && done.error().code == ErrorCode::not_found;
    if (!apart || !miss || request_.error_on_miss) return done;
  }
  session_->close();
  context.tuning.timings = request_.error_on_miss ? &known : timings_.get();
  return runner_.run(step, context, device_);
}

Result<Outcome> LocalWorker::store(StepOutputs done) {
  Outcome outcome;
  outcome.metrics = std::move(done.metrics);
  outcome.facts = std::move(done.facts);
  for (const auto& [name, bytes] : done.blobs) {
    TRY(const Digest digest, catalog_.blobs().put(as_bytes(*bytes)));
    outcome.outputs.push_back({name, digest, bytes->size()});
    if (is_read_by_a_step(name, request_.steps)) made_[name] = {digest, bytes};
  }
  return outcome;
}

}  // namespace enginery
