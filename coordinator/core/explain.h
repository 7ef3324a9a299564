// Why a step waits, and why a worker does not run it: sentences for people.
//
// Where: Targets puts them into a target's note, Jobs into the answer of `explain`. Threads: free
// functions that read the queue.
#pragma once

#include <functional>
#include <string>

#include "coordinator/core/queue.h"

namespace enginery {

// Why the step has not ended, as one sentence; never "".
std::string why_step_waits(const Queue& queue, const LiveStep& step, Now now);

// What a job is called to whoever asked: its id, or "" where they do not see it.
using JobNames = std::function<std::string(uint64_t job)>;

// Why the worker does not run the step now, as the rest of a sentence that begins with its name.
std::string why_not(const Queue& queue, const LiveWorker& worker, const LiveStep& step,
                    const JobNames& names);

}  // namespace enginery
