#include "worker/agent/agent.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <random>

#include "cache/folder_lock.h"
#include "cache/private_folder.h"
#include "coordinator/client/client.h"
#include "engine/base/clock.h"
#include "engine/base/file.h"
#include "engine/base/log.h"
#include "worker/agent/self_test.h"
#include "worker/agent/step_run.h"
#include "worker/agent/sync_state.h"
#include "worker/runner/runner_environment.h"

namespace enginery {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kTick{200};          // how soon `stop` is seen
constexpr milliseconds kRepeatAfter{2000};  // a Sync without an answer, also while it is held
constexpr milliseconds kProgressEvery{500};
constexpr milliseconds kSenseEvery{4000};   // the device's sensors
constexpr milliseconds kFinalReport{3000};  // for the coordinator to learn how the step ended

std::string host_name() {
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  return host;
}

// A runner that gets no files of a step.
RunnerCommand command_without_step(const AgentOptions& options, const SandboxState& sandbox) {
  const std::filesystem::path home = options.data / "runner";
  RunnerCommand command{
      options.runner, runner_environment(options.sku, options.threads, options.device_index, home)};
  if (sandbox.in_force) command.sandbox = SandboxView{{}, {home}, device_nodes(options.sku)};
  return command;
}

// Asks a runner what the device is: the agent itself never opens one.
Result<DeviceDescription> describe(const AgentOptions& options, const SandboxState& sandbox) {
  TRY(auto process, RunnerProcess::start(command_without_step(options, sandbox)));
  RunnerRequest request;
  request.step = "describe";
  request.sku = options.sku;
  RunnerEvents events;
  events.report = [](const RunnerReport&) {};
  events.output = [](const std::string& line) { log_info("runner: " + line); };
  events.timings = [](const WantTimings&) { return KnownTimings(); };
  RunnerReport report = process->run(request, events);
  if (auto* device = std::get_if<DeviceDescription>(&report)) return std::move(*device);
  if (auto* end = std::get_if<RunnerEnd>(&report)) {
    return Error{end->fault.code, "worker for " + options.sku + ": " + end->fault.message};
  }
  return Error{ErrorCode::internal,
               "worker for " + options.sku + ": the runner did not describe its device"};
}

// The same in the sandbox, which is given up where it is only preferred and hides the device.
Result<DeviceDescription> describe_within(const AgentOptions& options, SandboxState& sandbox) {
  auto device = describe(options, sandbox);
  if (device.ok() || !sandbox.in_force || options.sandbox != SandboxMode::prefer) return device;
  auto plain = describe(options, {});
  if (plain.ok()) sandbox = {false, "bubblewrap hides the device: " + device.error().message, ""};
  return plain;
}

class Agent {
 public:
  Agent(const AgentOptions& options, const DeviceDescription& device, SandboxState sandbox,
        const std::function<bool()>& stop)
      : options_(options),
        stop_(stop),
        clock_(options.clock ? *options.clock : machine_clock_),
        blobs_(options.data / "blobs", options.blob_cache_bytes),
        state_(self(options, device, sandbox, clock_)),
        wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    settings_.farm = {options.coordinator, state_.latest().worker, options.dial};
    settings_.runner = options.runner;
    settings_.worker = state_.latest().worker;
    settings_.incarnation = state_.latest().incarnation;
    settings_.threads = options.threads;
    settings_.device_index = options.device_index;
    settings_.memory_bytes = options.runner_memory_bytes;
    settings_.inputs = options.data / "inputs";
    settings_.folder = options.data / "outputs";
    settings_.home = options.data / "runner";
    settings_.device = device.physical_id;
    settings_.sandbox = std::move(sandbox);
    settings_.steps = options.steps;
  }

  Status run() {
    CHECK_OK(connect());
    log_info("worker " + settings_.worker + " serves");
    while (!ended_) {
      follow_stop();
      follow_step();
      follow_test();
      if (link_)
        CHECK_OK(talk());
      else
        CHECK_OK(connect());
    }
    step_.reset();
    test_.reset();
    return {};
  }

 private:
  static SyncRequest self(const AgentOptions& options, const DeviceDescription& device,
                          const SandboxState& sandbox, const Clock& clock) {
    SyncRequest out;
    const std::string index =
        options.device_index > 0 ? "-" + std::to_string(options.device_index) : "";
    out.worker = options.name.empty() ? host_name() + "/" + options.sku + index : options.name;
    out.incarnation = static_cast<uint64_t>(clock.wall_time().count());
    out.sku = options.sku;
    out.kind = device.kind;
    out.toolchain = device.toolchain;
    out.device = device.physical_id;
    out.host = host_name();
    out.pid = getpid();
    out.health = device.name + "; sandbox: " + sandbox.text;
    out.compiles_for = device.compiles_for;
    return out;
  }

