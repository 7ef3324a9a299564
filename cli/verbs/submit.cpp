// submit: one job that builds a model for several SKUs.
#include "cli/calibration/prepared_data.h"
#include "cli/farm/calibration_file.h"
#include "cli/farm/farm.h"
#include "cli/farm/follow_job.h"
#include "cli/farm/submission.h"
#include "cli/options/build_flags.h"
#include "cli/options/targets.h"
#include "cli/output/job_report.h"
#include "cli/verbs/verbs.h"

namespace enginery {
namespace {

class SubmitCommand final : public Command {
 public:
  void declare(Options& options) override {
    options.positional("MODEL", model_, "the model file (ONNX); - is stdin");
    options.list("--target", targets_, "LIST",
                 "SKUs to build for, and `this` for this machine's best (default: this)");
    options.text("--name", name_, "NAME",
                 "what the engines are called (default: the file's name without extension)");
    flags_.declare(options);
    options.flag("--wait", wait_, "stay until the job has ended and print its table");
    options.number("--timeout", timeout_seconds_, {1, 31'536'000}, "SECONDS",
                   "with --wait: stop waiting after this time (exit code 6); the job goes on");
    options.flag("--dry-run", dry_run_, "only say what is cached and what would be built");
    options.flag("--rebuild", rebuild_, "build even if the catalog has the engines");
    options.flag("--wait-for-workers", wait_for_workers_,
                 "queue for SKUs that no worker has offered yet, instead of refusing");
    options.flag(
        "--provisional", provisional_,
        "untuned engines for SKUs without a worker, built by workers that lack the device");
    options.list("--tag", tags_, "LIST", "tags for the engines; fetch finds them as NAME@TAG");
    options.number("--priority", priority_, {-1000, 1000}, "N",
                   "100 more doubles the job's share (default: 0)");
    options.number("--tuning-workers", tuning_workers_, {1, 64}, "N",
                   "workers that may share one tuning (default: all that are idle)");
    options.flag("--json", json_, "print JSON (enginery.job/1)");
    farm_.declare(options);
    options.about(
        "The model is read and checked here first; one that cannot be built is refused before "
        "anything travels (exit code 9).\n"
        "Without --wait stdout is the job's id. Ctrl-C while waiting leaves the job alone and says "
        "how to attach again.\n"
        "Exit codes with --wait: 0 every target is done, 8 some failed, 1 all failed.\n\n"
        "  enginery submit resnet50.onnx --target h200,v100-sxm2-16g,this --precision fp16 --wait");
  }

  Result<ExitCode> run(Session& session) override {
    Console& console = session.console;
    TRY(BuildOptions options, flags_.resolve());
    TRY(const auto calibration, read_calibration_file(flags_, options));
    if (!flags_.has_data() && !flags_.preprocess.empty())
      return Error{ErrorCode::usage,
                   "--preprocess: there is no --calib-data and no --accuracy-data to prepare"};
    SubmitOptions submit;
    TRY(submit.targets,
        resolve_targets(targets_.empty() ? std::vector<std::string>{"this"} : targets_));
    submit.tags = tags_;
    submit.priority = static_cast<int32_t>(priority_.value_or(0));
    submit.tuning_workers = static_cast<uint32_t>(tuning_workers_.value_or(0));
    submit.rebuild = rebuild_;
    submit.wait_for_workers = wait_for_workers_;
    submit.provisional = provisional_;
    submit.dry_run = dry_run_;
    TRY(PackedModel packed, pack_model_file(model_, name_));
    packed.calibration = calibration;
    TRY(packed.held_out, read_held_out(packed, flags_, provisional_, options, console));
    TRY(packed.calib_data, read_calib_data(packed, flags_, options, console));
    TRY(const LoadedModel model, load_packed(packed, options, console));
    TRY(const auto client, connect(farm_));
    TRY(const auto skus, client->skus());
    const SubmitRequest request = make_submit_request(packed, model, options, submit, skus);
    TRY(const JobView job, send_submission(*client, packed, request, console));
    return report(*client, packed, request, job, console);
  }

 private:
  Result<ExitCode> report(Client& client, const PackedModel& packed, const SubmitRequest& request,
                          const JobView& job, Console& console) const {
    const OutputForm form = output_form(json_);
    if (dry_run_) {
      print_job(job, form, console);
      return ExitCode::ok;
    }
    if (!wait_) {
      report_accepted(job, form, console);
      return ExitCode::ok;
    }
    console.note("job " + job.id);
    FollowOptions follow;
    if (timeout_seconds_) follow.timeout = std::chrono::seconds(*timeout_seconds_);
    TRY(const JobView ended, follow_submission(client, packed, request, job, follow, console));
    return report_end(ended, form, console);
  }

  BuildFlags flags_;
  FarmOptions farm_;
  std::string model_, name_;
  std::vector<std::string> targets_, tags_;
  std::optional<int64_t> timeout_seconds_, priority_, tuning_workers_;
  bool wait_ = false, dry_run_ = false, rebuild_ = false, wait_for_workers_ = false,
       provisional_ = false, json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_submit() {
  return std::make_unique<SubmitCommand>();
}

}  // namespace enginery
