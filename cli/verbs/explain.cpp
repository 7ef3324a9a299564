// explain: what each target of a job waits for, and why each worker does or does not run it.
#include <nlohmann/json.hpp>

#include "cli/farm/farm.h"
#include "cli/output/json_output.h"
#include "cli/verbs/verbs.h"

namespace enginery {
namespace {

Json target_json(const ExplainView& target) {
  Json candidates = Json::array();
  for (const CandidateView& candidate : target.candidates) {
    candidates.push_back({{"worker", candidate.worker}, {"reason", candidate.reason}});
  }
  return {{"sku", target.sku},
          {"step", target.step},
          {"reason", target.reason},
          {"candidates", candidates}};
}

class ExplainCommand final : public Command {
 public:
  void declare(Options& options) override { question_.declare(options, "enginery.explain/1"); }

  Result<ExitCode> run(Session& session) override {
    TRY(const auto client, connect(question_.farm));
    TRY(const auto targets, client->explain(question_.job));
    if (question_.json) {
      Json rows = Json::array();
      for (const ExplainView& target : targets) rows.push_back(target_json(target));
      print_json(session.console,
                 {{"schema", "enginery.explain/1"}, {"job", question_.job}, {"targets", rows}});
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
