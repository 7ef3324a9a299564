// jobs: the farm's jobs, newest first.
#include <nlohmann/json.hpp>

#include "cli/farm/farm.h"
#include "cli/output/json_output.h"
#include "cli/output/table.h"
#include "cli/verbs/verbs.h"
#include "coordinator/views/job_json.h"

namespace enginery {
namespace {

class JobsCommand final : public Command {
 public:
  void declare(Options& options) override {
    options.number("-n,--limit", limit_, {1, 10000}, "N", "list at most N (default: 1000)");
    options.flag("--ids", ids_, "only the ids, one a line");
    options.flag("--json", json_, "print JSON (enginery.jobs/1)");
    farm_.declare(options);
  }

  Result<ExitCode> run(Session& session) override {
    TRY(const auto client, connect(farm_));
    TRY(const auto jobs, client->jobs(static_cast<uint32_t>(limit_.value_or(1000))));
    if (json_) {
      print_json(session.console, jobs_json(jobs));
    } else if (ids_) {
      for (const JobLine& job : jobs) session.console.print_line(job.id);
    } else {
      print_table(session.console, jobs);
    }
    return ExitCode::ok;
  }

 private:
  static void print_table(Console& console, const std::vector<JobLine>& jobs) {
    Table table({{"JOB"}, {"MODEL"}, {"STATE"}, {"DONE", Align::right}, {"SUBMITTED"}});
    for (const JobLine& job : jobs) {
      table.add({job.id, job.model, to_string(job.state),
                 std::to_string(job.done) + "/" + std::to_string(job.total),
                 human_time(job.submitted_ns)});
    }
    if (table.empty())
      console.note("no jobs yet; the first: enginery submit MODEL --target this --wait");
    if (!table.empty()) console.print(table.text(console.table_width()));
  }

  FarmOptions farm_;
  std::optional<int64_t> limit_;
  bool ids_ = false, json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_jobs() {
  return std::make_unique<JobsCommand>();
}

}  // namespace enginery
