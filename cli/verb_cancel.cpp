// cancel: ends a job's unfinished targets.
#include <nlohmann/json.hpp>

#include "cli/farm.h"
#include "cli/job_report.h"
#include "cli/verbs.h"

namespace enginery {
namespace {

class CancelCommand final : public Command {
 public:
  void declare(Options& options) override {
    options.positional("JOB", job_, "the job's id");
    options.flag("--json", json_, "print JSON (enginery.job/1)");
    farm_.declare(options);
    options.about("Finished targets keep their engines. Work that another job shares goes on for that job.");
  }

  Result<ExitCode> run(Session& session) override {
    TRY(const auto client, connect(farm_));
    TRY(const JobView job, client->cancel(job_));
    if (json_) {
      print_json(session.console, job_json(job));
    } else {
      session.console.print(target_table(job));
    }
    return ExitCode::ok;
  }

 private:
  FarmOptions farm_;
  std::string job_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_cancel() { return std::make_unique<CancelCommand>(); }

}  // namespace enginery
