#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <set>

#include "cli/command_line.h"
#include "cli/output/json_output.h"
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

// Scripts read why it failed where they read everything else.
TEST(CommandLine, UnderJsonAnErrorIsADocumentOnStdout) {
  const TemporaryHome home;
  const std::pair<std::vector<std::string>, std::string> rows[] = {
      {{"build", "--json"}, "usage"},
      {{"bench", home.file("no.engine"), "--json"}, "not_found"},
      {{"catalog", "ls", "--json"}, "not_found"},
      {{"jobs", "--json"}, "unavailable"},
  };
  for (const auto& [words, code] : rows) {
    FakeConsole fake;
    const ExitCode exit = run_command_line(words, fake.console());
    const Json json = Json::parse(fake.out());
    EXPECT_EQ(json["schema"], "enginery.error/1");
    EXPECT_EQ(json["error"]["code"], code);
    EXPECT_EQ(json["exit_code"], static_cast<int>(exit));
    const std::string message = json["error"]["message"];
    EXPECT_NE(fake.err().find(message.substr(message.find(": ") + 1)), std::string::npos)
        << "people read the same: " << fake.err();
  }
  FakeConsole without;  // drain has no such option
  EXPECT_EQ(run_command_line({"coordinator", "--json", "--nonsense"}, without.console()),
            ExitCode::usage);
  EXPECT_EQ(without.out(), "");
}

TEST(CommandLine, AnOptionBeforeTheCommandSaysWhereItGoes) {
  FakeConsole fake;
  EXPECT_EQ(run_command_line({"--json", "jobs"}, fake.console()), ExitCode::usage);
  EXPECT_NE(fake.err().find("enginery jobs --json"), std::string::npos) << fake.err();
}

TEST(CommandLine, AcceptedOptionsOfTrtexecSayWhatTheyMeanHere) {
  FakeConsole fake;
  EXPECT_EQ(run_command_line({"build", "--onnx=/no/model.onnx", "--skipInference"}, fake.console()),
            ExitCode::not_found);
  EXPECT_TRUE(fake.err().starts_with("--skipInference of trtexec is accepted: ")) << fake.err();
  FakeConsole refused;
  EXPECT_EQ(run_command_line({"build", "--onnx=m.onnx", "--useDLACore=0"}, refused.console()),
            ExitCode::usage);
  EXPECT_NE(refused.err().find("--useDLACore of trtexec: there is no support for DLA"),
            std::string::npos);
}

TEST(CommandLine, ASettingThatDoesNotFitIsNotBlamedOnAnOption) {
  const TemporaryHome home;
  setenv("ENGINERY_THREADS", "abc", 1);
  FakeConsole fake;
  EXPECT_EQ(run_command_line({"bench", "x.engine"}, fake.console()), ExitCode::usage);
  unsetenv("ENGINERY_THREADS");
  EXPECT_NE(fake.err().find("the setting threads (enginery config show --origin"),
            std::string::npos)
      << fake.err();
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
