// Jobs: submitted builds with their state, which follows from their targets, and what people see.
//
// Where: the highest of the core's objects. Core gives it the requests of clients, and tells it
// whenever a target of a job has moved; it answers the clients who poll for the job (polls.h).
// Threads: as Core.
#pragma once

#include "coordinator/core/dry_runs.h"
#include "coordinator/core/polls.h"
#include "coordinator/core/targets.h"

namespace enginery {

struct LiveJob {
  uint64_t number = 0;
  JobState state = JobState::submitted;
  RequestId request;                       // of its submit
  int64_t submitted_ns = 0, ended_ns = 0;  // wall time
  uint64_t revision = 1;                   // grows with every change that a client may see
  std::optional<ReplyTo> submit_reply;     // until the first lookups are answered
};

class Jobs {
 public:
  // All outlive it.
  Jobs(Queue& queue, Targets& targets, Polls& polls, const CoreOptions& options)
      : queue_(queue),
        targets_(targets),
        polls_(polls),
        options_(options),
        dry_runs_(queue, options) {}

  void load(std::map<uint64_t, JobRow> jobs);
  // Lets the targets of the jobs that have not ended begin again where the rows left them.
  void start(Turn& turn);

  // --- requests of clients

  // A new job, or what a known request's job has become by now.
  void submit(Request& request, Turn& turn);
  // Holds the answer until the job changes.
  void wait(const Request& request, const WaitJob& wait, Turn& turn);
  // Null: no such job, for those who see so much.
  const LiveJob* find(const std::string& id, const Sight& sight = {}) const;
  JobList list(const ListJobs& request, const Sight& sight = {}) const;
  // With the sentence of every worker about every step that is waited for.
  ExplainReply explain(const LiveJob& job, Now now, const Sight& sight = {}) const;
  // `steps`: with the steps that the targets used, and their attempts.
  enum class Detail : uint8_t { targets, steps };
  JobView view(const LiveJob& job, Detail detail, Now now) const;

  // --- what happens below

  // The targets have moved: the job's state follows, and whoever polls for it is answered.
  void update(uint64_t job, Turn& turn);
  // The job's view has changed, but not its state.
  void touch(uint64_t job, Turn& turn);
  // Answers the submit once no target asks the catalog any longer, so that finished work and what
  // is quarantined show in it.
  void answer_submit(uint64_t job, Turn& turn);
  // The answer to a lookup of a dry run.
  void dry_run_answer(const LookupAnswer& answer, Turn& turn);
  // Drops the jobs that ended first, beyond what the options keep. The newest number stays, so that
  // it is not used twice, and so does a job one of whose steps goes on for others.
  void forget_old(Turn& turn);
  // Answers the polls of the job whose time is over.
  void end_polls(uint64_t job, Turn& turn);

  // --- read-only

  std::vector<std::string> ids_of(bool ended) const;
  // The first broken rule of the jobs and their targets; "" when all hold.
  std::string check(Now now) const;

 private:
  // Why the client may not add another job; nothing when it may.
  Status check_limit(const SubmitRequest& submit) const;
  void make_job(const Request& request, SubmitRequest submit, Turn& turn);
  void begin(uint64_t job, uint32_t target, Turn& turn);
  TargetView view(const Waiter& at, Now now) const;
  std::vector<StepView> step_views(uint64_t job) const;

  Queue& queue_;
  Targets& targets_;
  Polls& polls_;
  const CoreOptions& options_;
  DryRuns dry_runs_;
  std::map<uint64_t, LiveJob> jobs_;
  std::map<RequestId, uint64_t> by_request_;
  std::set<std::pair<int64_t, uint64_t>> ended_;  // when (wall time), and the job
  std::map<std::string, size_t> open_;            // jobs that have not ended, by client
  uint64_t next_job_ = 1;
};

}  // namespace enginery
