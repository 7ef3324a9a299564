// config show: the settings, their values and where each comes from.
#include <map>
#include <nlohmann/json.hpp>

#include "cli/output/json_output.h"
#include "cli/output/table.h"
#include "cli/verbs/verbs.h"

namespace enginery {
namespace {

class ConfigCommand final : public Command {
 public:
  void declare(Options& options) override {
    options.positional("ACTION", action_, "show");
    options.flag("--origin", origin_, "say where each value comes from");
    options.flag("--json", json_, "print JSON (enginery.config/1)");
    options.about(
        "Flags come first, then the environment (ENGINERY_THREADS, ENGINERY_LOG_LEVEL, ...), the "
        "project file (enginery.toml here\n"
        "or in a folder above), the user file ($XDG_CONFIG_HOME/enginery/config.toml, or "
        "$ENGINERY_HOME/config.toml) and the\n"
        "system file (/etc/enginery/config.toml). The files are TOML:\n\n"
        "  coordinator = \"tcp://127.0.0.1:7000\"\n  threads = 2");
  }

  Result<ExitCode> run(Session& session) override {
    if (action_ != "show")
      return Error{ErrorCode::usage, "unknown action '" + action_ + "'; there is: show"};
    return json_ ? show_json(session) : show(session);
  }

 private:
  Result<ExitCode> show(Session& session) const {
    std::vector<Column> columns{{"SETTING"}, {"VALUE"}};
    columns.push_back({origin_ ? "ORIGIN" : "MEANING"});
    Table table(columns);
    for (const Setting& setting : settings()) {
      const auto value = session.configuration.find(setting.name);
      std::string last =
          origin_ ? (value ? value->origin : "not set") : std::string(setting.summary);
      table.add({std::string(setting.name), value ? value->value : "", std::move(last)});
    }
    session.console.print(table.text(session.console.table_width()));
    return ExitCode::ok;
  }

  Result<ExitCode> show_json(Session& session) const {
    Json rows = Json::array();
    for (const Setting& setting : settings()) {
      const auto value = session.configuration.find(setting.name);
      rows.push_back({{"name", setting.name},
                      {"value", value ? Json(valid_utf8(value->value)) : Json(nullptr)},
                      {"origin", value ? Json(valid_utf8(value->origin)) : Json(nullptr)}});
    }
    print_json(session.console, {{"schema", "enginery.config/1"}, {"settings", rows}});
    return ExitCode::ok;
  }

  std::string action_;
  bool origin_ = false, json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_config() {
  return std::make_unique<ConfigCommand>();
}

}  // namespace enginery
