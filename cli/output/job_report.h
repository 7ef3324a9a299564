// A job for people and for scripts: tables, the JSON of enginery.job/1, and the exit code that its
// end means.
#pragma once

#include "cli/output/exit_code.h"
#include "cli/output/json_output.h"
#include "cli/output/progress.h"
#include "schemas/values.h"

namespace enginery {

// {"schema":"enginery.job/1","job","state","model","targets",...}; show adds the steps.
Json job_json(const JobView& job);
Json job_json_with_steps(const JobView& job);

// One line for each target: SKU, state, source, latency, size, engine, note.
std::string target_table(const JobView& job);
std::string step_table(const JobView& job);

// What went wrong and where to look, in one sentence; "" when every target is done.
std::string job_trouble(const JobView& job);

// One progress row for each target.
std::vector<ProgressRow> progress_rows(const JobView& job);

// ok: every target is done (or the job still runs); partial: some are; failed: none; timed_out:
// cancelled.
ExitCode job_exit_code(const JobView& job);

}  // namespace enginery
