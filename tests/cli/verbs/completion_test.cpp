#include <gtest/gtest.h>

#include <cstdlib>
#include <sstream>

#include "cli/verbs/verbs.h"
#include "engine/base/file.h"
#include "tests/cli/temporary_home.h"
#include "tests/cli/verbs/ask.h"

namespace enginery {
namespace {

std::vector<std::string> completed(const std::vector<std::string>& words) {
  std::vector<std::string> line{"completion", "--words", "--"};
  line.insert(line.end(), words.begin(), words.end());
  const Printed printed = ask(line);
  EXPECT_EQ(printed.code, ExitCode::ok) << printed.err;
  std::vector<std::string> found;
  std::istringstream lines(printed.out);
  for (std::string word; std::getline(lines, word);) found.push_back(word);
  return found;
}

TEST(Completion, KnowsEveryVerbButTheHiddenOnes) {
  const TemporaryHome home;
  std::vector<std::string> expected;
  for (const Verb& verb : verbs())
    if (verb.group != VerbGroup::hidden) expected.push_back(verb.name);
  EXPECT_EQ(completed({""}), expected);
}

TEST(Completion, OffersTheActionsOfTheVerbsThatHaveSome) {
  const TemporaryHome home;  // without a farm nothing is live
  const struct {
    std::vector<std::string> words, expected;
  } rows[] = {
      {{"catalog", "un"}, {"unpin"}},
      {{"cache", "timing", "cl"}, {"clear"}},
      {{"cache", ""}, {"timing", "calibration"}},
      {{"config", ""}, {"show"}},
      {{"completion", ""}, {"bash", "zsh", "fish"}},
      {{"show", ""}, {}},
      {{"build", "--err"}, {"--error-on-timing-cache-miss"}},
  };
  for (const auto& row : rows) EXPECT_EQ(completed(row.words), row.expected) << row.words[0];
}

TEST(Completion, HasAScriptForEachShell) {
  for (const char* shell : {"bash", "zsh", "fish"}) {
    const Printed script = ask({"completion", shell});
    EXPECT_EQ(script.code, ExitCode::ok);
    EXPECT_NE(script.out.find("completion --words -- "), std::string::npos) << shell;
  }
  EXPECT_EQ(ask({"completion"}).out, ask({"completion", "bash"}).out);
  expect_refused({{"completion", "fsh"}, ExitCode::usage, "there is: bash, zsh, fish"});
}

// bash breaks words at '=', so what it gets to insert is the part behind it.
TEST(Completion, TheScriptOfBashCompletesBehindAnEqualsSign) {
  const TemporaryHome home;
  const std::string fake = home.file("enginery"), script = home.file("script");
  ASSERT_TRUE(write_file(fake,
                         "#!/bin/sh\nshift 3\nfor w; do :; done\n"
                         "echo \"${w}avx2\"\necho \"${w}avx512\"\n",
                         0755)
                  .ok());
  ASSERT_TRUE(write_file(script, ask({"completion", "bash"}).out + "COMP_LINE='" + fake +
                                     " submit --target=h200,cpu-'\n"
                                     "COMP_POINT=${#COMP_LINE}\n_enginery\n"
                                     "printf '%s\\n' \"${COMPREPLY[@]}\" > " +
                                     home.file("out") + "\n")
                  .ok());
  ASSERT_EQ(std::system(("bash " + script).c_str()), 0);
  EXPECT_EQ(*read_file(home.file("out")), "h200,cpu-avx2\nh200,cpu-avx512\n");
}

}  // namespace
}  // namespace enginery
