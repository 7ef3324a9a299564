// A job for people and for scripts: tables, its JSON (coordinator/views/job_json.h) printed, and
// the exit code that its end means.
//
// Where: every verb that shows a job, and the progress display while one is followed. Threads: free
// functions without state.
#pragma once

#include "cli/output/exit_code.h"
#include "cli/output/json_output.h"
#include "cli/output/progress.h"
#include "coordinator/views/job_json.h"
#include "schemas/values.h"

namespace enginery {

// One line for each target, in so many columns of a terminal (0: any): SKU, state, source, latency,
// size, engine, note; the accuracy where one was measured.
std::string target_table(const JobView& job, int columns = 0);
// "97.25 % agree, 23.4 dB, top-1 60.50 % (float 59.75 %)", of it what is known; "" where nothing
// was measured.
std::string accuracy_words(const std::optional<HeldOutFigures>& figures);
// One line for each step, with its last attempt.
std::string step_table(const JobView& job, int columns = 0);

// How many targets failed or were cancelled and which command says more, in one sentence; "" when
// none did.
std::string failure_summary(const JobView& job);

// One row of progress for each target.
std::vector<ProgressRow> progress_rows(const JobView& job);

// ok: every target is done, or the job still runs; partial: some are done; failed: none is;
// timed_out: none is, and all were cancelled.
ExitCode job_exit_code(const JobView& job);

// The job on stdout: its JSON or its table of targets.
void print_job(const JobView& job, OutputForm form, Console& console);
// What `submit` and `retry` print without --wait: the JSON, or the id and how to follow the job.
void report_accepted(const JobView& job, OutputForm form, Console& console);
// What they, and `wait`, print at the job's end: print_job and the failure summary. Returns
// job_exit_code.
ExitCode report_end(const JobView& job, OutputForm form, Console& console);

}  // namespace enginery
