#include "worker/local_farm.h"

#include <deque>

#include "engine/base/file.h"
#include "engine/options/toolchain.h"
#include "pipeline/chain.h"
#include "worker/engine_check.h"
#include "worker/local_queue.h"
#include "worker/local_report.h"
#include "worker/local_worker.h"

namespace enginery {
namespace {

ReadResults reads_of(const LocalBuildRequest& request) {
  if (request.rebuild) return ReadResults::none;
  if (!request.timing_cache.empty()) return ReadResults::of_model;
  return request.verify_inputs ? ReadResults::built : ReadResults::all;
}

CoreOptions core_options(const LocalBuildRequest& request) {
  CoreOptions options;
  options.trust_domain = kTrustDomain;
  options.steps = request.steps;
  return options;
}

// One build: the core decides, the worker executes, the queue writes.
class LocalFarm {
 public:
  LocalFarm(Catalog& catalog, const LocalBuildRequest& request, const StepHooks& hooks)
      : catalog_(catalog),
        request_(request),
        worker_(catalog, request, hooks),
        queue_(catalog, reads_of(request), request.steps),
        core_(core_options(request), {}) {}

  Result<LocalBuildReport> run() {
    CHECK_OK(worker_.open());
    TRY(SubmitRequest submit, submission());
    CHECK_OK(feed(Request{{}, "", std::move(submit), {}}));
    CHECK_OK(feed(sync(Idle{})));
    while (!ended_) {
      if (!leased_) return stalled();
      const RunStep step = *std::exchange(leased_, std::nullopt);
      const bool unnamed = !way_.makes_network() &&
                           step_named(step.kind).key == KeyRule::of_structure && !structure_.ok();
      if (unnamed) return structure_.error();
      TRY(Outcome outcome, worker_.run(step));
      // What is not the input's fault is retried by a farm, which has other workers; here it ends
      // the build.
      if (outcome.kind != OutcomeKind::succeeded && outcome.kind != OutcomeKind::failed)
        return error_of(step.kind, outcome.fault);
      CHECK_OK(feed(sync(Finished{step.ref, std::move(outcome)})));
    }
    if (!queue_.engine()) return failure();
    const StepResult* result = queue_.result_of(engine_key_);
    ENSURE(result != nullptr, "an engine without a result");
    return make_report(worker_.subject(), queue_.target(), *queue_.engine(), *result,
                       worker_.phases());
  }

 private:
  const Step& step_named(const std::string& name) const {
    const Step* step = find_step(name, request_.steps);
    ENSURE(step != nullptr, "the core leased a step that its table lacks");
    return *step;
  }

  Result<SubmitRequest> submission() {
    KeySubject subject = worker_.subject();
    SubmitRequest submit;
    submit.name = subject.name;
    submit.model_name = request_.model.string();
    submit.model = subject.model;
    submit.options = to_text(subject.options);
    if (request_.calibration)
      submit.inputs.push_back({std::string(kCalibrationInput), sha256(*request_.calibration),
                               request_.calibration->size()});
    if (request_.held_out)
      submit.inputs.push_back(
          {std::string(kHeldOutInput), sha256(*request_.held_out), request_.held_out->size()});
    submit.validate_key = validate_key(subject.model, subject.options, reader_name());
    submit.rebuild = request_.rebuild;
    submit.wait_for_workers = true;  // the one worker has not asked for work yet
    TargetRequest target;
    target.sku = subject.sku;
    target.provisional = subject.options.provisional;
    target.engine_key = engine_key(subject);
    engine_key_ = action_key("engine", target.engine_key).digest();
    way_ = way_of(subject.options, target.provisional);
    if (!target.provisional && !way_.makes_network()) {
      TRY(const bool needed, needs_structure(action_key("validate", submit.validate_key).digest()));
      if (needed) structure_ = worker_.structure();
      if (structure_.ok()) subject.structure = *structure_;
    }
    if (!target.provisional) target.tune_key = tune_key(subject);
    submit.targets.push_back(std::move(target));
    return submit;
  }

  // Only the tuning's key needs the structure, and only the model has it: it is not imported where
  // the chain ends before that, because the engine is there or the model is known to be broken. A
  // model that cannot be imported now fails in `validate` with the same error, which becomes the
  // answer to that step's key.
  Result<bool> needs_structure(const Digest& validate_key) {
    const Step& last = last_step(request_.steps);
    TRY(const LookupAnswer engine, queue_.look_up({{0, 0, last.kind, 0}, engine_key_}));
    if (engine.result && engine.result->success && answers(*engine.result, last, false))
      return false;
    TRY(const LookupAnswer validation,
        queue_.look_up({{0, 0, StepKind::validate, 0}, validate_key}));
    return !validation.result || validation.result->success;
  }

