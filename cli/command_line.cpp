#include "cli/command_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/options/environment.h"
#include "cli/output/json_output.h"
#include "cli/verbs/verbs.h"
#include "engine/base/did_you_mean.h"
#include "engine/base/log.h"

namespace enginery {
namespace {

// The options that every verb has.
struct CommonOptions {
  bool verbose = false;
  std::string log_level = "warning";

  void declare(Options& options) {
    options.flag("-v,--verbose", verbose, "say more on stderr (as --log-level info)");
    options.text("--log-level", log_level, "LEVEL",
                 "debug, info, warning, error or off (default: warning)");
  }
};

Result<LogLevel> parse_log_level(const CommonOptions& common) {
  const std::pair<std::string_view, LogLevel> levels[] = {{"debug", LogLevel::debug},
                                                          {"info", LogLevel::info},
                                                          {"warning", LogLevel::warning},
                                                          {"error", LogLevel::error},
                                                          {"off", LogLevel::off}};
  for (const auto& [name, level] : levels) {
    if (name != common.log_level) continue;
    return common.verbose && level > LogLevel::info ? LogLevel::info : level;
  }
  return Error{ErrorCode::usage, "--log-level takes debug, info, warning, error or off, not '" +
                                     common.log_level + "'"};
}

Result<ExitCode> run_verb(const Verb& verb, const std::vector<std::string>& arguments,
                          Console& console) {
  const std::unique_ptr<Command> command = verb.make();
  CommonOptions common;
  Options options{verb.name, std::string(verb.summary)};
  command->declare(options);
  common.declare(options);

  TRY(const Configuration configuration,
      Configuration::load(ConfigurationFiles::of_this_process()));
  Status trusted;  // of what the verb takes from files
  const ConfiguredValue configured = [&](std::string_view name) -> std::optional<std::string> {
    const auto value = configuration.find(name);
    if (value && trusted.ok()) trusted = value->trusted;
    return value ? std::optional(value->value) : std::nullopt;
  };
  TRY(const Parsed parsed, options.parse(arguments, configured));
  for (const std::string& note : options.notes()) console.note(note);
  if (parsed == Parsed::help) {
    console.print(options.help(console.table_width()));
    return ExitCode::ok;
  }

  CHECK_OK(trusted);
  TRY(const LogLevel level, parse_log_level(common));
  set_up_log(level, false);
  Session session{console, configuration};
  return command->run(session);
}

// Whether the words ask for JSON of a verb that prints it.
bool wants_json(const Verb& verb, const std::vector<std::string>& words) {
  const auto end = std::find(words.begin(), words.end(), "--");
  if (std::find(words.begin(), end, "--json") == end) return false;
  Options options{verb.name, std::string(verb.summary)};
  verb.make()->declare(options);
  const std::vector<std::string> names = options.names();
  return std::find(names.begin(), names.end(), "--json") != names.end();
}

// A failure for scripts, on stdout; people read the same on stderr.
void print_error(Console& console, const Error& error) {
  print_json(console,
             {{"schema", "enginery.error/1"},
              {"error", {{"code", to_string(error.code)}, {"message", valid_utf8(error.message)}}},
              {"exit_code", static_cast<int>(exit_code(error.code))}});
}

// The command to try next, where the failure is the system's and no layer below knows one.
Error with_next_step(Error error) {
  const bool is_full = error.code == ErrorCode::storage &&
                       error.message.find("No space left on device") != std::string::npos;
  if (is_full)
    error.message +=
        "; free some space (enginery catalog gc removes what nobody needs), or name a folder on "
        "another disk (ENGINERY_HOME, --data, -o)";
  return error;
}

ExitCode finish(Console& console, const Result<ExitCode>& result,
                OutputForm form = OutputForm::text) {
  if (!result.ok()) {
    if (form == OutputForm::json && !console.has_printed())
      print_error(console, with_next_step(result.error()));
    if (const Status flushed = console.flush(); !flushed.ok()) console.fail(flushed.error());
    console.fail(with_next_step(result.error()));
    return exit_code(result.error().code);
  }
  const Status flushed = console.flush();
  if (flushed.ok()) return result.value();
  console.fail(flushed.error());
  return ExitCode::storage;
}

ExitCode unknown_verb(const std::string& name, Console& console) {
  std::vector<std::string> names;
  for (const Verb& verb : verbs()) names.push_back(verb.name);
  const std::string hint = did_you_mean(name, names);
  console.fail({ErrorCode::usage,
                "unknown command '" + name + "'" + hint + " (enginery --help lists them)"});
  return ExitCode::usage;
}

}  // namespace

ExitCode run_command_line(const std::vector<std::string>& arguments, Console& console) {
  if (arguments.empty()) {
    console.note(overview());
    return ExitCode::usage;
  }
  std::string name = arguments.front();
  std::vector<std::string> rest(arguments.begin() + 1, arguments.end());
  if (name == "help" && !rest.empty()) {
    name = rest.front();
    rest = {"--help"};
  }
  if (name == "--help" || name == "-h" || name == "help") {
    console.print(overview(console.table_width()));
    return finish(console, ExitCode::ok);
  }
  if (name == "--version") name = "version";
  if (name.starts_with("-") && rest.size() > 0) {
    console.fail({ErrorCode::usage, "the command comes first, then its options: enginery " +
                                        rest.front() + " " + name});
    return ExitCode::usage;
  }
  const Verb* verb = find_verb(name);
  if (!verb) return unknown_verb(name, console);
  console.set_verb(name);
  // Only where somebody reads it: a hidden verb is another process's.
  if (verb->group != VerbGroup::hidden)
    for (const std::string& unknown : unknown_variables(environment_of_this_process()))
      console.warn(unknown);
  try {
    const OutputForm form = output_form(wants_json(*verb, rest));
    return finish(console, run_verb(*verb, rest, console), form);
  } catch (const std::bad_alloc&) {
    console.fail({ErrorCode::out_of_memory, "out of memory"});
  } catch (const std::exception& error) {
    console.fail({ErrorCode::internal, fmt::format("internal error: {}", error.what())});
  }
  return ExitCode::failed;
}

}  // namespace enginery
