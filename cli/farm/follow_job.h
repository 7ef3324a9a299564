// Following a job until it ends: what `wait`, `submit --wait` and `retry --wait` do.
//
// Where: between the client's long poll and the progress display. Threads: one thread at a time;
// an Interrupt lives while a job is followed, so nothing else may handle Ctrl-C meanwhile.
#pragma once

#include <chrono>
#include <optional>

#include "cli/output/console.h"
#include "cli/output/job_report.h"
#include "coordinator/client/client.h"

namespace enginery {

struct FollowOptions {
  std::optional<std::chrono::seconds> timeout;  // nothing: as long as it takes
};

// Shows progress until the job has ended and returns it as it then is. A coordinator that does not
// answer is waited for, with a message, for two minutes. Errors: cancelled (Ctrl-C), timed_out,
// unavailable (the two minutes are over); in each case the job goes on, and the message says how to
// attach to it again.
Result<JobView> follow_job(Client& client, const JobView& job, const FollowOptions& options,
                           Console& console);

// follow_job, then the job's report and the exit code that its end means.
Result<ExitCode> follow_and_report(Client& client, const JobView& job, const FollowOptions& options,
                                   OutputForm form, Console& console);

}  // namespace enginery
