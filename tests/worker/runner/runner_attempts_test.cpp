#include "worker/runner/runner_attempts.h"

#include <gtest/gtest.h>

#include <thread>

#include "engine/base/file.h"
#include "tests/support/fake_clock.h"
#include "tests/support/temporary_folder.h"
#include "tests/worker/runner/shell_runner.h"
#include "tuner/timing/read_only_store.h"

namespace enginery {
namespace {

using test::kSucceed;

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
  test::TemporaryFolder folder;
  MemoryTimingStore store;
  std::vector<std::string> log;
  test::FakeClock clock;
  // Called after each line of the log and each progress, with its text or its phase.
  std::function<void(const std::string&)> heard = [](const std::string&) {};
  std::function<bool()> cancelled = [] { return false; };
  std::unique_ptr<RunnerProcess>* keeps = nullptr;

  Result<Outcome> run(const std::string& script, TimingStore& timings,
                      const std::string& step = "tune") {
    const std::string count = (folder.path / "count").string();
    const std::string all =
        "read request; echo x >> " + count + "; n=$(wc -l < " + count + ")\n" + script;
    RunnerRequest request;
    request.step = step;
    request.worker = "w1";
    AttemptEvents events;
    events.progress = [&](const Progress& progress) { heard(progress.phase); };
    events.log = [&](const std::string& line) {
      log.push_back(line);
      heard(line);
    };
    events.cancelled = cancelled;
    events.max_trial = std::chrono::minutes(1);
    events.clock = &clock;
    return run_attempts(
        {{"/bin/sh", "-c", all}, {"PATH=/usr/bin:/bin"}, std::chrono::milliseconds(2000)}, request,
        timings, events, keeps);
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
  Timing timing(const std::string& tactic) {
    const auto timings = store.find("d", "p");
    const Timing* found = find_timing(*timings, tactic);
    return found ? *found : Timing{.tactic = tactic, .failure = "none"};
  }
  std::string failure(const std::string& tactic) { return timing(tactic).failure; }
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
  EXPECT_EQ(runs.timing("bad").failure_kind, FailureKind::crash);
  EXPECT_EQ(runs.timing("bad").worker, "w1");
  EXPECT_EQ(runs.timing("bad").unix_seconds, to_seconds(runs.clock.wall_time()));
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

// A whole engine runs, or a round of a race: its parts are tried one by one in the next runner.
TEST(RunnerAttempts, BlameNobodyForARunOfMany) {
  Runs runs;
  const std::string ask = "case $request in *'\"one_by_one\":true'*) " + trial("bad") + ";; *) " +
                          trial("") + ";; esac\n";
  EXPECT_EQ(
      runs.run("[ $n = 3 ] && { " + std::string(kSucceed) + "; exit; }\n" + ask + "kill -SEGV $$",
               "profile")
          .kind,
      OutcomeKind::succeeded);
  EXPECT_EQ(runs.attempts(), 3);
  EXPECT_EQ(runs.failure(""), "none");
  EXPECT_NE(runs.failure("bad"), "none");
}

TEST(RunnerAttempts, StopWhereNoTacticIsToBlame) {
  Runs runs;
  EXPECT_EQ(runs.run("kill -SEGV $$").kind, OutcomeKind::crashed);
  EXPECT_EQ(runs.attempts(), 2);  // the second one by one
  Runs lost;
  const Outcome end = lost.run(kLoseDevice);
  EXPECT_EQ(end.fault.code, ErrorCode::device_lost);
  EXPECT_EQ(lost.attempts(), 2);
}

TEST(RunnerAttempts, KeepARunnerForTheNextStepUnlessATacticFailedInIt) {
  std::unique_ptr<RunnerProcess> kept;
  Runs runs;
  runs.keeps = &kept;
  const std::string twice = std::string(kSucceed) + "; read request\n" + kSucceed;
  EXPECT_EQ(runs.run(twice, "assemble").kind, OutcomeKind::succeeded);
  ASSERT_TRUE(kept);
  EXPECT_EQ(runs.run(twice, "verify").kind, OutcomeKind::succeeded);
  EXPECT_EQ(runs.attempts(), 1) << "the same process";
  // It has ended since: the step after that has another one.
  while (kept && kept->waits()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(runs.run(failed("bad") + twice, "profile").kind, OutcomeKind::succeeded);
  EXPECT_EQ(runs.attempts(), 2);
  EXPECT_FALSE(kept);
}

TEST(RunnerAttempts, StopAfterSoMany) {
  Runs runs;
  EXPECT_EQ(runs.run(trial("bad$n") + "kill -SEGV $$").kind, OutcomeKind::crashed);
  EXPECT_EQ(runs.attempts(), kMaxAttempts);
}

TEST(RunnerAttempts, LeaveAloneWhatIsNoFaultOfATactic) {
  Runs killed;
  EXPECT_EQ(killed.run(trial("good") + "kill -KILL $$").kind, OutcomeKind::worker_lost);
  EXPECT_EQ(killed.attempts(), 1);
  EXPECT_EQ(killed.failure("good"), "none");
  Runs other;
  EXPECT_EQ(other.run("kill -SEGV $$", "validate").kind, OutcomeKind::crashed);
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

// An hour that passes while the script speaks of it.
const std::string kAnHourPasses = "echo '{\"progress\":[\"an hour\",0,0,0]}' >&3\n";

TEST(RunnerAttempts, EndATacticThatHangsAndNothingThatWaitedBesideIt) {
  Runs runs;
  runs.heard = [&](const std::string& text) {
    if (text == "an hour") runs.clock.advance(std::chrono::hours(1));
  };
  const Outcome end = runs.run("[ $n = 1 ] && { " + trial("slow") + kAnHourPasses + trial("waits") +
                               "exec sleep 60; }\n" + kSucceed);
  EXPECT_EQ(end.kind, OutcomeKind::succeeded) << end.fault.message;
  EXPECT_EQ(runs.attempts(), 2);
  EXPECT_NE(runs.failure("slow").find("within 60 s"), std::string::npos) << runs.failure("slow");
  EXPECT_EQ(runs.timing("slow").failure_kind, FailureKind::timed_out);
  EXPECT_EQ(runs.failure("waits"), "none");
}

TEST(RunnerAttempts, LetATacticTakeAsLongAsItMay) {
  Runs runs;
  runs.heard = [&](const std::string& text) {
    if (text == "an hour") runs.clock.advance(std::chrono::hours(1));
  };
  EXPECT_EQ(
      runs.run(trial("quick") + trial("quick", true) + kAnHourPasses + "sleep 0.5\n" + kSucceed)
          .kind,
      OutcomeKind::succeeded)
      << "nothing was in flight in that hour";
  EXPECT_EQ(runs.attempts(), 1);
}

TEST(RunnerAttempts, StartNoFurtherRunnerForWhoDoesNotWantItAnyMore) {
  Runs runs;
  bool cancelled = false;
  runs.heard = [&](const std::string& line) {
    cancelled = cancelled || line.find("is rejected") != std::string::npos;
  };
  runs.cancelled = [&] { return cancelled; };
  EXPECT_EQ(runs.run(trial("bad") + "kill -SEGV $$").kind, OutcomeKind::crashed);
  EXPECT_EQ(runs.attempts(), 1);
  EXPECT_NE(runs.failure("bad"), "none") << "what was found out is kept";
}

TEST(RunnerAttempts, SayInTheLogWhoRunsWhatAndWhyItGoesOn) {
  Runs runs;
  runs.run("[ $n = 1 ] && { " + trial("bad") + "kill -SEGV $$; }\n" + kSucceed);
  ASSERT_EQ(runs.log.size(), 4u);
  EXPECT_TRUE(runs.log[0].starts_with("tuning on w1, runner ")) << runs.log[0];
  EXPECT_TRUE(runs.log[1].starts_with("bad is rejected: was running when")) << runs.log[1];
  EXPECT_TRUE(runs.log[2].starts_with("tuning goes on in a new runner: ")) << runs.log[2];
  EXPECT_TRUE(runs.log[3].starts_with("tuning on w1, runner ")) << runs.log[3];
}

TEST(RunnerAttempts, TakeNoDescriptionForTheEndOfAStep) {
  Runs runs;
  const auto end = runs.run(
      R"(echo '{"device":{"kind":"cpu","name":"n","physical_id":"p","toolchain":"t","compiles_for":[]}}' >&3)",
      runs.store);
  ASSERT_FALSE(end.ok());
  EXPECT_EQ(end.error().code, ErrorCode::internal);
}

TEST(RunnerAttempts, LetARunOfManyTakeLongerThanATacticButNotForEver) {
  Runs runs;
  runs.heard = [&](const std::string& text) {
    if (text == "an hour") runs.clock.advance(std::chrono::hours(1));
    if (text == "a while") runs.clock.advance(std::chrono::minutes(kMaxTrialsInARun) / 2);
  };
  const std::string a_while = "echo '{\"progress\":[\"a while\",0,0,0]}' >&3\n";
  const Outcome end = runs.run("[ $n = 1 ] && { " + trial("") + a_while + "sleep 0.5\n" +
                                   trial("", true) + "exec true; }\n[ $n = 2 ] && { " + trial("") +
                                   kAnHourPasses + "exec sleep 60; }\n" + kSucceed,
                               "verify");
  EXPECT_EQ(end.kind, OutcomeKind::internal);
  EXPECT_EQ(runs.attempts(), 2) << "two runners, and no tactic is to blame";
  EXPECT_EQ(end.fault.message, "a run of many tactics did not end within 300 s");
}

// `--error-on-timing-cache-miss`: the store keeps nothing, and the death itself is the answer.
TEST(RunnerAttempts, EndWithTheDeathWhereTheStoreOnlyReads) {
  Runs runs;
  ReadOnlyTimingStore reads(runs.store);
  auto end = runs.run(trial("bad") + "kill -SEGV $$", reads, "verify");
  ASSERT_TRUE(end.ok()) << end.error().message;
  EXPECT_NE(end->fault.message.find("signal 11"), std::string::npos) << end->fault.message;
  EXPECT_EQ(runs.attempts(), 2);
}

// A disk without room, or one that cannot be read.
class BrokenStore final : public TimingStore {
 public:
  Result<std::vector<Timing>> find(const std::string&, const std::string&) override {
    return Error{ErrorCode::storage, "cannot be read"};
  }
  Status put(const std::string&, const std::string&, const Timing&) override {
    return Error{ErrorCode::storage, "full"};
  }
};

TEST(RunnerAttempts, EndWithTheErrorOfTheStore) {
  const std::pair<std::string, std::string> rows[] = {
      {failed("bad") + "exec sleep 30", "full"},
      {trial("bad") + "kill -SEGV $$", "cannot be read"},  // how often it failed before
      {"echo '{\"want_timings\":[\"d\",\"p\"]}' >&3; exec sleep 30", "cannot be read"}};
  for (const auto& [script, message] : rows) {
    Runs runs;
    BrokenStore broken;
    auto end = runs.run(script, broken);
    ASSERT_FALSE(end.ok()) << script;
    EXPECT_EQ(end.error().code, ErrorCode::storage) << script;
    EXPECT_EQ(end.error().message, message) << script;
    EXPECT_EQ(runs.attempts(), 1) << script;
  }
}

TEST(RunnerAttempts, EndWhereARunnerSaysATimingThatIsNone) {
  Runs runs;
  const auto end = runs.run(
      R"(echo '{"timing":{"device":"d","problem":"p","tactic":"t","entry":"{}","measured_ns":1}}' >&3; exec sleep 30)",
      runs.store);
  ASSERT_FALSE(end.ok());
  EXPECT_EQ(end.error().code, ErrorCode::corrupt_data);
}

}  // namespace
}  // namespace enginery
