#include <gtest/gtest.h>

#include <set>

#include "cli/command_line.h"
#include "cli/verbs/verbs.h"
#include "engine/base/file.h"
#include "tests/cli/fake_console.h"
#include "tests/cli/temporary_home.h"

namespace enginery {
namespace {

TEST(CommandLine, EveryVerbHasHelpThatNamesItsOptions) {
  std::set<std::string> names;
  for (const Verb& verb : verbs()) {
    EXPECT_TRUE(names.insert(verb.name).second) << verb.name << " twice";
    FakeConsole fake;
    EXPECT_EQ(run_command_line({verb.name, "--help"}, fake.console()), ExitCode::ok) << verb.name;
    EXPECT_NE(fake.out().find("Usage: enginery " + verb.name), std::string::npos) << verb.name;
    EXPECT_NE(fake.out().find("--log-level"), std::string::npos) << verb.name;
    const bool listed = overview().find("\n  " + verb.name + " ") != std::string::npos;
    EXPECT_EQ(listed, verb.group != VerbGroup::hidden) << verb.name;
  }
}

TEST(CommandLine, AnUnknownVerbIsUsageWithTheNearestName) {
  FakeConsole fake;
  EXPECT_EQ(run_command_line({"sumbit"}, fake.console()), ExitCode::usage);
  EXPECT_NE(fake.err().find("did you mean submit?"), std::string::npos) << fake.err();
  EXPECT_EQ(fake.out(), "");
}

TEST(CommandLine, NothingAtAllIsUsageAndHelpIsOk) {
  FakeConsole nothing, help;
  EXPECT_EQ(run_command_line({}, nothing.console()), ExitCode::usage);
  EXPECT_EQ(run_command_line({"--help"}, help.console()), ExitCode::ok);
  EXPECT_NE(help.out().find("Exit codes"), std::string::npos);
}

TEST(CommandLine, MessagesGoToStderrWithTheVerb) {
  FakeConsole fake;
  EXPECT_EQ(run_command_line({"keys", "--nonsense"}, fake.console()), ExitCode::usage);
  EXPECT_EQ(fake.out(), "");
  EXPECT_TRUE(fake.err().starts_with("enginery keys: unknown option --nonsense")) << fake.err();
}

TEST(CommandLine, AnErrorBecomesTheExitCodeOfItsKind) {
  const TemporaryHome home;
  ASSERT_TRUE(write_file(home.file("not.engine"), "ENGINERY, but nothing more").ok());
  ASSERT_TRUE(write_file(home.file("not.onnx"), "no model").ok());
  const std::pair<std::vector<std::string>, ExitCode> rows[] = {
      {{"build"}, ExitCode::usage},
      {{"bench", home.file("no.engine")}, ExitCode::not_found},
      {{"verify", home.file("not.engine")}, ExitCode::untrusted},
      {{"up", "--skus", "p4"}, ExitCode::incompatible},
      {{"submit", home.file("not.onnx"), "--precision", "int8"}, ExitCode::invalid_input},
      {{"submit", home.file("not.onnx")}, ExitCode::invalid_input},
      {{"catalog", "ls"}, ExitCode::not_found},
      {{"down"}, ExitCode::not_found},
  };
  for (const auto& [words, expected] : rows) {
    FakeConsole fake;
    EXPECT_EQ(run_command_line(words, fake.console()), expected) << words[0] << ": " << fake.err();
    EXPECT_EQ(fake.out(), "") << words[0];
    EXPECT_TRUE(fake.err().starts_with("enginery " + words[0] + ": ")) << fake.err();
  }
}

TEST(CommandLine, LogLevelsAreNamesAndVerboseOnlyRaisesThem) {
  FakeConsole bad;
  EXPECT_EQ(run_command_line({"version", "--log-level", "loud"}, bad.console()), ExitCode::usage);
  FakeConsole good;
  EXPECT_EQ(run_command_line({"version", "-v", "--log-level=error"}, good.console()), ExitCode::ok);
  EXPECT_TRUE(good.out().starts_with("enginery ")) << good.out();
}

}  // namespace
}  // namespace enginery
