// Command: one verb of the command line. main makes it, lets it declare its options, parses, and
// runs it.
//
// Adding a verb: a file with a Command and one line in verbs.cpp (and its make_ function in
// verbs.h).
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "cli/options/configuration.h"
#include "cli/options/options.h"
#include "cli/output/console.h"
#include "cli/output/exit_code.h"

namespace enginery {

// What every verb gets from main.
struct Session {
  Console& console;
  const Configuration& configuration;
};

class Command {
 public:
  virtual ~Command() = default;
  virtual void declare(Options& options) = 0;
  // The exit code, or the Error that main prints and turns into one.
  virtual Result<ExitCode> run(Session& session) = 0;
};

// The headings of `enginery --help`; what is `hidden` is not listed there.
enum class VerbGroup { engines, farm, follow, catalog, care, hidden };

// One row of the list of verbs.
struct Verb {
  std::string_view name;
  VerbGroup group;
  std::string_view summary;
  std::unique_ptr<Command> (*make)();
};

const std::vector<Verb>& verbs();
const Verb* find_verb(std::string_view name);

// `enginery --help`.
std::string overview();

// Parses and runs a whole command line (without the program's name); prints what there is to say;
// never throws.
ExitCode run_command_line(const std::vector<std::string>& arguments, Console& console);

}  // namespace enginery
