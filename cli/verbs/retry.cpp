// cancel: ends a job's unfinished targets. retry: what a job did not finish, as a new job with the
// same model and options.
#include "cli/farm/farm.h"
#include "cli/farm/follow_job.h"
#include "cli/farm/submission.h"
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

class RetryCommand final : public Command {
 public:
  void declare(Options& options) override {
    options.positional("JOB", job_, "the id of a job that failed or was cancelled");
    options.flag("--wait", wait_, "stay until the new job has ended");
    options.flag("--json", json_, "print JSON (enginery.job/1)");
    farm_.declare(options);
    options.about(
        "Targets that are done are skipped. The others are built again, even where the catalog "
        "keeps a failure as the answer,\nand where a step is quarantined because it ended the "
        "processes that ran it.");
  }

  Result<ExitCode> run(Session& session) override {
    Console& console = session.console;
    TRY(const auto client, connect(farm_));
    TRY(const JobView old, client->show(job_));
    SubmitOptions submit;
    submit.targets = unfinished(old);
    if (!is_end(old.state))
      return Error{ErrorCode::usage,
                   "job " + old.id + " has not ended; wait for it or cancel it first"};
    if (submit.targets.empty())
      return Error{ErrorCode::usage,
                   "every target of job " + old.id + " is done; there is nothing to retry"};
    submit.tags = old.tags;
    submit.priority = old.priority;
    submit.rebuild = true;
    submit.wait_for_workers = true;
    submit.try_quarantined = true;
    TRY(const JobView job, submit_again(*client, old, submit, console));
    const OutputForm form = output_form(json_);
    if (!wait_) {
      report_accepted(job, form, console);
      return ExitCode::ok;
    }
    console.note("job " + job.id);
    return follow_and_report(*client, job, {}, form, console);
  }

 private:
  static std::vector<std::string> unfinished(const JobView& job) {
    std::vector<std::string> skus;
    for (const TargetView& target : job.targets) {
      if (target.state != TargetState::done) skus.push_back(target.sku);
    }
    return skus;
  }

  // The blob of that digest; null for "".
  static Result<std::shared_ptr<const Bytes>> input_named(Client& client,
                                                          const std::string& digest_text) {
    if (digest_text.empty()) return std::shared_ptr<const Bytes>();
    TRY(const Digest digest, Digest::parse(digest_text));
    TRY(Bytes bytes, client.get_blob(digest));
    return std::make_shared<const Bytes>(std::move(bytes));
  }

  static Result<JobView> submit_again(Client& client, const JobView& old,
                                      const SubmitOptions& submit, Console& console) {
    TRY(const BuildOptions options, parse_options(old.options));
    PackedModel packed;
    packed.file = old.model_name;
    packed.name = old.name;
    packed.digest = old.model;
    TRY(packed.bytes, client.get_blob(old.model));
    TRY(packed.calibration, input_named(client, options.calibration));
    TRY(packed.calib_data, input_named(client, options.calib_data));
    TRY(packed.held_out, input_named(client, options.held_out));
    TRY(const LoadedModel model, load_packed(packed, options, console));
    TRY(const auto skus, client.skus());
    return send_submission(client, packed,
                           make_submit_request(packed, model, options, submit, skus), console);
  }

  FarmOptions farm_;
  std::string job_;
  bool wait_ = false, json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_cancel() {
  return std::make_unique<CancelCommand>();
}

std::unique_ptr<Command> make_retry() {
  return std::make_unique<RetryCommand>();
}

}  // namespace enginery
