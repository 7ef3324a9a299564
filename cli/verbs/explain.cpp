// explain: what each target of a job waits for, and why each worker does or does not run it.
#include <nlohmann/json.hpp>

#include "cli/farm/farm.h"
#include "cli/output/json_output.h"
#include "cli/verbs/verbs.h"
#include "coordinator/views/job_json.h"

namespace enginery {
namespace {

class ExplainCommand final : public Command {
 public:
  void declare(Options& options) override { question_.declare(options, "enginery.explain/1"); }

  Result<ExitCode> run(Session& session) override {
    TRY(const auto client, connect(question_.farm));
    TRY(const auto targets, client->explain(question_.job));
    if (question_.json) {
      print_json(session.console, explain_json(question_.job, targets));
      return ExitCode::ok;
    }
    for (const ExplainView& target : targets) {
      const std::string step = target.step.empty() ? "" : " (" + target.step + ")";
      session.console.print_line(target.sku + step + ": " + target.reason);
      for (const CandidateView& candidate : target.candidates) {
        session.console.print_line("  " + candidate.worker + ": " + candidate.reason);
      }
    }
    return ExitCode::ok;
  }

 private:
  JobQuestion question_;
};

}  // namespace

std::unique_ptr<Command> make_explain() {
  return std::make_unique<ExplainCommand>();
}

}  // namespace enginery
