#include "cli/farm/follow_job.h"

#include <fmt/format.h>

#include "cli/output/job_report.h"
#include "cli/output/progress.h"
#include "cli/process/interrupt.h"

namespace enginery {
namespace {

// Short enough that Ctrl-C is answered soon: each poll is a long poll of its own, changes come at
// once anyway.
constexpr auto kJobHold = std::chrono::milliseconds(500);
constexpr auto kPatience = std::chrono::minutes(2);

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
  JobView now = job;
  bool absent = false;
  while (!is_end(now.state)) {
    display.show(progress_rows(now));
    if (interrupt.requested()) {
      display.finish();
      return detached(now, ErrorCode::cancelled, "detached");
    }
    if (options.timeout && clock.monotonic() - started > *options.timeout) {
      display.finish();
      return detached(now, ErrorCode::timed_out,
                      fmt::format("it did not end within {} s", options.timeout->count()));
    }
    Result<JobView> changed = client.wait(now.id, now.revision, kJobHold, false);
    if (changed.ok()) {
      now = std::move(changed).value();
      answered = clock.monotonic();
      absent = false;
      continue;
    }
    if (changed.error().code != ErrorCode::unavailable) return changed.error();
    if (clock.monotonic() - answered > kPatience)
      return detached(now, ErrorCode::unavailable, changed.error().message);
    if (!absent) {
      display.finish();
      console.note("the coordinator does not answer; waiting for it (Ctrl-C detaches)");
    }
    absent = true;
  }
  display.finish();
  return now;
}

}  // namespace enginery