  // Waits for the coordinator as long as it takes; Hello settles the protocol's version.
  Status connect() {
    FarmConnection farm(settings_.farm, stop_);
    auto address = farm.call([&](Client&) -> Result<std::string> {
      return options_.coordinator.empty() ? default_control_address()
                                          : Result<std::string>(options_.coordinator);
    });
    if (!address.ok() && address.error().code == ErrorCode::cancelled) {
      ended_ = true;
      return {};
    }
    CHECK_OK(address.ok() ? Status() : Status(address.error()));
    auto link = options_.dial(*address, kMaxControlBytes);
    if (link.ok())
      link_ = std::move(*link);
    else if (link.error().code != ErrorCode::unavailable)
      return link.error();
    return {};
  }

  void follow_stop() {
    if (!stopping_ && stop_()) {
      stopping_ = true;
      give_up_at_ = clock_.monotonic() + milliseconds(12000);
      state_.prefer_idle();
      dirty_ = true;
      if (step_) step_->cancel(OutcomeKind::preempted);
    }
    if (!stopping_) return;
    if (state_.idle() || clock_.monotonic() > give_up_at_) ended_ = true;
  }

  // Takes what the running step says into the next Sync.
  void follow_step() {
    if (!step_ || state_.finished()) return;
    if (auto outcome = step_->outcome()) {
      if (outcome->kind != OutcomeKind::succeeded)
        log_warning(settings_.worker + ": step ended: " + outcome->fault.message);
      state_.finish(std::move(*outcome));
      step_.reset();
      dirty_ = true;
      if (stopping_) give_up_at_ = clock_.monotonic() + kFinalReport;
      return;
    }
    const Progress progress = step_->progress();
    if (progress == last_sent_ || clock_.monotonic() - last_sent_at_ < kProgressEvery) return;
    last_sent_ = progress;
    state_.progress(progress);
    dirty_ = true;
  }

  // Takes what the self-test found into the next Sync.
  void follow_test() {
    if (!test_) return;
    const auto problem = test_->problem();
    if (!problem) return;
    log_info(settings_.worker + ": self-test: " + (problem->empty() ? "all is well" : *problem));
    state_.examined(test_->number(), *problem);
    test_.reset();
    dirty_ = true;
  }

  // To ask for the clocks of all cores wakes them: not beside a measurement.
  const SyncRequest& next_sync() {
    const auto now = clock_.monotonic();
    const bool would_disturb = step_ && state_.latest().kind == "cpu";
    if (options_.sensors && !would_disturb && now >= sense_at_) {
      state_.reading(options_.sensors(settings_.device));
      sense_at_ = now + kSenseEvery;
    }
    return state_.next();
  }

  Status talk() {
    const auto now = clock_.monotonic();
    if (dirty_) {
      dirty_ = false;
      last_sent_at_ = now;
      CHECK_OK(send(next_sync(), make_request_id()));
    } else if (now >= repeat_at_) {
      if (answered_)
        CHECK_OK(send(next_sync(), make_request_id()));
      else
        CHECK_OK(send(state_.latest(), request_));
    }
    const auto wait =
        std::clamp(std::chrono::duration_cast<milliseconds>(repeat_at_ - clock_.monotonic()),
                   milliseconds(0), kTick);
    auto message = link_->receive(wait, wake_.get());
    uint64_t count;
    (void)!read(wake_.get(), &count, sizeof count);
    if (!message.ok()) {
      log_warning(settings_.worker + ": " + message.error().message);
      link_.reset();
      return {};
    }
    const std::optional<Error> trouble = link_->trouble();
    if (trouble && trouble->code == ErrorCode::untrusted) return *trouble;
    if (*message && (*message)->envelope.request == request_ && !answered_) return take(**message);
    return {};
  }

  Status send(const SyncRequest& sync, RequestId id) {
    request_ = id;
    answered_ = false;
    Message message;
    message.envelope.request = id;
    message.envelope.session = session_;
    message.envelope.sequence = sync.sequence;
    message.envelope.body = sync;
    const Status sent = link_->send(message);
    const bool absent = !sent.ok() && sent.error().code == ErrorCode::unavailable;
    // While no coordinator answers, ask again soon, but not all workers at the same moment.
    const int64_t soon = std::uniform_int_distribution<int64_t>(100, 400)(random_);
    repeat_at_ = clock_.monotonic() + (absent ? milliseconds(soon) : kRepeatAfter);
    if (!sent.ok() && !absent) return sent.error();
    return {};
  }

