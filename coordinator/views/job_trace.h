// A job's time as a Chrome trace (the JSON that chrome://tracing and Perfetto open): what waited,
// what ran where, what was tried again.
//
// Where: `enginery trace`. Process "job ID" has the job's row and one for each SKU: waits,
// attempts, and their phases inside; process "workers" has the same attempts by worker. Times are
// microseconds since the submit. Threads: a free function without state.
#pragma once

#include <vector>

#include "coordinator/views/json_values.h"
#include "schemas/values.h"

namespace enginery {

// `job` with its steps; `events` of the journal, oldest first: without them waits before a first
// attempt and phases are missing. What has not ended is drawn up to `now_ns`.
Json chrome_trace(const JobView& job, const std::vector<EventView>& events, int64_t now_ns);

}  // namespace enginery
