#include "cli/farm/follow_job.h"

#include <fmt/format.h>

#include "cli/output/progress.h"
#include "cli/process/signals.h"

namespace enginery {
namespace {

// Ctrl-C is answered between two polls; a change of the job ends a poll early anyway.
constexpr auto kPollTime = std::chrono::milliseconds(500);
constexpr auto kReconnectTimeout = std::chrono::minutes(2);

Error detached(const JobView& job, ErrorCode code, const std::string& why) {
  return {code, fmt::format("{}; job {} goes on. Attach again with: enginery wait {}   Stop it "
                            "with: enginery cancel {}",
                            why, job.id, job.id, job.id)};
}

}  // namespace

Result<JobView> follow_job(Client& client, const JobView& job, const FollowOptions& options,
                           Console& console) {
  const SystemClock clock;
  const Interrupt interrupt;
  ProgressDisplay display(console, clock);
  const Nanoseconds started = clock.monotonic();
  Nanoseconds answered = started;
  bool is_absent = false;
  JobView now = job;
  while (!is_end(now.state)) {
    display.show(progress_rows(now));
    if (interrupt.requested()) return detached(now, ErrorCode::cancelled, "detached");
    if (options.timeout && clock.monotonic() - started > *options.timeout) {
      return detached(now, ErrorCode::timed_out,
                      fmt::format("it did not end within {} s", options.timeout->count()));
    }
    Result<JobView> changed = client.wait(now.id, now.revision, kPollTime, false);
    if (changed.ok()) {
      now = std::move(changed).value();
      answered = clock.monotonic();
      is_absent = false;
      continue;
    }
    // A coordinator that is away or whose disk is full loses nothing.
    const bool is_full = changed.error().code == ErrorCode::storage;
    if (!is_full && changed.error().code != ErrorCode::unavailable) return changed.error();
    if (clock.monotonic() - answered > kReconnectTimeout)
      return detached(now, changed.error().code, changed.error().message);
    if (!is_absent)
      console.note(fmt::format(
          "{}; waiting for it (Ctrl-C detaches)",
          is_full ? changed.error().message : std::string("the coordinator does not answer")));
    is_absent = true;
  }
  return now;
}

Result<ExitCode> follow_and_report(Client& client, const JobView& job, const FollowOptions& options,
                                   OutputForm form, Console& console) {
  TRY(const JobView ended, follow_job(client, job, options, console));
  return report_end(ended, form, console);
}

}  // namespace enginery
