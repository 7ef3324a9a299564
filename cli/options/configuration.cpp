#include "cli/options/configuration.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <cstdlib>

#include "engine/base/did_you_mean.h"
#include "engine/base/file.h"

namespace enginery {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> setting_names() {
  std::vector<std::string> names;
  for (const Setting& setting : settings()) names.emplace_back(setting.name);
  return names;
}

bool is_setting(std::string_view name) {
  for (const Setting& setting : settings()) {
    if (setting.name == name) return true;
  }
  return false;
}

// A scalar as the text that the option would get; nothing for tables, arrays and dates.
std::optional<std::string> scalar_text(const toml::node& node) {
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* number = node.as_integer()) return std::to_string(number->get());
  if (const auto* real = node.as_floating_point()) return fmt::format("{}", real->get());
  if (const auto* boolean = node.as_boolean()) return boolean->get() ? "true" : "false";
  return std::nullopt;
}

Error file_error(const fs::path& file, const toml::source_region& where, std::string_view reason) {
  return {ErrorCode::usage,
          fmt::format("configuration {}:{}: {}", file.string(), where.begin.line, reason)};
}

using Values = std::map<std::string, SettingValue, std::less<>>;

Status read_table(const toml::table& table, const fs::path& file, const std::string& origin,
                  Values& values) {
  for (const auto& [key, node] : table) {
    const std::string name(key.str());
    if (!is_setting(name)) {
      return file_error(file, node.source(),
                        "unknown key '" + name + "'" + did_you_mean(name, setting_names()));
    }
    const auto text = scalar_text(node);
    if (!text)
      return file_error(file, node.source(),
                        "'" + name + "' takes text, a number, or true or false");
    values[name] = {*text, origin};
  }
  return {};
}

Status read_settings(const fs::path& file, std::string_view kind, Values& values) {
  std::error_code ignored;
  if (file.empty() || !fs::exists(file, ignored)) return {};
  TRY(const Bytes bytes, read_file(file, 1 << 20));
  try {
    const toml::table table = toml::parse(bytes, file.string());
    return read_table(table, file, fmt::format("{} file {}", kind, file.string()), values);
  } catch (const toml::parse_error& error) {
    return file_error(file, error.source(), error.description());
  }
}

bool is_guarded(std::string_view name) {
  for (const Setting& setting : settings())
    if (setting.name == name) return setting.guarded;
  return false;
}

constexpr std::string_view kTrustProjects = "trust-projects";

// Whether the user, the system or the environment trusts the project's folder.
bool is_trusted(const fs::path& folder, const Values& values) {
  const char* variable = std::getenv(environment_name(kTrustProjects).c_str());
  const auto found = values.find(kTrustProjects);
  std::string list = variable ? variable : found == values.end() ? "" : found->second.value;
  for (size_t colon; !list.empty(); list.erase(0, colon)) {
    colon = std::min(list.find(':'), list.size());
    std::error_code ignored;
    if (colon > 0 && fs::equivalent(list.substr(0, colon), folder, ignored)) return true;
    colon += colon < list.size();
  }
  return false;
}

Error not_trusted(const fs::path& file, const std::string& name, const std::string& value) {
  return {
      ErrorCode::untrusted,
      fmt::format("project file {} sets {} = \"{}\", and a project's file may come from "
                  "anybody; if you trust it, put trust-projects = \"{}\" into your own "
                  "config.toml, else say --{}",
                  file.string(), name, value.substr(0, 200), file.parent_path().string(), name)};
}

fs::path project_file() {
  std::error_code failed;
  fs::path folder = fs::current_path(failed);
  while (!failed && !folder.empty()) {
    if (fs::exists(folder / "enginery.toml", failed)) return folder / "enginery.toml";
    if (folder == folder.parent_path()) break;
    folder = folder.parent_path();
  }
  return {};
}

fs::path user_file() {
  if (const char* home = std::getenv("ENGINERY_HOME"); home && *home)
    return fs::path(home) / "config.toml";
  if (const char* xdg = std::getenv("XDG_CONFIG_HOME"); xdg && *xdg)
    return fs::path(xdg) / "enginery/config.toml";
  if (const char* home = std::getenv("HOME"); home && *home)
    return fs::path(home) / ".config/enginery/config.toml";
  return {};
}

}  // namespace

const std::vector<Setting>& settings() {
  static const std::vector<Setting> list{
      {"coordinator", "", "address of the coordinator that submit, jobs, fetch, ... talk to", true},
      {"key", "", "file with the key to a coordinator on the network", true},
      {"threads", "", "CPU threads of one inference; without it the cores of the affinity mask"},
      {"level", "", "how hard builds search, 0..5"},
      {"precision", "", "arithmetic that builds may use"},
      {"skus", "", "the SKUs that `up` starts workers for"},
      {"data", "", "data folder of `coordinator` and `worker`", true},
      {"listen", "", "control address of `coordinator`", true},
      {"bulk-listen", "", "bulk address of `coordinator`", true},
      {"quota", "", "most gigabytes that the catalog of `coordinator` may take"},
      {"keep-jobs", "", "ended jobs that `coordinator` remembers"},
      {"keep-days", "", "how many days `coordinator` keeps ended jobs, their logs and events"},
      {"trust-projects", "", "folders whose enginery.toml may name a coordinator; a : between them",
       true},
      {"log-level", "warning", "lowest level of log messages: debug, info, warning, error, off"},
  };
  return list;
}

std::string environment_name(std::string_view setting) {
  std::string name = "ENGINERY_";
  for (const char c : setting)
    name += c == '-' ? '_' : static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  return name;
}

ConfigurationFiles ConfigurationFiles::of_this_process() {
  return {project_file(), user_file(), "/etc/enginery/config.toml"};
}

Result<Configuration> Configuration::load(const ConfigurationFiles& files) {
  Configuration configuration;
  Values& values = configuration.values_;
  for (const Setting& setting : settings()) {
    if (!setting.fallback.empty())
      values[std::string(setting.name)] = {std::string(setting.fallback), "default"};
  }
  CHECK_OK(read_settings(files.system, "system", values));
  CHECK_OK(read_settings(files.user, "user", values));
  Values of_project;
  CHECK_OK(read_settings(files.project, "project", of_project));
  const bool trusted = is_trusted(files.project.parent_path(), values);
  for (auto& [name, value] : of_project) {
    if (is_guarded(name) && !trusted) value.trusted = not_trusted(files.project, name, value.value);
    values[name] = std::move(value);
  }
  for (const Setting& setting : settings()) {
    const std::string variable = environment_name(setting.name);
    const char* value = std::getenv(variable.c_str());
    if (value && *value) values[std::string(setting.name)] = {value, "environment " + variable};
  }
  return configuration;
}

std::optional<SettingValue> Configuration::find(std::string_view name) const {
  const auto found = values_.find(name);
  if (found == values_.end()) return std::nullopt;
  return found->second;
}

}  // namespace enginery
