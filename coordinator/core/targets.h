// Targets: one engine for one SKU each, on their way along the chain of steps.
//
// A target first asks the catalog for its engine's key. Where there is no answer it goes from step
// to step: each is answered by the catalog, by a step in flight with the same key, or by a step
// that is added to the queue. What comes next, what a step's key is and what a finished target has
// says pipeline/ (chain.h, keys.h); this says when.
//
// Where: above Queue, whose steps it waits for, and below Jobs, which knows the targets of each
// job by the job's number. Every function that moves a target returns what that means for its job.
// Threads: as Core.
#pragma once

#include "coordinator/core/queue.h"
#include "pipeline/chain.h"
#include "pipeline/keys.h"

namespace enginery {

struct LiveTarget {
  TargetRow row;
  KeyDigests keys;
  std::optional<StepKind> stage;  // what it looks up or waits for; nothing: the engine's own key
  bool looking = false;           // a Lookup is out
  uint64_t step = 0;              // the step that it waits for, or 0
  Gathered gathered;              // of the steps before
  // How often it began again because a stage could not read its inputs.
  std::map<std::optional<StepKind>, int> restarts;
};

// A job's request and its targets, in the request's order.
struct Build {
  SubmitRequest request;
  BuildOptions options;  // the request's
  std::vector<LiveTarget> targets;
};

// What a target's step means for its job.
enum class Change : uint8_t {
  none,   // nothing that anyone sees
  moved,  // the job's state or view may have changed
  ended,  // the target has ended
};

class Targets {
 public:
  // Both outlive it.
  Targets(Queue& queue, const CoreOptions& options) : queue_(queue), options_(options) {}

  // A job's targets from their rows; they begin to move with begin().
  const Build& add(uint64_t job, SubmitRequest request, std::vector<TargetRow> rows);
  // Records the bytes of the keys that are made of the request's fields, for why-miss.
  void record_keys(uint64_t job, Turn& turn) const;
  // Drops what only the way to the end needed; the rows on disk keep it.
  void forget_details(uint64_t job);
  // Whether every step that the ended job used has ended, too.
  bool may_go(uint64_t job) const;
  // Drops an ended job with the steps that it made; says which.
  std::vector<uint64_t> forget(uint64_t job);

  const Build& build(uint64_t job) const { return builds_.at(job); }  // which must exist
  const LiveTarget& target(const Waiter& at) const;

  // Starts at the beginning of the way: the engine's key, or for a rebuild the first step.
  Change begin(const Waiter& at, Turn& turn);
  // The catalog's answer; nothing when it comes too late to mean anything.
  std::optional<Change> looked_up(const LookupAnswer& answer, Turn& turn);
  // What the target waited for has happened.
  Change use(const Waiter& at, const StepCommitted& event, Turn& turn);
  Change give_up(const Waiter& at, const StepGaveUp& event, Turn& turn);
  // Ends the target as cancelled. Its step keeps it as a waiter: see Queue::leave.
  Change cancel(const Waiter& at, Turn& turn);
  // A queued target whose step has begun counts as running.
  void note_running(uint64_t job);

  // The message that hands the step to a worker, in the words of the first target that waits.
  RunStep run_message(const LiveStep& step) const;
  // Hands the log of a step that assists to the jobs that wait for the one that it assists.
  void route_log(const LiveStep& assistant, Turn& turn) const;
  // Asks for the signature of the first waiting target's unsigned engine.
  void ask_for_signature(uint64_t step, Turn& turn);
  // The result of a sign step whose engine has come.
  StepResult signed_result_of(const LiveStep& step, const NamedBlob& engine) const;

  // Why the target has not ended, as a sentence; "" when it has.
  std::string why_waiting(const LiveTarget& target, Now now) const;

  // The first broken rule of the targets and the steps they wait for; "" when all hold.
  std::string check() const;

 private:
  LiveTarget& at(const Waiter& waiter) { return builds_.at(waiter.job).targets[waiter.target]; }
  const TargetRequest& request_of(const Waiter& waiter) const;
  KeyFields fields_of(const Waiter& waiter) const;
  // The row of what the target looks up or waits for.
  const Step& stage_of(const LiveTarget& target) const;
  Digest key_of(const Waiter& waiter, const Step& step) const;

  Change advance(const Waiter& at, Turn& turn);
  Way way_of_target(const Waiter& at) const;
  // Where earlier steps make the network, the tuning's key gets its structure from them.
  void learn_structure(const Waiter& at, const Step& next);
  // Why the target may not go on to the step: its keys claim another structure than the model's. ""
  // when it may.
  std::string false_claim(const Waiter& at, const Step& next) const;
  Change look_up(const Waiter& at, Turn& turn);
  bool usable(const Waiter& at, const Step& step, const LookupAnswer& answer) const;
  Change use_result(const Waiter& at, const StepUse& use, const StepResult& result, Turn& turn);
  uint64_t make_step(const Waiter& at, const Step& step, const LookupAnswer& answer, Turn& turn);
  Change attach(const Waiter& at, uint64_t step, Turn& turn);
  void route_log(const Waiter& at, const LiveStep& step, Turn& turn) const;
  Change finish(const Waiter& at, Turn& turn);
  Change fail(const Waiter& at, const Fault& fault, TargetState end, Turn& turn);
  Change restart(const Waiter& at, const Fault& fault, Turn& turn);
  void save(const Waiter& at, Turn& turn) const;
  std::string check_target(const Waiter& at) const;

  Queue& queue_;
  const CoreOptions& options_;
  std::map<uint64_t, Build> builds_;
};

}  // namespace enginery
