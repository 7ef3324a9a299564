// Jobs as JSON: enginery.job/1, enginery.jobs/1 and enginery.explain/1. cli/README.md has the rules
// of these documents.
//
// Where: printed by the command line, served by the coordinator over HTTP. Threads: free functions
// without state.
#pragma once

#include <optional>
#include <vector>

#include "coordinator/views/json_values.h"
#include "schemas/values.h"

namespace enginery {

// {"schema":"enginery.job/1","job","state","model","targets",...}
Json job_json(const JobView& job);
// The same with "steps": what `show` prints.
Json job_json_with_steps(const JobView& job);
// {"rows","sqnr_db","top1_agree","top1","float_top1"}: shares from 0 to 1, null where they are not
// known; null for an engine that was not held against the float model.
Json accuracy_json(const std::optional<HeldOutFigures>& figures);
// {"schema":"enginery.jobs/1","jobs":[..]}
Json jobs_json(const std::vector<JobLine>& jobs);
// {"schema":"enginery.explain/1","job","targets":[..]}
Json explain_json(const std::string& job, const std::vector<ExplainView>& targets);

}  // namespace enginery
