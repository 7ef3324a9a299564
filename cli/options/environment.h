// The environment variables that enginery reads, and what looks like one and is none: a variable
// with a slip in its name would else change nothing without a word.
//
// Where: main warns of them before a verb runs. Free functions without state.
#pragma once

#include <string>
#include <vector>

namespace enginery {

// Every variable of this project that a user may set: the settings' (configuration.h), and those of
// the command, its libraries and the Python package that are no settings.
std::vector<std::string> known_variables();

// A sentence for each ENGINERY_... of `variables` ("NAME=value") that nothing reads, in the order
// of their names. Those of the project's own tests are left alone.
std::vector<std::string> unknown_variables(const std::vector<std::string>& variables);

// This process's, as "NAME=value".
std::vector<std::string> environment_of_this_process();

}  // namespace enginery
