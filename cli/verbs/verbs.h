// Verbs: what `enginery` can do. A Command declares its options and runs; parsing, --help, "did you
// mean", completion and exit codes are the same for all. verbs.inc has one row for each.
//
// Where: command_line.cpp finds a verb by its name, makes its command, lets it declare, parses, and
// runs it; help and completion go through all of them. Threads: the list never changes; one
// command, on the main thread.
#pragma once

#include <memory>
#include <string>
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

  // Called once, before run; the variables that it declares are the command's own members.
  virtual void declare(Options& options) = 0;

  // Returns the exit code. Errors are printed by main and turned into one (exit_code.h).
  virtual Result<ExitCode> run(Session& session) = 0;
};

// The headings of `enginery --help`; what is `hidden` is not listed there.
enum class VerbGroup { engines, farm, jobs, catalog, care, hidden };

struct Verb {
  std::string name;
  VerbGroup group;
  std::string_view summary;
  std::unique_ptr<Command> (*make)();
};

// In the order of `enginery --help`.
const std::vector<Verb>& verbs();

// Null where there is no such verb.
const Verb* find_verb(std::string_view name);

// The text of `enginery --help`.
std::string overview(int columns = 0);

// make_build(), make_run(), ...: each is defined in the file of its verb.
#define ENGINERY_VERB(name, group, summary) std::unique_ptr<Command> make_##name();
#include "cli/verbs/verbs.inc"
#undef ENGINERY_VERB

}  // namespace enginery
