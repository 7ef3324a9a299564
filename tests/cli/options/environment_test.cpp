// Variables with a slip in their name are said, with the one that was meant.
#include "cli/options/environment.h"

#include <gtest/gtest.h>

namespace enginery {
namespace {

TEST(Environment, OfKnownVariablesAndForeignOnesNothingIsSaid) {
  std::vector<std::string> variables{"PATH=/bin", "HOME=/root", "MY_ENGINERY_X=1",
                                     "ENGINERY_TEST_SEED=4", "ENGINERY_PYTHON=/usr/bin/python3"};
  for (const std::string& name : known_variables()) variables.push_back(name + "=1");
  EXPECT_GT(variables.size(), 20u);
  EXPECT_TRUE(unknown_variables(variables).empty());
}

TEST(Environment, WhatNothingReadsIsNamedWithTheNearest) {
  EXPECT_EQ(unknown_variables({"ENGINERY_THRAEDS=2", "ENGINERY_FOO=", "ENGINERY_LOG_LEVELS=info",
                               "ENGINERY_HOMES=/x"}),
            (std::vector<std::string>{
                "the environment variable ENGINERY_FOO changes nothing: there is no such setting "
                "(enginery config show lists them)",
                "the environment variable ENGINERY_HOMES changes nothing: there is no such "
                "setting; did you mean ENGINERY_HOME?",
                "the environment variable ENGINERY_LOG_LEVELS changes nothing: there is no such "
                "setting; did you mean ENGINERY_LOG_LEVEL?",
                "the environment variable ENGINERY_THRAEDS changes nothing: there is no such "
                "setting; did you mean ENGINERY_THREADS?"}));
}

}  // namespace
}  // namespace enginery
