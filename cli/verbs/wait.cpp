// wait: until a job has ended; the exit code says how.
#include "cli/farm/farm.h"
#include "cli/farm/follow_job.h"
#include "cli/output/job_report.h"
#include "cli/verbs/verbs.h"

namespace enginery {
namespace {

class WaitCommand final : public Command {
 public:
  void declare(Options& options) override {
    question_.declare(options, "enginery.job/1");
    options.number("--timeout", timeout_seconds_, {1, 31'536'000}, "SECONDS",
                   "stop waiting after this time (exit code 6); the job goes on");
    options.about(
        "Exit codes: 0 every target is done, 8 some failed, 1 all failed, 6 time-out, cancelled or "
        "Ctrl-C.");
  }

  Result<ExitCode> run(Session& session) override {
    TRY(const auto client, connect(question_.farm));
    TRY(const JobView before, client->show(question_.job));
    FollowOptions follow;
    if (timeout_seconds_) follow.timeout = std::chrono::seconds(*timeout_seconds_);
    return follow_and_report(*client, before, follow, output_form(question_.json), session.console);
  }

 private:
  JobQuestion question_;
  std::optional<int64_t> timeout_seconds_;
};

}  // namespace

std::unique_ptr<Command> make_wait() {
  return std::make_unique<WaitCommand>();
}

}  // namespace enginery
