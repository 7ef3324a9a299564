#include "worker/runner/runner_process.h"

#include <gtest/gtest.h>

#include "tests/worker/runner/shell_runner.h"

namespace enginery {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

using test::Heard;
using test::listen;
using test::shell;

Heard run(const std::string& script) {
  return test::run_shell(script);
}

TEST(RunnerProcess, HearsReportsAndOutput) {
  const Heard heard = run(R"(read request
    echo to stdout; echo to stderr >&2
    echo '{"progress":["tuning",1,2,0]}' >&3
    echo 'nonsense' >&3
    echo '{"want_timings":["d","p"]}' >&3
    read answer; echo "$answer"
    echo '{"end":{"kind":"succeeded","outputs":[],"metrics":[["m",2]],"facts":[]}}' >&3
    echo -n last)");
  EXPECT_EQ(heard.end.kind, OutcomeKind::succeeded);
  ASSERT_EQ(heard.end.metrics.size(), 1u);
  ASSERT_EQ(heard.reports.size(), 1u);
  EXPECT_EQ(std::get<Progress>(heard.reports[0]).done, 1u);
  for (const char* text : {"to stdout", "to stderr", "nonsense", "last", "d of p"})
    EXPECT_TRUE(heard.printed(text)) << text;
}

TEST(RunnerProcess, SaysWhenTheProgramIsNotThere) {
  auto process =
      RunnerProcess::start({{"/nonexistent/enginery", "runner"}, {}, milliseconds(1000)});
  ASSERT_TRUE(process.ok());
  EXPECT_EQ(listen(**process).end.kind, OutcomeKind::internal);
}

TEST(RunnerProcess, GivesOnlyTheEnvironmentThatItWasTold) {
  const Heard heard = run("env");
  EXPECT_NE(std::find(heard.output.begin(), heard.output.end(), "ONLY=this"), heard.output.end());
  for (const std::string& line : heard.output)
    EXPECT_EQ(line.find("HOME="), std::string::npos) << line;
}

TEST(RunnerProcess, CancelsPolitelyAndThenForGood) {
  const auto start = steady_clock::now();
  const auto after = [](milliseconds wait) {
    return [at = steady_clock::now() + wait] { return steady_clock::now() >= at; };
  };
  auto polite = shell("trap 'exit 0' TERM; while :; do sleep 0.05; done");
  EXPECT_EQ(listen(*polite, after(milliseconds(0))).end.kind, OutcomeKind::cancelled);
  EXPECT_FALSE(polite->crashed());
  auto deaf = shell("trap '' TERM; while :; do sleep 0.05; done", milliseconds(300));
  EXPECT_EQ(listen(*deaf, after(milliseconds(200))).end.kind, OutcomeKind::cancelled);
  EXPECT_LT(steady_clock::now() - start, std::chrono::seconds(20));
}

// A line without an end is no way to fill the memory of whoever listens.
TEST(RunnerProcess, CutsALineThatDoesNotEnd) {
  const std::string endless = "head -c 60000000 /dev/zero | tr '\\0' x ";
  const Heard heard = run(endless + ">&3; echo >&3; " + endless + "; echo; " + test::kSucceed);
  EXPECT_EQ(heard.end.kind, OutcomeKind::succeeded) << heard.end.fault.message;
  EXPECT_TRUE(heard.printed("runner: not a report: xxx"));
  EXPECT_GE(heard.output.size(), 6u);
  for (const std::string& line : heard.output) EXPECT_LT(line.size(), size_t{17} << 20);
}

TEST(RunnerProcess, StaysForTheNextRequestWhereItIsAskedTo) {
  const auto process = shell("for i in 1 2; do read request; echo did it; " +
                             std::string(test::kSucceed) + "; done; read request");
  RunnerRequest request;
  request.stays = true;
  const auto nobody_cancels = [] { return false; };
  for (int i = 0; i < 2; ++i) {
    const Heard heard = listen(*process, nobody_cancels, request);
    EXPECT_EQ(heard.end.kind, OutcomeKind::succeeded);
    EXPECT_TRUE(heard.printed("did it"));
    EXPECT_TRUE(process->waits());
  }
  EXPECT_EQ(listen(*process, nobody_cancels, request).end.kind, OutcomeKind::crashed);
  EXPECT_TRUE(process->crashed());
  EXPECT_FALSE(process->waits());
}

TEST(RunnerProcess, IsNotEndedByTheTerminal) {
  EXPECT_EQ(
      run("kill -INT $$; echo "
          "'{\"end\":{\"kind\":\"succeeded\",\"outputs\":[],\"metrics\":[],\"facts\":[]}}' >&3")
          .end.kind,
      OutcomeKind::succeeded);
}

}  // namespace
}  // namespace enginery
