// Command: one verb of the command line. It declares its options and runs; parsing, --help, "did
// you mean", completion and exit codes are the same for all.
//
// Where: command_line.cpp makes the command that the first word names, lets it declare, parses, and
// runs it. How to add a verb: verbs.inc. Threads: one command, on the main thread.
#pragma once

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

}  // namespace enginery