  Status take(const Message& message) {
    answered_ = true;
    repeat_at_ = clock_.monotonic();
    if (const auto* error = std::get_if<ErrorReply>(&message.envelope.body))
      return refused(error->fault);
    const auto* reply = std::get_if<SyncReply>(&message.envelope.body);
    if (!reply) return {};
    AgentTask task = state_.answered(*reply);
    if (auto* start = std::get_if<StartStep>(&task))
      begin(std::move(start->run));
    else if (std::holds_alternative<StopStep>(task) && step_)
      step_->cancel(OutcomeKind::cancelled);
    else if (const auto* test = std::get_if<TestSelf>(&task))
      examine(test->number);
    else if (std::holds_alternative<EndAgent>(task))
      ended_ = true;
    return {};
  }

  // An error that repetition cannot repair ends the worker; a failure of the coordinator may pass.
  Status refused(const Fault& fault) {
    const Error error{fault.code, "the coordinator refuses this worker: " + fault.message};
    if (fault.code == ErrorCode::usage || fault.code == ErrorCode::unsupported ||
        fault.code == ErrorCode::untrusted)
      return error;
    log_warning(error.message);
    repeat_at_ = clock_.monotonic() + kRepeatAfter;
    return {};
  }

  void begin(RunStep run) {
    if (stopping_) return;
    log_info(settings_.worker + ": " + run.kind + (run.sku.empty() ? "" : " for " + run.sku) +
             " of " + run.ref.job);
    state_.start(run.ref);
    dirty_ = true;
    last_sent_ = {};
    step_ = std::make_unique<StepRun>(std::move(run), settings_, blobs_, bench_, waker());
  }

  // One at a time: what is asked for meanwhile is asked for again.
  void examine(uint64_t number) {
    if (stopping_ || test_) return;
    SelfTest::Subject subject;
    subject.runner = command_without_step(options_, settings_.sandbox);
    subject.sku = options_.sku;
    subject.memory_bytes = options_.runner_memory_bytes;
    subject.data = options_.data;
    test_ = std::make_unique<SelfTest>(number, std::move(subject), waker());
  }

  std::function<void()> waker() const {
    return [fd = wake_.get()] {
      const uint64_t one = 1;
      (void)!write(fd, &one, sizeof one);
    };
  }

  const AgentOptions& options_;
  const std::function<bool()>& stop_;
  const SystemClock machine_clock_;
  const Clock& clock_;
  StepSettings settings_;
  BlobCache blobs_;
  SyncState state_;
  OwnedFd wake_;
  std::unique_ptr<Link> link_;
  const std::string session_ = make_request_id().text();
  RequestId request_;
  bool answered_ = true, dirty_ = true, stopping_ = false, ended_ = false;
  Nanoseconds repeat_at_{}, last_sent_at_{}, give_up_at_{}, sense_at_{};
  Progress last_sent_;
  std::minstd_rand random_{std::random_device{}()};
  StepBench bench_;
  std::unique_ptr<StepRun> step_;
  std::unique_ptr<SelfTest> test_;
};

}  // namespace

Status run_agent(const AgentOptions& options, const std::function<bool()>& stop) {
  AgentOptions wired = options;
  if (!wired.dial) wired.dial = make_zmq_dial();
  if (!wired.coordinator.empty()) CHECK_OK(check_address(wired.coordinator));
  if (is_beyond_this_host(wired.coordinator)) {  // without a key it ends before anything is started
    TRY([[maybe_unused]] const auto link, wired.dial(wired.coordinator, kMaxControlBytes));
  }
  CHECK_OK(make_private_folder(wired.data));
  TRY(const FolderLock lock, FolderLock::acquire(wired.data, "worker"));
  for (const char* folder : {"blobs", "outputs", "runner"})
    CHECK_OK(make_private_folder(wired.data / folder));
  // The runners see these folders in their sandbox by the same names.
  wired.data = std::filesystem::canonical(wired.data);
  TRY(SandboxState sandbox, settle_sandbox(wired.sandbox));
  TRY(const DeviceDescription device, describe_within(wired, sandbox));
  if (!sandbox.in_force) log_warning("steps run without a sandbox: " + sandbox.text);
  return Agent(wired, device, std::move(sandbox), stop).run();
}

}  // namespace enginery
