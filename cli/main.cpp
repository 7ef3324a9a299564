// The `enginery` command. What it can do is the list in cli/verbs/verbs.inc.
#include <cstdio>
#include <string>
#include <vector>

#include "cli/command_line.h"

int main(int argc, char** argv) {
  enginery::Console console(stdout, stderr);
  const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
  return static_cast<int>(enginery::run_command_line(arguments, console));
}
