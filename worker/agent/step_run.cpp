#include "worker/agent/step_run.h"

#include <algorithm>

#include "cache/private_folder.h"
#include "engine/base/log.h"
#include "engine/options/target_options.h"
#include "pipeline/claims.h"
#include "pipeline/result.h"
#include "pipeline/step.h"
#include "worker/agent/file_transfer.h"
#include "worker/runner/device_wait.h"
#include "worker/runner/kernel_home.h"
#include "worker/runner/runner_environment.h"
#include "worker/runner/runner_output.h"
#include "worker/timing/farm_timing_store.h"

namespace enginery {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kLastUploads{20000}, kUploadsOfAProblem{2000};
constexpr size_t kMaxMessageBytes = 16 * 1024;  // a report must fit a control message

// A blob that is gone or damaged on the farm is the farm's business: it makes it again.
Outcome failed_fetch(const Error& error) {
  const bool blob = error.code == ErrorCode::not_found || error.code == ErrorCode::corrupt_data;
  return failed_outcome(blob ? OutcomeKind::input_gone : outcome_kind(error.code), error);
}

Outcome failed_upload(const Error& error) {
  const bool blob = error.code == ErrorCode::not_found || error.code == ErrorCode::corrupt_data;
  return failed_outcome(blob ? OutcomeKind::storage : outcome_kind(error.code), error);
}

}  // namespace

StepRun::StepRun(RunStep run, StepSettings settings, BlobCache& blobs,
                 std::function<void()> changed)
    : run_(std::move(run)),
      settings_(std::move(settings)),
      blobs_(blobs),
      changed_(std::move(changed)),
      thread_([this] { work(); }) {}

StepRun::~StepRun() {
  cancel(OutcomeKind::cancelled);
  thread_.join();
}

Progress StepRun::progress() const {
  const std::lock_guard lock(mutex_);
  return progress_;
}

std::optional<Outcome> StepRun::outcome() const {
  const std::lock_guard lock(mutex_);
  return outcome_;
}

void StepRun::cancel(OutcomeKind as) {
  const std::lock_guard lock(mutex_);
  if (!cancelled()) cancel_as_ = as;
}

void StepRun::set_progress(Progress progress) {
  {
    const std::lock_guard lock(mutex_);
    progress_ = std::move(progress);
  }
  changed_();
}

void StepRun::work() {
  Outcome outcome = execute();
  if (cancelled() && outcome.kind != OutcomeKind::succeeded) {
    outcome.kind = cancel_as_;
    outcome.fault = {ErrorCode::cancelled,
                     cancel_as_ == OutcomeKind::preempted ? "the worker stops" : "cancelled"};
  }
  if (outcome.fault.message.size() > kMaxMessageBytes) {
    outcome.fault.message.resize(kMaxMessageBytes);
    outcome.fault.message += " ... (the step's log has all of it)";
  }
  {
    const std::lock_guard lock(mutex_);
    outcome_ = std::move(outcome);
  }
  changed_();
}

Outcome StepRun::execute() {
  // No answer to the key: that would keep the failure for whoever the key belongs to.
  if (const Status claims = check_claims(run_); !claims.ok())
    return failed_outcome(OutcomeKind::internal, claims.error());
  FarmConnection farm(settings_.farm, [this] { return cancelled(); });
  auto request = prepare(farm);
  if (!request.ok()) return failed_fetch(request.error());
  const auto lock = lock_device();
  if (!lock.ok()) return failed_outcome(lock.error());
  // In its sandbox a runner's own lock would exclude nobody.
  request->device_locked = lock->descriptor() >= 0 || settings_.sandbox.in_force;
  auto outcome = run_runners(*request, lock->descriptor());
  if (!outcome.ok()) return failed_outcome(OutcomeKind::internal, outcome.error());
  if (outcome->kind == OutcomeKind::succeeded) {
    if (const Status sent = upload(farm, *outcome); !sent.ok()) return failed_upload(sent.error());
  }
  return std::move(*outcome);
}

