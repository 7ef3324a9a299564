// show: one job with its targets, steps and attempts.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/farm/farm.h"
#include "cli/output/job_report.h"
#include "cli/output/table.h"
#include "cli/verbs/verbs.h"

namespace enginery {
namespace {

class ShowCommand final : public Command {
 public:
  void declare(Options& options) override {
    question_.declare(options, "enginery.job/1 with steps");
  }

  Result<ExitCode> run(Session& session) override {
    TRY(const auto client, connect(question_.farm));
    TRY(const JobView job, client->show(question_.job));
    Console& console = session.console;
    if (question_.json) {
      print_json(console, job_json_with_steps(job));
      return ExitCode::ok;
    }
    console.print(fmt::format("{}  {}  {}\nmodel {} {}\nsubmitted {}{}\n\n",
                              console.styled(Style::bold, job.id), job.name, to_string(job.state),
                              job.model_name, job.model.text(), human_time(job.submitted_ns),
                              job.ended_ns ? ", ended " + human_time(job.ended_ns) : ""));
    console.print(target_table(job, console.table_width()));
    console.print("\n" + step_table(job, console.table_width()));
    return ExitCode::ok;
  }

 private:
  JobQuestion question_;
};

}  // namespace

std::unique_ptr<Command> make_show() {
  return std::make_unique<ShowCommand>();
}

}  // namespace enginery
