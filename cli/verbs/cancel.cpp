// cancel: ends a job's unfinished targets.
#include "cli/farm/farm.h"
#include "cli/output/job_report.h"
#include "cli/verbs/verbs.h"

namespace enginery {
namespace {

class CancelCommand final : public Command {
 public:
  void declare(Options& options) override {
    question_.declare(options, "enginery.job/1");
    options.about(
        "Finished targets keep their engines. Work that another job shares goes on for that job.");
  }

  Result<ExitCode> run(Session& session) override {
    TRY(const auto client, connect(question_.farm));
    TRY(const JobView job, client->cancel(question_.job));
    print_job(job, output_form(question_.json), session.console);
    return ExitCode::ok;
  }

 private:
  JobQuestion question_;
};

}  // namespace

std::unique_ptr<Command> make_cancel() {
  return std::make_unique<CancelCommand>();
}

}  // namespace enginery
