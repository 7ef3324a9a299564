// One command line asked in this process, and what it printed.
#pragma once

#include <string>
#include <vector>

#include "cli/output/exit_code.h"
#include "cli/output/json_output.h"

namespace enginery {

struct Printed {
  ExitCode code = ExitCode::ok;
  std::string out, err;
  Json json() const;  // of stdout
};

Printed ask(const std::vector<std::string>& words);

// A command line that must be refused: its exit code and a part of its one message.
struct Refusal {
  std::vector<std::string> words;
  ExitCode code;
  std::string message;
};

// That it is refused so, by the last line on stderr, which begins with the verb, with nothing on
// stdout.
void expect_refused(const Refusal& refusal);

// That the object has these fields in this order, before any others.
void expect_fields(const Json& object, const std::vector<std::string>& fields);

}  // namespace enginery
