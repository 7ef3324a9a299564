#include <gtest/gtest.h>

#include <set>

#include "cli/options/targets.h"
#include "cli/process/supervisor.h"
#include "cli/verbs/verbs.h"
#include "engine/device/sku_table.h"
#include "tests/cli/fake_console.h"

namespace enginery {
namespace {

TEST(CommandLine, EveryVerbHasHelpThatNamesItsOptions) {
  std::set<std::string_view> names;
  for (const Verb& verb : verbs()) {
    EXPECT_TRUE(names.insert(verb.name).second) << verb.name << " twice";
    FakeConsole fake;
    EXPECT_EQ(run_command_line({std::string(verb.name), "--help"}, fake.console()), ExitCode::ok)
        << verb.name;
    EXPECT_NE(fake.out().find("Usage: enginery " + std::string(verb.name)), std::string::npos)
        << verb.name;
    EXPECT_NE(fake.out().find("--log-level"), std::string::npos) << verb.name;
    const bool listed = overview().find("\n  " + std::string(verb.name) + " ") != std::string::npos;
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

TEST(Targets, UnknownNamesAreUsageAndThisIsTheFirstLocalOne) {
  const auto unknown = resolve_targets({"cpu-avx3"});
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(unknown.error().code, ErrorCode::usage);
  EXPECT_NE(unknown.error().message.find("did you mean"), std::string::npos);
  const auto resolved = resolve_targets({"p4", "this", "p4"});
  ASSERT_TRUE(resolved.ok());
  EXPECT_EQ(*resolved, (std::vector<std::string>{"p4", local_skus().front().name}));
  EXPECT_EQ(resolve_targets({}).error().code, ErrorCode::usage);
}

TEST(RestartDelay, DoublesUpToThirtySeconds) {
  EXPECT_EQ(restart_delay(0), std::chrono::milliseconds(200));
  EXPECT_EQ(restart_delay(1), std::chrono::milliseconds(400));
  EXPECT_EQ(restart_delay(5), std::chrono::milliseconds(6400));
  EXPECT_EQ(restart_delay(100), std::chrono::seconds(30));
}

}  // namespace
}  // namespace enginery
