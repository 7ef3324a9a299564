// Settings from outside the command line: environment > project file > user file > system file >
// default. A project's file may come from anybody: it sets no guarded setting.
//
// Where: Options takes from here the values of options that were not given; `config show --origin`
// prints all. The files are TOML with the settings' names as top-level keys (cli/README.md).
// Threads: as any value once loaded.
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
  std::string_view fallback;  // "": the verb decides
  std::string_view summary;
  // Says where models go, or which files are used: not taken from a project's file, which came with
  // somebody's repository, unless that folder is trusted.
  bool guarded = false;
};

// In the order in which `config show` prints them.
const std::vector<Setting>& settings();

// The environment variable of a setting: "log-level" -> "ENGINERY_LOG_LEVEL".
std::string environment_name(std::string_view setting);

// A value and where it comes from.
struct SettingValue {
  std::string value;
  std::string origin;  // "environment ENGINERY_THREADS", "project file /x/enginery.toml", "default"
  // Whether it is to be obeyed. untrusted: a guarded setting of a project that is not trusted, with
  // what would trust it.
  Status trusted = {};
};

// Where the three files are; empty paths are skipped.
struct ConfigurationFiles {
  // enginery.toml in the working folder, or in the nearest folder above that has one.
  std::filesystem::path project;
  // $ENGINERY_HOME/config.toml, else $XDG_CONFIG_HOME/enginery/config.toml.
  std::filesystem::path user;
  // /etc/enginery/config.toml.
  std::filesystem::path system;

  static ConfigurationFiles of_this_process();
};

class Configuration {
 public:
  // Reads the files that exist and the environment. Errors: usage (a file that is not TOML, an
  // unknown key, a value that is neither text, number nor boolean), naming file and line.
  static Result<Configuration> load(const ConfigurationFiles& files);

  // The value and where it comes from; nothing where it is not set and has no default.
  std::optional<SettingValue> find(std::string_view name) const;

 private:
  std::map<std::string, SettingValue, std::less<>> values_;
};

}  // namespace enginery
