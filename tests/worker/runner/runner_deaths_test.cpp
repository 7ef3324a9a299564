// How a runner may end, and what its end counts as: by each signal, in silence, in the middle of a
// line, before and after its report.
#include <gtest/gtest.h>

#include <csignal>

#include "tests/worker/runner/shell_runner.h"

namespace enginery {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;
using test::Heard;
using test::kSucceed;
using test::listen;
using test::run_shell;
using test::shell;

struct Death {
  const char* name;
  const char* script;
  OutcomeKind kind;
  bool crashed;         // of its own doing: a tactic may be to blame
  const char* message;  // a part of it
};

void PrintTo(const Death& death, std::ostream* out) {
  *out << death.script;
}

class RunnerDeath : public testing::TestWithParam<Death> {};

TEST_P(RunnerDeath, IsAsItIsInTheTable) {
  const auto process = shell(GetParam().script);
  const Heard heard = listen(*process);
  EXPECT_EQ(heard.end.kind, GetParam().kind) << heard.end.fault.message;
  EXPECT_EQ(process->crashed(), GetParam().crashed);
  EXPECT_NE(heard.end.fault.message.find(GetParam().message), std::string::npos)
      << heard.end.fault.message;
}

INSTANTIATE_TEST_SUITE_P(
    Runners, RunnerDeath,
    testing::Values(
        Death{"Segv", "kill -SEGV $$", OutcomeKind::crashed, true, "signal 11"},
        Death{"Abrt", "kill -ABRT $$", OutcomeKind::crashed, true, "signal 6"},
        Death{"Bus", "kill -BUS $$", OutcomeKind::crashed, true, "signal 7"},
        Death{"Fpe", "kill -FPE $$", OutcomeKind::crashed, true, "signal 8"},
        Death{"Ill", "kill -ILL $$", OutcomeKind::crashed, true, "signal 4"},
        Death{"Pipe", "kill -PIPE $$", OutcomeKind::crashed, true, "signal 13"},
        // Somebody ended it: the machine, an administrator, a container that stops.
        Death{"Kill", "kill -KILL $$", OutcomeKind::worker_lost, false, "signal 9"},
        Death{"Term", "kill -TERM $$", OutcomeKind::worker_lost, false, "signal 15"},
        Death{"Hup", "kill -HUP $$", OutcomeKind::worker_lost, false, "signal 1"},
        Death{"ExitZero", "exit 0", OutcomeKind::crashed, true, "exit status 0"},
        Death{"ExitThree", "exit 3", OutcomeKind::crashed, true, "exit status 3"},
        Death{"HalfALine",
              R"(printf '{"end":{"kind":"succeeded","outputs":[],"metrics":[],"facts":[]}}' >&3)",
              OutcomeKind::crashed, true, "without a report"},
        Death{"GarbledEnd", R"(echo '{"end":{"kind":"succeeded"}}' >&3)", OutcomeKind::crashed,
              true, "without a report"}),
    [](const auto& death) { return death.param.name; });

// An outcome that a newer runner knows counts as the worker's trouble, which is tried again; it
// must never count as success.
TEST(RunnerEnd, OfAnUnknownKindIsInternal) {
  const Heard heard = run_shell(
      R"(echo '{"end":{"kind":"splendid","fault":{"code":"odd","message":"m"},"outputs":[],"metrics":[],"facts":[]}}' >&3)");
  EXPECT_EQ(heard.end.kind, OutcomeKind::internal);
  EXPECT_EQ(heard.end.fault.code, ErrorCode::internal);
  EXPECT_EQ(heard.end.fault.message, "m");
}

TEST(RunnerEnd, CountsAlthoughTheProcessThenCrashes) {
  const auto process = shell(std::string(kSucceed) + "; kill -SEGV $$");
  EXPECT_EQ(listen(*process).end.kind, OutcomeKind::succeeded);
  EXPECT_FALSE(process->crashed()) << "its work was done: no tactic is to blame";
}

TEST(RunnerEnd, IsNotWaitedForOnceThePipeIsClosed) {
  const auto start = steady_clock::now();
  const auto process = shell(std::string(kSucceed) + "; exec 3>&- >/dev/null 2>&1; sleep 60");
  EXPECT_EQ(listen(*process).end.kind, OutcomeKind::succeeded);
  EXPECT_LT(steady_clock::now() - start, std::chrono::seconds(20));
}

TEST(RunnerEnd, ReportedWhileItIsCancelledIsKept) {
  const auto process =
      shell(std::string("trap '") + R"(echo "{\"end\":{\"kind\":\"succeeded\",\"outputs\":[],)" +
            R"(\"metrics\":[[\"m\",4]],\"facts\":[]}}" >&3; exit 0' TERM; echo up; )" +
            "while :; do sleep 0.05; done");
  const auto started = steady_clock::now();
  const Heard heard =
      listen(*process, [&] { return steady_clock::now() - started > milliseconds(500); });
  EXPECT_EQ(heard.end.kind, OutcomeKind::succeeded);
  EXPECT_EQ(heard.end.metrics.size(), 1u);
}

TEST(RunnerEnd, OfOneThatHangsIsTheReasonItWasKilledFor) {
  const auto process = shell("echo '{\"log\":\"begun\"}' >&3; sleep 60");
  RunnerEvents events;
  bool begun = false;
  events.report = [&](const RunnerReport&) { begun = true; };
  events.output = [](const std::string&) {};
  events.hung = [&] { return begun ? std::string("it sat still") : std::string(); };
  const auto report = process->run({}, events);
  EXPECT_EQ(std::get<Outcome>(report).kind, OutcomeKind::internal);
  EXPECT_EQ(std::get<Outcome>(report).fault.message, "it sat still");
  EXPECT_TRUE(process->crashed());
}

TEST(RunnerRequest, IsTheFirstLineThatARunnerReads) {
  RunnerRequest request;
  request.step = "tune";
  request.name = "a \"net\"\nin two lines";
  request.inputs = {{"model", "/tmp/m"}};
  const auto process =
      shell(std::string("read -r request; printf '%s\\n' \"$request\"; ") + kSucceed);
  const Heard heard = listen(
      *process, [] { return false; }, request);
  ASSERT_EQ(heard.output.size(), 1u);
  const auto read = parse_request(heard.output[0]);
  ASSERT_TRUE(read.ok()) << heard.output[0];
  EXPECT_EQ(*read, request);
}

TEST(RunnerReports, OfGarbledLinesGoToTheLogCutAndTheRestIsHeard) {
  const Heard heard = run_shell(std::string(R"(
    echo '{"progress":[1,2]}' >&3
    printf '\377\376 %0300d\n' 7 >&3
    echo '{"log":"still here"}' >&3
    )") + kSucceed);
  EXPECT_EQ(heard.end.kind, OutcomeKind::succeeded);
  ASSERT_EQ(heard.reports.size(), 1u);
  EXPECT_EQ(std::get<RunnerLog>(heard.reports[0]).text, "still here");
  ASSERT_EQ(heard.output.size(), 2u);
  for (const std::string& line : heard.output) {
    EXPECT_TRUE(line.starts_with("runner: not a report: ")) << line;
    EXPECT_LE(line.size(), 230u) << "a garbled megabyte must not fill the log";
  }
}

TEST(RunnerReports, MayBeLongerThanAPipe) {
  const Heard heard = run_shell(std::string(R"(
    printf '{"log":"' >&3; head -c 300000 /dev/zero | tr '\0' 'x' >&3; printf '"}\n' >&3
    head -c 200000 /dev/zero | tr '\0' 'y'; echo
    )") + kSucceed);
  ASSERT_EQ(heard.reports.size(), 1u);
  EXPECT_EQ(std::get<RunnerLog>(heard.reports[0]).text, std::string(300000, 'x'));
  ASSERT_EQ(heard.output.size(), 1u);
  EXPECT_EQ(heard.output[0].size(), 200000u);
}

TEST(RunnerProcessOwner, TakesItsRunnerWithIt) {
  pid_t pid = 0;
  {
    const auto process = shell("sleep 60");
    pid = process->pid();
    EXPECT_EQ(kill(pid, 0), 0);
  }
  EXPECT_EQ(kill(pid, 0), -1) << "nobody would ever collect it";
}

}  // namespace
}  // namespace enginery
