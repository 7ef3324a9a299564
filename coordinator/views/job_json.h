// Jobs as JSON: enginery.job/1, enginery.jobs/1 and enginery.explain/1. cli/README.md has the rules
// of these documents.
//
// Where: printed by the command line, served by the coordinator over HTTP. Threads: free functions
// without state.
#pragma once

#include <vector>

#include "coordinator/views/json_values.h"
#include "schemas/values.h"

namespace enginery {

// {"schema":"enginery.job/1","job","state","model","targets",...}
Json job_json(const JobView& job);
// The same with "steps": what `show` prints.
Json job_json_with_steps(const JobView& job);
// {"schema":"enginery.jobs/1","jobs":[..]}
Json jobs_json(const std::vector<JobLine>& jobs);
// {"schema":"enginery.explain/1","job","targets":[..]}
Json explain_json(const std::string& job, const std::vector<ExplainView>& targets);

}  // namespace enginery
