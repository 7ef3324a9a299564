#include "worker/runner/runner_attempts.h"

#include <algorithm>
#include <chrono>
#include <map>

#include "engine/base/clock.h"
#include "pipeline/step.h"

namespace enginery {
namespace {

using Trial = std::tuple<std::string, std::string, std::string>;  // device, problem, tactic

class Attempt {
 public:
  Attempt(const RunnerRequest& request, TimingStore& timings, const AttemptEvents& events)
      : request_(request),
        timings_(timings),
        events_(events),
        clock_(events.clock ? *events.clock : machine_clock_) {}

  Result<Outcome> run(const RunnerCommand& command, std::unique_ptr<RunnerProcess>* kept) {
    std::unique_ptr<RunnerProcess> process = kept ? std::move(*kept) : nullptr;
    if (!process || !process->waits()) {
      TRY(process, RunnerProcess::start(command));
    }
    events_.log(doing(request_.step, events_.steps) +
                (request_.sku.empty() ? "" : " for " + request_.sku) + " on " + request_.worker +
                ", runner " + std::to_string(process->pid()));
    RunnerEvents events;
    events.output = events_.log;
    events.timings = [this](const WantTimings& want) { return find(want); };
    events.take = [this](const WantProblem& wish) { return take(wish); };
    events.report = [this](const RunnerReport& report) { on_report(report); };
    events.cancelled = [this] { return storage_ || events_.cancelled(); };
    events.hung = [this] { return overdue(); };
    RunnerReport report = process->run(request_, events);
    if (storage_) return *storage_;
    auto* end = std::get_if<RunnerEnd>(&report);
    if (!end)
      return Error{ErrorCode::internal, "the runner answered something else than was asked"};
    if (process->crashed()) CHECK_OK(attribute(end->fault.message));
    faulted_ = process->crashed() || end->fault.code == ErrorCode::device_lost;
    if (process->waits() && !faulted_ && !has_failed_tactics()) *kept = std::move(process);
    return std::move(*end);
  }

  bool faulted() const { return faulted_; }
  bool has_failed_tactics() const { return failed_tactics_ > 0; }

 private:
  KnownTimings find(const WantTimings& want) {
    KnownTimings out;
    auto found = timings_.find(want.device, want.problem);
    if (!found.ok()) {
      storage_ = found.error();
      return out;
    }
    for (const Timing& timing : *found) out.entries.push_back(to_json(timing));
    return out;
  }

  Taking take(const WantProblem& wish) {
    auto taking = timings_.take(wish.device, wish.problem, wish.left);
    if (taking.ok()) return *taking;
    storage_ = taking.error();
    return {};
  }

  void on_report(const RunnerReport& report) {
    if (const auto* progress = std::get_if<Progress>(&report))
      events_.progress(*progress);
    else if (const auto* log = std::get_if<RunnerLog>(&report))
      events_.log(log->text);
    else if (const auto* timing = std::get_if<RunnerTiming>(&report))
      store(*timing);
    else if (const auto* trial = std::get_if<RunnerTrial>(&report))
      on_trial(*trial);
  }

  void store(const RunnerTiming& measured) {
    auto timing = parse_timing(measured.entry);
    const Status stored = timing.ok() ? timings_.put(measured.device, measured.problem, *timing)
                                      : Status(timing.error());
    if (!stored.ok())
      storage_ = stored.error();
    else if (!timing->failure.empty())
      ++failed_tactics_;
  }

  void on_trial(const RunnerTrial& trial) {
    const Trial key{trial.device, trial.problem, trial.tactic};
    if (trial.over)
      in_flight_.erase(key);
    else
      in_flight_.emplace(key, clock_.monotonic());
  }

  // A run of many tactics, none of which is named.
  static bool is_unnamed(const Trial& trial) { return std::get<2>(trial).empty(); }

  // Tactics that were in flight next to one that hangs may have waited for it: only those that are
  // overdue stay.
  std::string overdue() {
    const auto in_time = [&](const auto& trial) {
      const int times = is_unnamed(trial.first) ? kMaxTrialsInARun : 1;
      return trial.second >= clock_.monotonic() - times * events_.max_trial;
    };
    if (std::all_of(in_flight_.begin(), in_flight_.end(), in_time)) return "";
    kind_ = FailureKind::timed_out;
    std::erase_if(in_flight_, in_time);
    const bool named = !is_unnamed(in_flight_.rbegin()->first);
    const auto limit = (named ? 1 : kMaxTrialsInARun) * events_.max_trial;
    return (named ? "a tactic did not end its first steps within "
                  : "a run of many tactics did not end within ") +
           std::to_string(std::chrono::duration_cast<std::chrono::seconds>(limit).count()) + " s";
  }

  // Stores the tactic that took the runner down as failed. Of several in flight any one may have
  // done it.
  Status attribute(const std::string& death) {
    std::erase_if(in_flight_, [](const auto& trial) { return is_unnamed(trial.first); });
    if (in_flight_.size() != 1) return {};
    const auto& [device, problem, tactic] = in_flight_.begin()->first;
    Timing timing;
    timing.tactic = tactic;
    timing.failure = "was running when its process ended: " + death;
    timing.failure_kind = kind_;
    timing.worker = request_.worker;
    timing.unix_seconds = to_seconds(clock_.wall_time());
    TRY(const std::vector<Timing> known, timings_.find(device, problem));
    timing.attempts = failures_of(known, tactic) + 1;
    events_.log(tactic + " is rejected: " + timing.failure);
    const Status stored = timings_.put(device, problem, timing);
    if (!stored.ok() && stored.error().code == ErrorCode::not_found) return {};  // it only reads
    ++failed_tactics_;
    return stored;
  }

  const RunnerRequest& request_;
  TimingStore& timings_;
  const AttemptEvents& events_;
  const SystemClock machine_clock_;
  const Clock& clock_;
  std::map<Trial, Nanoseconds> in_flight_;  // since when
  std::optional<Error> storage_;            // why the store failed; ends the attempt
  int failed_tactics_ = 0;
  FailureKind kind_ = FailureKind::crash;  // of a tactic that takes this runner down
  bool faulted_ = false;
};

}  // namespace

Result<Outcome> run_attempts(const RunnerCommand& command, RunnerRequest request,
                             TimingStore& timings, const AttemptEvents& events,
                             std::unique_ptr<RunnerProcess>* kept) {
  request.stays = kept != nullptr;
  const Step* step = find_step(request.step, events.steps);
  const bool again = step != nullptr && may_crash(*step);
  for (int n = 1;; ++n) {
    Attempt attempt(request, timings, events);
    TRY(Outcome end, attempt.run(command, kept));
    const bool hopeless = !attempt.has_failed_tactics() && request.one_by_one;
    if (!again || !attempt.faulted() || hopeless || n == kMaxAttempts || events.cancelled())
      return end;
    request.one_by_one = request.one_by_one || !attempt.has_failed_tactics();
    events.log(doing(request.step, events.steps) +
               " goes on in a new runner: " + end.fault.message);
  }
}

}  // namespace enginery