  CoreEvent sync(WorkerState state) {
    SyncRequest request;
    request.worker = "local build";
    request.incarnation = 1;
    request.sequence = ++sequence_;
    request.sku = worker_.subject().sku;
    request.device = "local";
    request.compiles_for = {request.sku};
    request.state = std::move(state);
    return Request{{}, "", std::move(request), {}};
  }

  // Feeds an event and what follows from it at once: lookups, the signature. What the core then
  // wants is in leased_ and ended_.
  Status feed(CoreEvent event) {
    std::deque<CoreEvent> events;
    events.push_back(std::move(event));
    while (!events.empty()) {
      const Now now{catalog_.clock().monotonic(), catalog_.clock().wall_time()};
      const Effects effects = core_.step(std::move(events.front()), now);
      events.pop_front();
      CHECK_OK(queue_.write(effects.rows));
      for (const Lookup& lookup : effects.lookups) {
        TRY(LookupAnswer answer, queue_.look_up(lookup));
        events.push_back(std::move(answer));
      }
      for (const SignTask& task : effects.signing) {
        TRY(NamedBlob engine, sign(task.engine));
        events.push_back(SignAnswer{task.step, task.epoch, std::move(engine), {}});
      }
      for (const Reply& reply : effects.replies) CHECK_OK(take(reply.body));
      ended_ = ended_ || !effects.ended_jobs.empty();
    }
    return {};
  }

  Status take(const Body& body) {
    if (const auto* refusal = std::get_if<ErrorReply>(&body))
      return Error{refusal->fault.code, refusal->fault.message};
    const auto* answer = std::get_if<SyncReply>(&body);
    const auto* step = answer ? std::get_if<RunStep>(&answer->desired) : nullptr;
    if (step) leased_ = *step;
    return {};
  }

  Result<NamedBlob> sign(const UnsignedEngine& engine) {
    const std::filesystem::path keys =
        request_.keys.empty() ? data_folder() / "keys" : request_.keys;
    TRY(const SigningKey key, SigningKey::load_or_create(keys / "signing.key"));
    UnsignedEngine known = engine;
    for (const NamedText& fact : request_.calibrated_on)
      known.facts.push_back({std::string(kCalibrationFact) + fact.name, fact.value});
    return sign_engine(catalog_.blobs(), key, check_engine, known);
  }

  // The deterministic failure that ended the job, met just now or found in the catalog: the same
  // words for both.
  Error failure() const {
    const TargetRow& target = queue_.target();
    if (!target.fault || target.uses.empty()) return stalled();
    // An engine that computes wrong results says by itself for what it was built.
    if (target.fault->code == ErrorCode::internal)
      return {target.fault->code, target.fault->message};
    return error_of(to_string(target.uses.back().kind, request_.steps), *target.fault);
  }

  Error error_of(const std::string& step, const Fault& fault) const {
    const Error error{fault.code, fault.message};
    if (step_named(step).key == KeyRule::of_model) return error;  // it names the model
    return error.within("build " + worker_.subject().name + " for " + worker_.subject().sku);
  }

  // The core does not take the worker's word: a step left less than its row says.
  Error stalled() const {
    std::string reason = "no step can run";
    for (const std::string& job : core_.job_ids(false)) {
      const auto view = core_.view(job);
      for (const StepView& step : view->steps)
        if (!step.attempts.empty() && !step.attempts.back().message.empty())
          reason = step.name + ": " + step.attempts.back().message;
    }
    return {ErrorCode::internal, "build " + worker_.subject().name + ": " + reason};
  }

  Catalog& catalog_;
  const LocalBuildRequest& request_;
  LocalWorker worker_;
  LocalQueue queue_;
  Core core_;
  Digest engine_key_;
  Way way_ = false;
  Result<Digest> structure_ =
      Error{ErrorCode::storage, "the catalog changed while the build began; start it again"};
  uint64_t sequence_ = 0;
  std::optional<RunStep> leased_;
  bool ended_ = false;
};

}  // namespace

Result<LocalBuildReport> build_local(Catalog& catalog, const LocalBuildRequest& request,
                                     const StepHooks& hooks) {
  return LocalFarm(catalog, request, hooks).run();
}

}  // namespace enginery
