// doctor: what this machine has, what it lacks, and the commands that repair it; or what of a model
// cannot be built.
#include <nlohmann/json.hpp>

#include "cli/local/doctor_checks.h"
#include "cli/output/json_output.h"
#include "cli/output/table.h"
#include "cli/verbs/verbs.h"
#include "engine/compile/compile.h"
#include "engine/options/options.h"

namespace enginery {
namespace {

const char* word_of(Health health) {
  return health == Health::ok ? "ok" : "warn";
}

// The nodes of a survey, and how many of them are not supported.
struct Totals {
  int64_t nodes = 0, unsupported = 0;
  bool is_supported(const ModelSurvey& survey) const {
    return unsupported == 0 && survey.problems.empty();
  }
};
Totals totals_of(const ModelSurvey& survey) {
  Totals totals;
  for (const auto& [type, found] : survey.operators) {
    totals.nodes += found.nodes;
    totals.unsupported += found.unsupported;
  }
  return totals;
}

Json survey_json(const std::string& file, const ModelSurvey& survey) {
  const Totals totals = totals_of(survey);
  Json operators = Json::array(), problems = Json::array();
  for (const auto& [type, found] : survey.operators) {
    operators.push_back(
        {{"op", valid_utf8(type)},
         {"nodes", found.nodes},
         {"unsupported", found.unsupported},
         {"reason", found.unsupported > 0 ? Json(valid_utf8(found.reason)) : Json(nullptr)},
         {"first_node", found.unsupported > 0 ? Json(valid_utf8(found.first)) : Json(nullptr)}});
  }
  for (const std::string& line : survey.problems) problems.push_back(valid_utf8(line));
  return {{"schema", "enginery.doctor.model/1"},
          {"model", valid_utf8(file)},
          {"supported", totals.is_supported(survey)},
          {"nodes", totals.nodes},
          {"unsupported", totals.unsupported},
          {"unchecked", survey.unchecked},
          {"operators", operators},
          {"problems", problems}};
}

void print_survey(Console& console, const std::string& file, const ModelSurvey& survey) {
  const Totals totals = totals_of(survey);
  const std::string all = file + ": " + std::to_string(totals.nodes) + " nodes of " +
                          std::to_string(survey.operators.size()) + " operators, ";
  if (totals.is_supported(survey)) return console.print_line(all + "all of them supported");
  console.print_line(all + std::to_string(totals.unsupported) + " not supported, " +
                     std::to_string(survey.unchecked) + " behind them not looked at");
  Table table({{"OPERATOR"},
               {"NODES", Align::right},
               {"NOT SUPPORTED", Align::right},
               {"FIRST ONE"},
               {"WHY"}});
  for (const auto& [type, found] : survey.operators) {
    if (found.unsupported > 0)
      table.add({valid_utf8(type), std::to_string(found.nodes), std::to_string(found.unsupported),
                 valid_utf8(found.first), valid_utf8(found.reason)});
  }
  if (!table.empty()) return console.print(table.text());
  for (const std::string& line : survey.problems) console.print_line(valid_utf8(line));
}

class DoctorCommand final : public Command {
 public:
  void declare(Options& options) override {
    options.positional("MODEL", model_, "a model to examine instead of the machine",
                       Presence::optional);
    options.text("--shapes", shapes_, "NAME:DIMS,...", "model: the dimensions of its inputs");
    options.flag("--json", json_, "print JSON (enginery.doctor/1, enginery.doctor.model/1)");
    options.about("Each line says ok or warn; a warning names the command that repairs it.");
    options.about(
        "Of a model it says which operators are not supported, how many nodes and why; exit code 9 "
        "if any.");
  }

  Result<ExitCode> run(Session& session) override {
    if (!model_.empty()) return examine_model(session.console);
    if (!shapes_.empty()) return Error{ErrorCode::usage, "--shapes is of a model; name one"};
    return examine_machine(session);
  }

 private:
  Result<ExitCode> examine_model(Console& console) const {
    TRY(const ModelSource source, read_model(model_));
    ImportOptions options;
    TRY(options.shapes, parse_shapes(shapes_));
    TRY(const ModelSurvey survey, survey_model(source, options));
    for (const std::string& note : survey.notes) console.note(note);
    if (json_)
      print_json(console, survey_json(model_, survey));
    else
      print_survey(console, model_, survey);
    return totals_of(survey).is_supported(survey) ? ExitCode::ok : ExitCode::invalid_input;
  }

  Result<ExitCode> examine_machine(Session& session) const {
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

  std::string model_, shapes_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_doctor() {
  return std::make_unique<DoctorCommand>();
}

}  // namespace enginery
