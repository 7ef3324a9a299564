#include "cli/output/console.h"

#include <gtest/gtest.h>

#include "tests/cli/fake_console.h"

namespace enginery {
namespace {

constexpr Terminal kTerminal{true, true};
const std::string kEraseTwo = "\x1b[2A\r\x1b[J";

TEST(Console, AMessageClearsTheProgressLinesFirst) {
  FakeConsole fake(kTerminal);
  fake.console().show_progress("one\ntwo\n");
  EXPECT_TRUE(fake.console().has_progress());
  fake.console().note("a message");
  EXPECT_FALSE(fake.console().has_progress());
  EXPECT_EQ(fake.err(), "one\ntwo\n" + kEraseTwo + "a message\n");
}

TEST(Console, DataClearsTheProgressLinesFirst) {
  FakeConsole fake(kTerminal);
  fake.console().show_progress("one\ntwo\n");
  fake.console().print_line("data");
  EXPECT_EQ(fake.err(), "one\ntwo\n" + kEraseTwo);
  EXPECT_EQ(fake.out(), "data\n");
}

TEST(Console, ProgressLinesReplaceTheOnesBefore) {
  FakeConsole fake(kTerminal);
  fake.console().show_progress("one\ntwo\n");
  fake.console().show_progress("three\n");
  fake.console().clear_progress();
  fake.console().clear_progress();
  EXPECT_EQ(fake.err(), "one\ntwo\n" + kEraseTwo + "three\n" + "\x1b[1A\r\x1b[J");
}

TEST(Console, MessagesNameTheVerbOnce) {
  FakeConsole fake;
  fake.console().fail({ErrorCode::internal, "before a verb is known"});
  fake.console().set_verb("build");
  fake.console().fail({ErrorCode::internal, "build: it broke"});
  fake.console().fail({ErrorCode::internal, "builder broke"});
  fake.console().warn("slow");
  EXPECT_EQ(fake.err(),
            "enginery: before a verb is known\n"
            "enginery build: it broke\n"
            "enginery build: builder broke\n"
            "enginery build: warning: slow\n");
  EXPECT_EQ(fake.out(), "");
}

TEST(Console, ColoursOnlyWhereTheTerminalHasThem) {
  EXPECT_EQ(FakeConsole().console().styled(Style::good, "ok"), "ok");
  EXPECT_EQ(FakeConsole(kTerminal).console().styled(Style::good, "ok"), "\x1b[32mok\x1b[0m");
}

TEST(Console, AFullDiskBehindStdoutIsAStorageError) {
  std::FILE* full = std::fopen("/dev/full", "w");
  if (!full) GTEST_SKIP() << "no /dev/full here";
  Console console(full, stderr);
  console.print("x");
  const Status flushed = console.flush();
  ASSERT_FALSE(flushed.ok());
  EXPECT_EQ(flushed.error().code, ErrorCode::storage);
  std::fclose(full);
}

}  // namespace
}  // namespace enginery
