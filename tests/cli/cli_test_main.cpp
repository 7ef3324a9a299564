// The tests' program, which is its own runner, coordinator and worker, as `enginery` is: verbs
// start it with such a verb, and no test of them may start all the tests again.
#include <gtest/gtest.h>

#include <cstdio>

#include "cli/command_line.h"

int main(int argc, char** argv) {
  if (argc > 1 && argv[1][0] != '-') {
    enginery::Console console(stdout, stderr);
    return static_cast<int>(enginery::run_command_line({argv + 1, argv + argc}, console));
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
