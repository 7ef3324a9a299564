// doctor: what this machine has, and what to mend.
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
    options.about("Each line says ok or warn; a warning names the command that mends it.");
  }

  Result<ExitCode> run(Session& session) override {
    const std::vector<Finding> findings = all_findings();
    if (json_) {
      Json rows = Json::array();
      for (const Finding& finding : findings) {
        rows.push_back(
            {{"subject", finding.subject},
             {"health", word_of(finding.health)},
             {"detail", valid_utf8(finding.detail)},
             {"mend", finding.mend.empty() ? Json(nullptr) : Json(valid_utf8(finding.mend))}});
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
      if (!finding.mend.empty())
        console.print_line(std::string(width + 8, ' ') + "mend: " + finding.mend);
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
