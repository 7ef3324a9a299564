#include "worker/runner/runner_attempts.h"

#include <gtest/gtest.h>

#include "engine/base/file.h"
#include "tests/worker/folder.h"

namespace enginery {
namespace {

constexpr char kSucceed[] =
    R"(echo '{"end":{"kind":"succeeded","outputs":[],"metrics":[],"facts":[]}}' >&3)";
constexpr char kLoseDevice[] =
    R"(echo '{"end":{"kind":"internal","fault":{"code":"device_lost","message":"lost"},"outputs":[],"metrics":[],"facts":[]}}' >&3)";

std::string trial(const std::string& tactic, bool over = false) {
  return "echo '{\"trial\":[\"d\",\"p\",\"" + tactic + "\"," + (over ? "true" : "false") +
         "]}' >&3\n";
}

// A failed tactic whose name the shell makes up.
std::string failed(const std::string& tactic) {
  return "printf '{\"timing\":{\"device\":\"d\",\"problem\":\"p\",\"tactic\":\"%s\""
         ",\"entry\":\"{\\\\\"tactic\\\\\":\\\\\"%s\\\\\",\\\\\"failure\\\\\":\\\\\"bad\\\\\"}\","
         "\"measured_ns\":1}}\\n' " +
         tactic + " " + tactic + " >&3\n";
}

// Runs shell scripts as runners; `n` is the number of the attempt, `request` what it was asked.
struct Runs {
  test::Folder folder;
  MemoryTimingStore store;
  std::vector<std::string> log;

  Result<Outcome> run(const std::string& script, TimingStore& timings,
                      const std::string& step = "tune") {
    const std::string count = (folder.path / "count").string();
    const std::string all =
        "read request; echo x >> " + count + "; n=$(wc -l < " + count + ")\n" + script;
    RunnerRequest request;
    request.step = step;
    AttemptEvents events;
    events.progress = [](const Progress&) {};
    events.log = [&](const std::string& line) { log.push_back(line); };
    events.cancelled = [] { return false; };
    return run_attempts(
        {{"/bin/sh", "-c", all}, {"PATH=/usr/bin:/bin"}, std::chrono::milliseconds(2000)}, request,
        timings, events);
  }
  Outcome run(const std::string& script, const std::string& step = "tune") {
    auto end = run(script, store, step);
    EXPECT_TRUE(end.ok()) << end.error().message;
    return end.ok() ? *end : Outcome{};
  }
  int attempts() const {
    auto text = read_file(folder.path / "count");
    return text.ok() ? static_cast<int>(std::count(text->begin(), text->end(), 'x')) : 0;
  }
  std::string failure(const std::string& tactic) {
    const auto timings = store.find("d", "p");
    for (const Timing& t : *timings) {
      if (t.tactic == tactic) return t.failure;
    }
    return "none";
  }
};

TEST(RunnerAttempts, BlameACrashOnTheTacticOnTrialAndGoOn) {
  Runs runs;
  EXPECT_EQ(runs.run(trial("good") + trial("good", true) + "[ $n = 1 ] && { " + trial("bad") +
                     "kill -SEGV $$; }\n" + kSucceed)
                .kind,
            OutcomeKind::succeeded);
  EXPECT_EQ(runs.attempts(), 2);
  EXPECT_NE(runs.failure("bad").find("signal 11"), std::string::npos) << runs.failure("bad");
  EXPECT_EQ(runs.failure("good"), "none");
}

TEST(RunnerAttempts, GoOnAfterALostDevice) {
  Runs runs;
  EXPECT_EQ(
      runs.run("[ $n = 1 ] && { " + failed("bad") + kLoseDevice + "; exit; }\n" + kSucceed).kind,
      OutcomeKind::succeeded);
  EXPECT_EQ(runs.attempts(), 2);
  EXPECT_EQ(runs.failure("bad"), "bad");
}

TEST(RunnerAttempts, PrepareOneByOneWhereSeveralWereOnTrial) {
  Runs runs;
  const std::string ask = "case $request in *'\"one_by_one\":true'*) " + trial("b") + ";; *) " +
                          trial("a") + trial("b") + ";; esac\n";
  EXPECT_EQ(
      runs.run("[ $n = 3 ] && { " + std::string(kSucceed) + "; exit; }\n" + ask + "kill -SEGV $$")
          .kind,
      OutcomeKind::succeeded);
  EXPECT_EQ(runs.attempts(), 3);
  EXPECT_EQ(runs.failure("a"), "none");
  EXPECT_NE(runs.failure("b"), "none");
}

TEST(RunnerAttempts, StopWhereNoTacticIsToBlame) {
  Runs runs;
  EXPECT_EQ(runs.run("kill -SEGV $$").kind, OutcomeKind::internal);
  EXPECT_EQ(runs.attempts(), 2);  // the second one by one
  Runs lost;
  const Outcome end = lost.run(kLoseDevice);
  EXPECT_EQ(end.fault.code, ErrorCode::device_lost);
  EXPECT_EQ(lost.attempts(), 2);
}

TEST(RunnerAttempts, StopAfterSoMany) {
  Runs runs;
  EXPECT_EQ(runs.run(trial("bad$n") + "kill -SEGV $$").kind, OutcomeKind::internal);
  EXPECT_EQ(runs.attempts(), kMaxAttempts);
}

TEST(RunnerAttempts, LeaveAloneWhatIsNoFaultOfATactic) {
  Runs killed;
  EXPECT_EQ(killed.run(trial("good") + "kill -KILL $$").kind, OutcomeKind::worker_lost);
  EXPECT_EQ(killed.attempts(), 1);
  EXPECT_EQ(killed.failure("good"), "none");
  Runs other;
  EXPECT_EQ(other.run("kill -SEGV $$", "verify").kind, OutcomeKind::internal);
  EXPECT_EQ(other.attempts(), 1);
  Runs ended;
  EXPECT_EQ(
      ended
          .run(failed("bad") +
               "echo '{\"end\":{\"kind\":\"failed\",\"outputs\":[],\"metrics\":[],\"facts\":[]}}' "
               ">&3")
          .kind,
      OutcomeKind::failed);
  EXPECT_EQ(ended.attempts(), 1);
}

class FullDisk final : public TimingStore {
 public:
  Result<std::vector<Timing>> find(const std::string&, const std::string&) override {
    return std::vector<Timing>();
  }
  Status put(const std::string&, const std::string&, const Timing&) override {
    return Error{ErrorCode::storage, "full"};
  }
};

TEST(RunnerAttempts, EndWithTheErrorOfTheStore) {
  Runs runs;
  FullDisk full;
  auto end = runs.run(failed("bad") + "exec sleep 30", full);
  ASSERT_FALSE(end.ok());
  EXPECT_EQ(end.error().code, ErrorCode::storage);
  EXPECT_EQ(runs.attempts(), 1);
}

}  // namespace
}  // namespace enginery
