// doctor: what this machine has, what it lacks, and the commands that repair it.
#include <nlohmann/json.hpp>

#include "cli/local/doctor_checks.h"
#include "cli/output/json_output.h"
#include "cli/output/table.h"
#include "cli/verbs/verbs.h"

namespace enginery {
namespace {

const char* word_of(Health health) {
  return health == Health::ok ? "ok" : "warn";
}

class DoctorCommand final : public Command {
 public:
  void declare(Options& options) override {
    options.flag("--json", json_, "print JSON (enginery.doctor/1)");
    options.about("Each line says ok or warn; a warning names the command that repairs it.");
  }

  Result<ExitCode> run(Session& session) override {
    std::vector<Finding> findings;
    for (const DoctorCheck& check : doctor_checks()) {
      for (Finding& finding : check.look()) findings.push_back(std::move(finding));
    }
    if (json_) {
      Json rows = Json::array();
      for (const Finding& finding : findings) {
        rows.push_back(
            {{"subject", finding.subject},
             {"health", word_of(finding.health)},
             {"detail", valid_utf8(finding.detail)},
             {"mend", finding.fix.empty() ? Json(nullptr) : Json(valid_utf8(finding.fix))}});
      }
      print_json(session.console, {{"schema", "enginery.doctor/1"}, {"findings", rows}});
      return ExitCode::ok;
    }
    Console& console = session.console;
    size_t width = 0;
    for (const Finding& finding : findings) width = std::max(width, finding.subject.size());
    for (const Finding& finding : findings) {
      const Style style = finding.health == Health::ok ? Style::good : Style::warning;
      const std::string health = finding.health == Health::ok ? "ok  " : "warn";
      const std::string subject =
          finding.subject + std::string(width - finding.subject.size(), ' ');
      console.print_line(console.styled(style, health) + "  " + subject + "  " + finding.detail);
      if (!finding.fix.empty())
        console.print_line(std::string(width + 8, ' ') + "fix: " + finding.fix);
    }
    return ExitCode::ok;
  }

 private:
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_doctor() {
  return std::make_unique<DoctorCommand>();
}

}  // namespace enginery