Result<RunnerRequest> StepRun::prepare(FarmConnection& farm) {
  set_progress({"fetching", 0, 0});
  blobs_.begin_step();
  RunnerRequest request;
  request.step = run_.kind;
  request.name = run_.name;
  request.model_file = run_.model_name;
  request.model = run_.model;
  request.sku = run_.sku;
  request.worker = settings_.worker;
  request.output_folder = settings_.folder.string();
  request.memory_bytes = settings_.memory_bytes;
  request.assistant = static_cast<int>(run_.assistant);
  auto options = parse_options(run_.options);
  if (!options.ok()) return options.error();
  if (options->threads == 0) options->threads = settings_.threads;
  options->provisional = run_.provisional;
  request.options = to_text(options_for(run_.sku, std::move(*options)));

  const auto transfer = [&](uint64_t done, uint64_t total) {
    set_progress({"fetching", done, total});
  };
  const auto fetch = [&](const std::string& name, const Digest& digest) -> Status {
    auto file = blobs_.fetch(farm, digest, transfer);
    if (!file.ok()) return file.error().within("fetch " + name);
    request.inputs[name] = file->string();
    return {};
  };
  const Step* step = find_step(run_.kind, settings_.steps);
  if (!step) return Error{ErrorCode::unsupported, "this worker knows no step '" + run_.kind + "'"};
  for (const std::string& name : inputs_of(*step, run_.provisional, settings_.steps)) {
    const NamedBlob* blob = blob_named(run_.inputs, name);
    if (name == "model")
      CHECK_OK(fetch(name, run_.model));
    else if (blob)
      CHECK_OK(fetch(name, blob->digest));
    else
      return Error{ErrorCode::internal, "the step came without its input '" + name + "'"};
  }
  std::error_code ignored;
  std::filesystem::remove_all(settings_.folder, ignored);
  CHECK_OK(make_private_folder(settings_.folder));
  return request;
}

// Who measures is not asked to take the lock.
Result<DeviceLock> StepRun::lock_device() {
  const Step* step = find_step(run_.kind, settings_.steps);
  ENSURE(step != nullptr, "a step was prepared that the table lacks");
  return wait_for_device_of(
      *step, run_.provisional, settings_.device,
      {[this](const Progress& p) { set_progress(p); }, [this] { return cancelled(); }});
}

// Outside a sandbox a runner reaches every folder anyway.
Result<std::filesystem::path> StepRun::home_of_build() const {
  if (!settings_.sandbox.in_force) return settings_.home;
  return kernel_home(settings_.home / "builds", run_.engine_key);
}

SandboxView StepRun::view_of(const RunnerRequest& request,
                             const std::filesystem::path& home) const {
  SandboxView view;
  for (const auto& [name, path] : request.inputs) view.read_only.emplace_back(path);
  view.writable = {request.output_folder, home};
  view.devices = device_nodes(run_.sku);
  return view;
}

// What was measured of the problem before must have arrived when the farm gives it to another.
ProblemTaken StepRun::take(const Digest& problem, int left, StepUploads& uploads,
                           StepQuestions& questions) const {
  if (!questions.is_left_alone()) uploads.flush(kUploadsOfAProblem);
  return questions.take({settings_.worker, settings_.incarnation, run_.ref, problem,
                         static_cast<uint32_t>(std::max(0, left))});
}

Result<Outcome> StepRun::run_runners(const RunnerRequest& request, int device_lock) {
  TRY(const BuildOptions options, parse_options(request.options));
  StepUploads uploads(settings_.farm, run_.ref, [this] { return cancelled(); });
  StepQuestions questions(settings_.farm, [this] { return cancelled(); });
  FarmTimingStore timings(
      [&](const Digest& device, const Digest& problem) {
        return questions.known_timings(device, problem);
      },
      [&](const RunnerTiming& timing) { uploads.timing(timing); },
      [&](const Digest& problem, int left) {
        const ProblemTaken answer = take(problem, left, uploads, questions);
        return Taking{answer.taken, static_cast<int>(answer.sharers)};
      });
  TRY(const std::filesystem::path home, home_of_build());
  RunnerCommand command{settings_.runner, runner_environment(run_.sku, options.threads,
                                                             settings_.device_index, home)};
  command.memory_bytes = settings_.memory_bytes;
  command.device_lock = device_lock;
  if (settings_.sandbox.in_force) command.sandbox = view_of(request, home);
  set_progress({doing(run_.kind, settings_.steps), 0, 0});
  AttemptEvents events;
  events.progress = [&](const Progress& progress) { set_progress(progress); };
  events.log = [&](const std::string& line) { uploads.log(line); };
  events.cancelled = [this] { return cancelled(); };
  events.steps = settings_.steps;
  uploads.log("sandbox of the runner: " + settings_.sandbox.text);
  auto outcome = run_attempts(command, request, timings, events);
  if (outcome.ok() && outcome->kind != OutcomeKind::succeeded) {
    uploads.log(doing(run_.kind, settings_.steps) + " ended: " + to_string(outcome->kind) + ": " +
                outcome->fault.message);
  }
  uploads.flush(cancelled() ? milliseconds(500) : kLastUploads);
  return outcome;
}

Status StepRun::upload(FarmConnection& farm, const Outcome& outcome) {
  for (const NamedBlob& output : outcome.outputs) {
    const auto transfer = [&](uint64_t done, uint64_t total) {
      set_progress({"uploading", done, total});
    };
    const Status sent = upload_output(farm, settings_.folder, output, transfer);
    if (!sent.ok() && sent.error().code == ErrorCode::corrupt_data)
      return Error{ErrorCode::storage,
                   "the output '" + output.name + "' changed on this worker's disk"};
    if (!sent.ok()) return sent.error();
  }
  return {};
}

}  // namespace enginery
