// A whole command line: from its words to an exit code.
//
// Where: main calls it, and so do tests. Threads: the main thread.
#pragma once

#include <string>
#include <vector>

#include "cli/output/console.h"
#include "cli/output/exit_code.h"

namespace enginery {

// Parses and runs a command line. `arguments`: without the program's name. Prints the result, the
// help or the error; never throws.
ExitCode run_command_line(const std::vector<std::string>& arguments, Console& console);

}  // namespace enginery
