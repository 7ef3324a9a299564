// The tests' program, which is its own runner, as `enginery` is: `build` starts it with that verb.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>

#include "cli/command_line.h"

int main(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], "runner") == 0) {
    enginery::Console console(stdout, stderr);
    return static_cast<int>(enginery::run_command_line({"runner"}, console));
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
