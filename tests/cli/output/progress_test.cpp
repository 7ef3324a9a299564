#include "cli/output/progress.h"

#include <gtest/gtest.h>

#include "tests/cli/fake_console.h"
#include "tests/support/fake_clock.h"

namespace enginery {
namespace {

using test::FakeClock;

TEST(Progress, LinesElsewhereArePrintedForEveryPhaseAndOtherwiseEveryFiveSeconds) {
  FakeConsole fake;
  FakeClock clock;
  ProgressDisplay display(fake.console(), clock);
  for (uint64_t done = 0; done < 120; ++done) {  // 12 seconds of tuning
    display.show({{"cpu-avx2", "tuning", done, 120, 0, ""}});
    clock.advance(std::chrono::milliseconds(100));
  }
  for (int i = 0; i < 6; ++i) {
    display.show({{"cpu-avx2", "verifying", 0, 0, 0, ""}});
    clock.advance(std::chrono::milliseconds(100));
  }
  EXPECT_EQ(fake.err(),
            "cpu-avx2: tuning 0/120\ncpu-avx2: tuning 50/120\ncpu-avx2: tuning 100/120\ncpu-avx2: "
            "verifying\n");
  EXPECT_EQ(fake.out(), "");
}

TEST(Progress, PhasesThatPassAtOnceAreNotPrinted) {
  FakeConsole fake;
  FakeClock clock;
  ProgressDisplay display(fake.console(), clock);
  for (const char* phase :
       {"queued", "assembling", "verifying", "signing", "done", "done", "done"}) {
    display.show({{"a", phase, 0, 0, 0, ""}});
    clock.advance(std::chrono::milliseconds(300));
  }
  EXPECT_EQ(fake.err(), "a: queued\na: done\n");
}

TEST(Progress, NothingIsPrintedTwice) {
  FakeConsole fake;
  FakeClock clock;
  ProgressDisplay display(fake.console(), clock);
  for (int i = 0; i < 10; ++i) {
    display.show({{"a", "queued", 0, 0, 0, ""}});
    clock.advance(std::chrono::seconds(60));
  }
  EXPECT_EQ(fake.err(), "a: queued\n");
}

// On a narrow terminal the bar gives way to the numbers.
TEST(Progress, TheTimeThatIsLeftIsSeenAtEveryWidth) {
  const ProgressRow row{"cpu-avx512-vnni", "tuning network", 5, 28, 8.7, ""};
  for (const int columns : {60, 80, 100}) {
    const std::string bar = progress_bar(row, row.label.size(), columns);
    EXPECT_LT(bar.size(), static_cast<size_t>(columns));
    EXPECT_TRUE(bar.ends_with("  5/28  ETA 8.7 s")) << bar;
  }
  EXPECT_NE(progress_bar(row, 15, 100).find("[###-----------------]"), std::string::npos);
}

TEST(Progress, BarsAreRedrawnInPlaceAtMostTenTimesASecond) {
  FakeConsole fake(Terminal{true, false});
  FakeClock clock;
  ProgressDisplay display(fake.console(), clock);
  display.show({{"a", "queued", 0, 0, 0, ""}});
  display.show({{"a", "tuning", 0, 0, 0, ""}});
  clock.advance(std::chrono::milliseconds(100));
  display.show({{"a", "signing", 0, 0, 0, ""}});
  display.finish();
  display.finish();
  const std::string erase = "\x1b[1A\r\x1b[J";
  EXPECT_EQ(fake.err(), "a  queued\n" + erase + "a  signing\n" + erase);
}

TEST(Progress, BarsComeBackBelowAMessage) {
  FakeConsole fake(Terminal{true, false});
  FakeClock clock;
  ProgressDisplay display(fake.console(), clock);
  display.show({{"a", "queued", 0, 0, 0, ""}});
  fake.console().note("a message");
  display.show({{"a", "queued", 0, 0, 0, ""}});
  display.finish();
  const std::string erase = "\x1b[1A\r\x1b[J";
  EXPECT_EQ(fake.err(), "a  queued\n" + erase + "a message\na  queued\n" + erase);
}

TEST(ProgressBar, ShowsPhaseBarAndEtaWithinTheTerminal) {
  const ProgressRow row{"cpu-avx2", "tuning", 50, 100, 12, ""};
  EXPECT_EQ(progress_bar(row, 10, 100),
            "cpu-avx2    tuning       [##########----------]  50/100  ETA 12 s");
  EXPECT_LT(progress_bar(row, 10, 40).size(), 40u);
  EXPECT_EQ(progress_bar({"a", "queued", 0, 0, 0, ""}, 1, 80), "a  queued");
}

}  // namespace
}  // namespace enginery
