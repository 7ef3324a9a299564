// wait: until a job has ended; the exit code says how.
#include <nlohmann/json.hpp>

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
                   "give up after so long (exit code 6); the job goes on");
    options.about(
        "Exit codes: 0 every target is done, 8 some failed, 1 all failed, 6 time-out, cancelled or "
        "Ctrl-C.");
  }

  Result<ExitCode> run(Session& session) override {
    TRY(const auto client, connect(question_.farm));
    TRY(const JobView before, client->show(question_.job));
    FollowOptions follow{question_.farm, {}};
    if (timeout_seconds_) follow.timeout = std::chrono::seconds(*timeout_seconds_);
    TRY(const JobView job, follow_job(*client, before, follow, session.console));
    if (question_.json) {
      print_json(session.console, job_json(job));
    } else {
      session.console.print(target_table(job));
    }
    if (const std::string trouble = job_trouble(job); !trouble.empty())
      session.console.note(trouble);
    return job_exit_code(job);
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
