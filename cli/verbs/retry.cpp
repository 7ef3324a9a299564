// retry: what a job did not finish, as a new job with the same model and options.
#include <nlohmann/json.hpp>

#include "cli/farm/follow_job.h"
#include "cli/farm/submission.h"
#include "cli/output/job_report.h"
#include "cli/verbs/verbs.h"

namespace enginery {
namespace {

class RetryCommand final : public Command {
 public:
  void declare(Options& options) override {
    options.positional("JOB", job_, "the id of a job that failed or was cancelled");
    options.flag("--wait", wait_, "stay until the new job has ended");
    options.flag("--json", json_, "print JSON (enginery.job/1)");
    farm_.declare(options);
    options.about(
        "Targets that are done are left out. A deterministic failure (a model that cannot be "
        "built) would fail again, so it is\n"
        "built anew instead of read from the catalog.");
  }

  Result<ExitCode> run(Session& session) override {
    Console& console = session.console;
    TRY(const auto client, connect(farm_));
    TRY(const JobView old, client->show(job_));
    SubmitOptions wish;
    wish.targets = unfinished(old);
    if (!is_end(old.state))
      return Error{ErrorCode::usage,
                   "job " + old.id + " has not ended; wait for it or cancel it first"};
    if (wish.targets.empty())
      return Error{ErrorCode::usage,
                   "every target of job " + old.id + " is done; there is nothing to retry"};
    wish.tags = old.tags;
    wish.priority = old.priority;
    wish.rebuild = true;
    wish.wait_for_workers = true;
    TRY(const JobView job, submit_again(*client, old, wish, console));
    return wait_ ? follow(*client, job, console) : report(job, console);
  }

 private:
  static std::vector<std::string> unfinished(const JobView& job) {
    std::vector<std::string> skus;
    for (const TargetView& target : job.targets) {
      if (target.state != TargetState::done) skus.push_back(target.sku);
    }
    return skus;
  }

  static Result<JobView> submit_again(Client& client, const JobView& old, const SubmitOptions& wish,
                                      Console& console) {
    TRY(const BuildOptions options, parse_options(old.options));
    PackedModel packed;
    packed.file = old.model_name;
    packed.name = old.name;
    packed.digest = old.model;
    TRY(packed.bytes, client.get_blob(old.model));
    TRY(const LoadedModel model, load_packed(packed, options, console));
    TRY(const auto farm, client.skus());
    return send_submission(client, packed, make_submit_request(packed, model, options, wish, farm),
                           console);
  }

  Result<ExitCode> follow(Client& client, const JobView& job, Console& console) const {
    console.note("job " + job.id);
    TRY(const JobView ended, follow_job(client, job, {farm_, {}}, console));
    if (json_) print_json(console, job_json(ended));
    if (!json_) console.print(target_table(ended));
    if (const std::string trouble = job_trouble(ended); !trouble.empty()) console.note(trouble);
    return job_exit_code(ended);
  }

  Result<ExitCode> report(const JobView& job, Console& console) const {
    if (json_) print_json(console, job_json(job));
    if (!json_) console.print_line(job.id);
    return ExitCode::ok;
  }

  FarmOptions farm_;
  std::string job_;
  bool wait_ = false, json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_retry() {
  return std::make_unique<RetryCommand>();
}

}  // namespace enginery
