// The help of every verb, as committed in tests/cli/golden/help: scripts and people rely on it.
// After a change: ENGINERY_UPDATE_GOLDEN=1 build/debug/tests/cli/cli_test --gtest_filter='*Help*'
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "cli/command_line.h"
#include "cli/verbs/verbs.h"
#include "tests/cli/fake_console.h"
#include "tests/support/golden.h"

namespace enginery {
namespace {

namespace fs = std::filesystem;

const fs::path kHelpFolder = fs::path(ENGINERY_SOURCE_DIR) / "tests/cli/golden/help";

std::string help_of(const std::vector<std::string>& words) {
  FakeConsole fake;
  EXPECT_EQ(run_command_line(words, fake.console()), ExitCode::ok);
  EXPECT_EQ(fake.err(), "");
  return fake.out();
}

std::vector<std::string> verb_names() {
  std::vector<std::string> names;
  for (const Verb& verb : verbs()) names.push_back(verb.name);
  return names;
}

class VerbHelp : public testing::TestWithParam<std::string> {};

TEST_P(VerbHelp, IsTheCommittedText) {
  const std::string help = help_of({GetParam(), "--help"});
  test::expect_golden(kHelpFolder / (GetParam() + ".txt"), help);
  EXPECT_EQ(help_of({"help", GetParam()}), help);
}

INSTANTIATE_TEST_SUITE_P(Verbs, VerbHelp, testing::ValuesIn(verb_names()), [](const auto& verb) {
  std::string name = verb.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST(Help, TheOverviewIsTheCommittedText) {
  const std::string help = help_of({"--help"});
  test::expect_golden(kHelpFolder / "enginery.txt", help);
  EXPECT_EQ(help_of({"help"}), help);
}

TEST(Help, EveryCommittedTextIsAVerbs) {
  for (const auto& entry : fs::directory_iterator(kHelpFolder)) {
    const std::string name = entry.path().stem().string();
    EXPECT_TRUE(name == "enginery" || find_verb(name)) << entry.path() << " has no verb";
  }
}

TEST(Help, NoLineIsWiderThanATerminalsWindow) {
  for (const std::string& name : verb_names()) {
    std::istringstream lines(help_of({name, "--help"}));
    for (std::string line; std::getline(lines, line);)
      EXPECT_LE(line.size(), 160u) << name << ": " << line;
  }
}

}  // namespace
}  // namespace enginery
