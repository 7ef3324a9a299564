#include "worker/agent/step_run.h"

#include <algorithm>

#include "cache/private_folder.h"
#include "engine/base/log.h"
#include "engine/options/target_options.h"
#include "pipeline/chain.h"
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

StepRun::StepRun(RunStep run, StepSettings settings, BlobCache& blobs, StepBench& bench,
                 std::function<void()> changed)
    : run_(std::move(run)),
      settings_(std::move(settings)),
      blobs_(blobs),
      bench_(bench),
      changed_(std::move(changed)) {
  bench_.begin([this](KeptRunner& kept) { work(kept); });
}

StepRun::~StepRun() {
  cancel(OutcomeKind::cancelled);
  bench_.wait();
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

void StepRun::work(KeptRunner& kept) {
  if (!reuses_runner() || kept.build != run_.engine_key) kept = {};
  kept.build = run_.engine_key;
  Outcome outcome = execute(kept);
  // With the runner goes its lock.
  if (!kept.process || !is_runner_awaited(*find_step(run_.kind, settings_.steps), settings_.steps))
    kept = {};
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

Outcome StepRun::execute(KeptRunner& kept) {
  // No answer to the key: that would keep the failure for whoever the key belongs to.
  if (const Status claims = check_claims(run_); !claims.ok())
    return failed_outcome(OutcomeKind::internal, claims.error());
  FarmConnection farm(settings_.farm, [this] { return cancelled(); });
  auto request = prepare(farm);
  if (!request.ok()) return failed_fetch(request.error());
  if (const Status locked = lock_device(kept); !locked.ok()) return failed_outcome(locked.error());
  // In its sandbox a runner's own lock would exclude nobody.
  request->device_locked = kept.lock.descriptor() >= 0 || settings_.sandbox.in_force;
  auto outcome = run_runners(*request, kept);
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
  const Way way = way_of(*options, run_.provisional);
  request.options = to_text(options_for(run_.sku, std::move(*options)));

  const auto transfer = [&](uint64_t done, uint64_t total) {
    set_progress({"fetching", done, total});
  };
  const auto fetch = [&](const std::string& name, const Digest& digest) -> Status {
    auto file = blobs_.fetch(farm, digest, transfer);
    if (!file.ok()) return file.error().within("fetch " + name);
    request.digests[name] = digest;
    return give_input(request, name, *file);
  };
  for (const std::filesystem::path& folder : {settings_.inputs, settings_.folder})
    CHECK_OK(make_empty_folder(folder));
  const Step* step = find_step(run_.kind, settings_.steps);
  if (!step) return Error{ErrorCode::unsupported, "this worker knows no step '" + run_.kind + "'"};
  for (const std::string& name : inputs_of(*step, way, settings_.steps)) {
    const NamedBlob* blob = blob_named(run_.inputs, name);
    if (name == "model")
      CHECK_OK(fetch(name, run_.model));
    else if (blob)
      CHECK_OK(fetch(name, blob->digest));
    else
      return Error{ErrorCode::internal, "the step came without its input '" + name + "'"};
  }
  for (const std::string& name : step->takes) {
    if (const NamedBlob* blob = blob_named(run_.inputs, name)) CHECK_OK(fetch(name, blob->digest));
  }
  return request;
}

// By a link: a runner that stays for the next step in its sandbox sees the folder and what comes
// into it, and no other blob.
Status StepRun::give_input(RunnerRequest& request, const std::string& name,
                           const std::filesystem::path& blob) const {
  const std::filesystem::path file = settings_.inputs / name;
  request.inputs[name] = file.string();
  std::error_code error;
  std::filesystem::create_hard_link(blob, file, error);
  if (error) std::filesystem::copy_file(blob, file, error);
  if (error) return Error{ErrorCode::storage, "give " + file.string() + ": " + error.message()};
  return {};
}

// A provisional engine is made in one step.
bool StepRun::reuses_runner() const {
  const Step* step = find_step(run_.kind, settings_.steps);
  return step != nullptr && !run_.provisional && can_reuse_runner(*step);
}

// Who measures is not asked to take the lock.
Status StepRun::lock_device(KeptRunner& kept) {
  if (kept.process) return {};
  const Step* step = find_step(run_.kind, settings_.steps);
  ENSURE(step != nullptr, "a step was prepared that the table lacks");
  TRY(kept.lock, wait_for_device_of(*step, run_.provisional, settings_.device,
                                    {[this](const Progress& p) { set_progress(p); },
                                     [this] { return cancelled(); }}));
  return {};
}

// Outside a sandbox a runner reaches every folder anyway.
Result<std::filesystem::path> StepRun::home_of_build() const {
  if (!settings_.sandbox.in_force) return settings_.home;
  return kernel_home(settings_.home / "builds", run_.engine_key);
}

SandboxView StepRun::view_of(const std::filesystem::path& home) const {
  SandboxView view;
  view.read_only = {settings_.inputs};
  view.writable = {settings_.folder, home};
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

Result<Outcome> StepRun::run_runners(const RunnerRequest& request, KeptRunner& kept) {
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
  command.device_lock = kept.lock.descriptor();
  if (settings_.sandbox.in_force) command.sandbox = view_of(home);
  set_progress({doing(run_.kind, settings_.steps), 0, 0});
  AttemptEvents events;
  events.progress = [&](const Progress& progress) { set_progress(progress); };
  events.log = [&](const std::string& line) { uploads.log(line); };
  events.cancelled = [this] { return cancelled(); };
  events.steps = settings_.steps;
  uploads.log("sandbox of the runner: " + settings_.sandbox.text);
  auto outcome =
      run_attempts(command, request, timings, events, reuses_runner() ? &kept.process : nullptr);
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
