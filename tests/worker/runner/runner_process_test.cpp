#include "worker/runner/runner_process.h"

#include <gtest/gtest.h>

#include "worker/runner/runner_environment.h"

namespace enginery {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

struct Heard {
  std::vector<std::string> output;
  std::vector<RunnerReport> reports;
  Outcome end;
};

// A shell script in the runner's place.
std::unique_ptr<RunnerProcess> shell(const std::string& script,
                                     milliseconds kill_after = milliseconds(8000)) {
  auto process = RunnerProcess::start(
      {{"/bin/sh", "-c", script}, {"PATH=/usr/bin:/bin", "ONLY=this"}, kill_after});
  EXPECT_TRUE(process.ok());
  return std::move(*process);
}

Heard listen(
    RunnerProcess& process, std::function<bool()> cancelled = [] { return false; }) {
  Heard heard;
  RunnerEvents events;
  events.report = [&](const RunnerReport& r) { heard.reports.push_back(r); };
  events.output = [&](const std::string& line) { heard.output.push_back(line); };
  events.timings = [](const WantTimings& want) {
    return KnownTimings{{want.device + " of " + want.problem}};
  };
  events.cancelled = std::move(cancelled);
  RunnerReport end = process.run({}, events);
  heard.end = std::get<Outcome>(end);
  return heard;
}

Heard run(const std::string& script) {
  return listen(*shell(script));
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
  const auto has = [&](const std::string& text) {
    return std::any_of(heard.output.begin(), heard.output.end(),
                       [&](const std::string& l) { return l.find(text) != l.npos; });
  };
  EXPECT_TRUE(has("to stdout") && has("to stderr") && has("nonsense") && has("last"));
  EXPECT_TRUE(has("d of p"));
}

TEST(RunnerProcess, TellsACrashFromAKillAndFromSilence) {
  EXPECT_EQ(run("kill -SEGV $$").end.kind, OutcomeKind::internal);
  EXPECT_EQ(run("kill -ABRT $$").end.kind, OutcomeKind::internal);
  EXPECT_EQ(run("kill -KILL $$").end.kind, OutcomeKind::worker_lost);
  const Heard silent = run("exit 3");
  EXPECT_EQ(silent.end.kind, OutcomeKind::internal);
  EXPECT_NE(silent.end.fault.message.find("3"), std::string::npos);
  for (const auto& [script, crashed] :
       {std::pair{"kill -SEGV $$", true}, {"exit 3", true}, {"kill -KILL $$", false}}) {
    auto process = shell(script);
    listen(*process);
    EXPECT_EQ(process->crashed(), crashed) << script;
  }
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

TEST(RunnerProcess, IsNotEndedByTheTerminal) {
  EXPECT_EQ(
      run("kill -INT $$; echo "
          "'{\"end\":{\"kind\":\"succeeded\",\"outputs\":[],\"metrics\":[],\"facts\":[]}}' >&3")
          .end.kind,
      OutcomeKind::succeeded);
}

TEST(RunnerEnvironment, SetsTheCapOfItsSku) {
  const auto has = [](const std::vector<std::string>& all, const std::string& one) {
    return std::find(all.begin(), all.end(), one) != all.end();
  };
  setenv("SECRET_TOKEN", "x", 1);
  const auto cpu = runner_environment("cpu-avx2", 2, 0);
  EXPECT_TRUE(has(cpu, "DNNL_MAX_CPU_ISA=AVX2"));
  EXPECT_TRUE(has(cpu, "OMP_NUM_THREADS=2"));
  EXPECT_FALSE(has(cpu, "SECRET_TOKEN=x"));
  setenv("CUDA_VISIBLE_DEVICES", "4,6", 1);
  EXPECT_TRUE(has(runner_environment("h200", 0, 1), "CUDA_VISIBLE_DEVICES=6"));
  unsetenv("CUDA_VISIBLE_DEVICES");
  EXPECT_TRUE(has(runner_environment("h200", 0, 1), "CUDA_VISIBLE_DEVICES=1"));
}

}  // namespace
}  // namespace enginery
