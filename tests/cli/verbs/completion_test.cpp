#include <gtest/gtest.h>

#include "cli/command_line.h"
#include "cli/verbs/verbs.h"
#include "tests/cli/fake_console.h"

namespace enginery {
namespace {

std::string script() {
  FakeConsole fake;
  EXPECT_EQ(run_command_line({"completion"}, fake.console()), ExitCode::ok);
  return fake.out();
}

TEST(Completion, KnowsEveryVerbAndItsOptions) {
  const std::string text = script();
  for (const Verb& verb : verbs()) {
    const bool is_hidden = verb.group == VerbGroup::hidden;
    EXPECT_EQ(text.find(" " + verb.name + " ") != std::string::npos ||
                  text.find("\"" + verb.name + " ") != std::string::npos ||
                  text.find(" " + verb.name + "\"") != std::string::npos,
              !is_hidden)
        << verb.name;
  }
  EXPECT_NE(text.find("    submit) options=\"-h --help --target"), std::string::npos) << text;
}

TEST(Completion, OffersJobsToTheVerbsThatTakeOne) {
  EXPECT_NE(script().find("case $verb in show|logs|trace|wait|explain|cancel|retry|why-miss) "),
            std::string::npos)
      << script();
}

TEST(Completion, IsForBashAlone) {
  FakeConsole fake;
  EXPECT_EQ(run_command_line({"completion", "fish"}, fake.console()), ExitCode::usage);
}

}  // namespace
}  // namespace enginery
