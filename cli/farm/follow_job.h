// Following a job until it ends: what `wait`, `submit --wait` and `retry --wait` do.
#pragma once

#include <chrono>
#include <optional>

#include "cli/farm/farm.h"
#include "cli/output/console.h"
#include "schemas/values.h"

namespace enginery {

struct FollowOptions {
  FarmOptions farm;  // to connect again after a restart of the coordinator
  std::optional<std::chrono::seconds> timeout;  // nothing: as long as it takes
};

// Shows progress until the job has ended and returns it. cancelled: Ctrl-C, timed_out: the time is
// over; the job goes on and the message says how to attach again. An absent coordinator is waited
// for, with a message, for two minutes.
Result<JobView> follow_job(Client& client, const JobView& job, const FollowOptions& options,
                           Console& console);

}  // namespace enginery
