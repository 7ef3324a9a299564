// Settings from outside the command line: environment > project file > user file > system file >
// default.
//
// Where: Options asks for the values of options that were not given; `config show --origin` prints
// all. The files are TOML with the settings' names as top-level keys (cli/README.md). Threads: as
// any value once loaded.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"

namespace enginery {

// One row of the list of settings; its name is the long option that it gives a value to.
struct Setting {
  std::string_view name;
  std::string_view fallback;  // "" means that the verb decides
  std::string_view summary;
};

const std::vector<Setting>& settings();

// The environment variable of a setting: "log-level" -> "ENGINERY_LOG_LEVEL".
std::string environment_name(std::string_view setting);

struct SettingValue {
  std::string value;
  std::string origin;  // "environment ENGINERY_THREADS", "project file /x/enginery.toml", "default"
};

// Where the three files are; empty paths are skipped.
struct ConfigurationFiles {
  std::filesystem::path
      project;  // enginery.toml in the working folder or the nearest one above that has it
  std::filesystem::path
      user;  // $ENGINERY_HOME/config.toml, else $XDG_CONFIG_HOME/enginery/config.toml
  std::filesystem::path system;  // /etc/enginery/config.toml

  static ConfigurationFiles of_this_process();
};

class Configuration {
 public:
  // Reads what exists. usage: a file that is not TOML, an unknown key (with the nearest ones), a
  // value that is neither text, number nor boolean; the message names file and line.
  static Result<Configuration> load(const ConfigurationFiles& files);

  // The value and where it comes from; nothing where it is not set and has no default.
  std::optional<SettingValue> find(std::string_view name) const;

 private:
  std::map<std::string, SettingValue, std::less<>> values_;
};

}  // namespace enginery
