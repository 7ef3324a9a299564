#include "worker/agent/step_run.h"

#include <gtest/gtest.h>

#include "engine/base/file.h"
#include "engine/options/options.h"
#include "tests/worker/farm_fixture.h"
#include "tests/worker/runner/shell_runner.h"

namespace enginery {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

class StepRunTest : public testing::Test {
 protected:
  // The farm takes timings from the worker of the SKU.
  void SetUp() override {
    SyncRequest sync;
    sync.worker = "tester";
    sync.incarnation = sync.sequence = 1;
    sync.sku = "cpu-sse41";
    sync.device = "none";
    ASSERT_TRUE(farm_.client()->sync(sync).ok());
    std::filesystem::create_directory(farm_.folder() / "home");
  }
  // A step of fake_runner.cpp's model: a tuning of so many problems, 10 ms each. `device`: which is
  // locked for it.
  std::unique_ptr<StepRun> tuning(int problems, std::function<void()> changed,
                                  std::vector<std::string> runner = {ENGINERY_TEST_RUNNER},
                                  const std::string& device = "",
                                  std::optional<Digest> model_digest = {}) {
    RunStep run = step_of("tune");
    run.model = model_digest.value_or(put("tune " + std::to_string(problems) + " 10 1"));
    return start(run, std::move(changed), std::move(runner), device);
  }

  Digest put(const std::string& bytes) {
    auto digest = farm_.client()->put_blob(as_bytes(bytes));
    EXPECT_TRUE(digest.ok());
    return *digest;
  }
  RunStep step_of(const std::string& kind) {
    RunStep run;
    run.ref = {"j1", 1, 1};
    run.kind = kind;
    run.sku = "cpu-sse41";
    run.name = "net";
    run.model_name = "net.onnx";
    run.options = to_text(BuildOptions());
    run.engine_key = engine_key_;
    return run;
  }
  std::unique_ptr<StepRun> start(RunStep run, std::function<void()> changed,
                                 std::vector<std::string> runner, const std::string& device) {
    StepSettings settings;
    settings.farm = {farm_.address(), "tester", make_zmq_dial()};
    settings.runner = std::move(runner);
    settings.worker = "tester";
    settings.inputs = farm_.folder() / "inputs";
    settings.folder = farm_.folder() / "outputs";
    settings.home = farm_.folder() / "home";
    settings.device = device;
    settings.sandbox = sandbox_;
    return std::make_unique<StepRun>(std::move(run), std::move(settings), blobs_, bench_,
                                     std::move(changed));
  }

  // Asks as the agent does, from another thread than the step's, until there is an outcome.
  static std::optional<Outcome> wait_for(const StepRun& step) {
    const auto end = steady_clock::now() + std::chrono::seconds(30);
    while (steady_clock::now() < end) {
      if (auto outcome = step.outcome()) return outcome;
      (void)step.progress();
      std::this_thread::sleep_for(milliseconds(2));
    }
    return std::nullopt;
  }

  test::SmallFarm farm_;
  SandboxState sandbox_;
  Digest engine_key_;
  BlobCache blobs_{farm_.folder() / "blobs", uint64_t{1} << 30};
  StepBench bench_{milliseconds(300)};
};

TEST_F(StepRunTest, LeavesItsOutputsOnTheFarmAndSaysEachChange) {
  std::atomic<int> changes = 0;
  const auto step = tuning(5, [&] { ++changes; });
  const auto outcome = wait_for(*step);
  ASSERT_TRUE(outcome);
  ASSERT_EQ(outcome->kind, OutcomeKind::succeeded) << outcome->fault.message;
  EXPECT_GE(changes, 5);
  ASSERT_EQ(outcome->outputs.size(), 1u);
  auto choices = farm_.client()->get_blob(outcome->outputs[0].digest);
  ASSERT_TRUE(choices.ok());
  EXPECT_EQ(*choices, "choices of 5 problems");
}

// Before its runner is started, while it starts, in the middle: whenever the agent says so.
TEST_F(StepRunTest, EndsSoonWheneverItIsCancelled) {
  for (int delay_ms : {0, 1, 2, 5, 10, 20, 40, 80, 160}) {
    const auto step = tuning(600, [] {});  // six seconds: its end would be another outcome
    std::this_thread::sleep_for(milliseconds(delay_ms));
    step->cancel(OutcomeKind::preempted);
    step->cancel(OutcomeKind::cancelled);  // the first word holds
    const auto outcome = wait_for(*step);
    ASSERT_TRUE(outcome) << "after " << delay_ms << " ms";
    ASSERT_EQ(outcome->kind, OutcomeKind::preempted) << outcome->fault.message;
  }
}

// The farm makes it again: the worker says so, and does not try again itself.
TEST_F(StepRunTest, SaysThatABlobThatItReadsIsGone) {
  const auto step = tuning(
      1, [] {}, {"/bin/sh", "-c", "exit 1"}, "", sha256("nobody has this"));
  const auto outcome = wait_for(*step);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->kind, OutcomeKind::input_gone) << outcome->fault.message;
  EXPECT_NE(outcome->fault.message.find("fetch model"), std::string::npos)
      << outcome->fault.message;
}

// The worker's disk changed what the runner left: the farm must not take it for the runner's.
TEST_F(StepRunTest, RefusesAnOutputThatChangedAfterItWasReported) {
  const std::string file = (farm_.folder() / "outputs" / "choices").string();
  const std::string script = "read request; printf changed > " + file +
                             R"(; echo '{"end":{"kind":"succeeded","outputs":[["choices",")" +
                             sha256("as reported").hex() +
                             R"(",11]],"metrics":[],"facts":[]}}' >&3)";
  const auto step = tuning(1, [] {}, {"/bin/sh", "-c", script});
  const auto outcome = wait_for(*step);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->kind, OutcomeKind::storage) << outcome->fault.message;
  EXPECT_NE(outcome->fault.message.find("'choices' changed"), std::string::npos)
      << outcome->fault.message;
}

// What a link or a name with a folder in it reaches is not handed out, whatever digest is said of
// it.
TEST_F(StepRunTest, UploadsNothingButTheRunnersOwnFiles) {
  const std::string secret = (farm_.folder() / "secret").string();
  ASSERT_TRUE(write_file(secret, "the signing key").ok());
  const std::string outputs = (farm_.folder() / "outputs").string();
  for (const std::string& name : {std::string("choices"), std::string("../secret"), secret}) {
    const std::string script = "read request; ln -s " + secret + " " + outputs +
                               R"(/choices; echo '{"end":{"kind":"succeeded","outputs":[[")" +
                               name + "\",\"" + sha256("the signing key").hex() +
                               R"(",15]],"metrics":[],"facts":[]}}' >&3)";
    const auto step = tuning(1, [] {}, {"/bin/sh", "-c", script});
    const auto outcome = wait_for(*step);
    ASSERT_TRUE(outcome);
    EXPECT_EQ(outcome->kind, OutcomeKind::internal) << outcome->fault.message;
    const auto states = farm_.client()->has_blobs({sha256("the signing key")});
    ASSERT_TRUE(states.ok());
    EXPECT_FALSE(states->at(0).present) << name;
  }
}

// Whoever measures does so alone on the device, and is not asked to see to it.
TEST_F(StepRunTest, HoldsTheDeviceWhileItsRunnerLives) {
  setenv("ENGINERY_LOCKS", farm_.folder().c_str(), 1);
  DeviceLockOptions locks;
  locks.folder = farm_.folder();
  locks.timeout = milliseconds(0);
  std::optional<DeviceLock> mine(*DeviceLock::acquire("a device", locks));
  const auto step = tuning(
      100, [] {}, {ENGINERY_TEST_RUNNER}, "a device");
  const auto reaches = [&](const std::string& phase) {
    const auto end = steady_clock::now() + std::chrono::seconds(20);
    while (!step->progress().phase.starts_with(phase) && steady_clock::now() < end)
      std::this_thread::sleep_for(milliseconds(5));
    return step->progress().phase;
  };
  EXPECT_TRUE(reaches("waiting for the device").starts_with("waiting for the device, which "));
  mine.reset();
  EXPECT_EQ(reaches("tuning"), "tuning");
  EXPECT_FALSE(DeviceLock::acquire("a device", locks).ok());
  const auto outcome = wait_for(*step);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->kind, OutcomeKind::succeeded) << outcome->fault.message;
  locks.timeout = std::chrono::seconds(5);
  EXPECT_TRUE(DeviceLock::acquire("a device", locks).ok());
  unsetenv("ENGINERY_LOCKS");
}

// A runner that was taken over by its model looks around in the worker's and the farm's folders.
TEST_F(StepRunTest, ShowsAHostileRunnerItsModelAndNothingElse) {
  sandbox_ = probe_sandbox();
  if (!sandbox_.in_force) GTEST_SKIP() << "no sandbox here: " << sandbox_.text;
  const std::string farm = farm_.folder().string(), found = farm + "/outputs/choices";
  std::filesystem::create_directory(farm + "/blobs");
  ASSERT_TRUE(write_file(farm + "/blobs/another", "another model").ok());
  ASSERT_TRUE(std::filesystem::exists(farm + "/data/keys/signing.key"));
  const std::string script =
      "read request; (cat " + farm + "/data/keys/* " + farm + "/data/catalog.db " + farm +
      "/blobs/another /etc/passwd; ls " + farm + "; cat " + farm + "/inputs/*) > " + found +
      " 2>/dev/null; echo \"{\\\"end\\\":{\\\"kind\\\":\\\"succeeded\\\",\\\"outputs\\\":"
      "[[\\\"choices\\\",\\\"$(sha256sum < " +
      found + " | cut -c1-64)\\\",$(stat -c %s " + found +
      ")]],\\\"metrics\\\":[],\\\"facts\\\":[]}}\" >&3";
  const auto step = tuning(1, [] {}, {"/bin/sh", "-c", script});
  const auto outcome = wait_for(*step);
  ASSERT_TRUE(outcome);
  ASSERT_EQ(outcome->kind, OutcomeKind::succeeded) << outcome->fault.message;
  const auto seen = farm_.client()->get_blob(outcome->outputs.at(0).digest);
  ASSERT_TRUE(seen.ok());
  EXPECT_EQ(*seen, "home\ninputs\noutputs\ntune 1 10 1");
}

TEST_F(StepRunTest, RunsNoStepUnderTheKeyOfAnother) {
  RunStep run;
  run.kind = "tune";
  run.sku = "cpu-sse41";
  run.name = "net";
  run.options = to_text(BuildOptions());
  run.facts = {{"key.sku", "cpu-avx512"}};
  const StepRun step(run, {}, blobs_, bench_, [] {});
  const auto outcome = wait_for(step);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->kind, OutcomeKind::internal) << "no answer to that key either";
  EXPECT_NE(outcome->fault.message.find("says sku 'cpu-avx512'"), std::string::npos)
      << outcome->fault.message;
}

// A runner that notes its start and, for each request, what it finds of the inputs.
class StepRunReuseTest : public StepRunTest {
 protected:
  std::filesystem::path notes() const { return farm_.folder() / "outputs" / "notes"; }
  // What the runner has noted by the end of the step; fails the test when the step fails.
  std::string do_step(const std::string& kind, const std::string& device = "") {
    const std::string inputs = (farm_.folder() / "inputs").string();
    const std::string script = "starts=$$; while read request; do echo \"$starts:$(cat " + inputs +
                               "/*)\" > " + notes().string() + "; " + kSucceed +
                               "\ncase \"$request\" in *'\"stays\":true'*) ;; *) exit;; esac; done";
    RunStep run = step_of(kind);
    run.model = put("model ");
    run.inputs = {{"choices", put("choices "), 8}, {"content", put("content "), 8}};
    const auto step = start(
        run, [] {}, {"/bin/sh", "-c", script}, device);
    const auto outcome = wait_for(*step);
    EXPECT_TRUE(outcome && outcome->kind == OutcomeKind::succeeded)
        << kind << ": " << (outcome ? outcome->fault.message : "no end");
    return read_file(notes()).ok() ? *read_file(notes()) : "";
  }
  static std::string runner_of(const std::string& note) { return note.substr(0, note.find(':')); }
  static std::string seen(const std::string& note) { return note.substr(note.find(':') + 1); }
};

TEST_F(StepRunReuseTest, TheStepsAfterTheTuningHaveOneRunner) {
  for (const bool in_sandbox : {false, true}) {
    if (in_sandbox) sandbox_ = probe_sandbox();
    engine_key_ = sha256(in_sandbox ? "inside" : "outside");
    const std::string tuned = do_step("tune"), assembled = do_step("assemble"),
                      verified = do_step("verify"), profiled = do_step("profile");
    EXPECT_EQ(seen(tuned), "model \n");
    EXPECT_EQ(seen(assembled), "choices model \n") << "in a sandbox: " << sandbox_.in_force;
    EXPECT_EQ(seen(verified), "content model \n") << "in a sandbox: " << sandbox_.in_force;
    if (!sandbox_.in_force) {  // inside, all have the same number
      EXPECT_NE(runner_of(tuned), runner_of(assembled));
      EXPECT_EQ(runner_of(assembled), runner_of(verified));
      EXPECT_EQ(runner_of(verified), runner_of(profiled));
      EXPECT_NE(runner_of(profiled), runner_of(do_step("assemble"))) << "profile was the last";
    }
  }
}

TEST_F(StepRunReuseTest, ARunnerServesNoOtherBuild) {
  engine_key_ = sha256("one");
  const std::string one = do_step("assemble");
  engine_key_ = sha256("other");
  EXPECT_NE(runner_of(one), runner_of(do_step("verify")));
}

TEST_F(StepRunReuseTest, ARunnerThatWaitsHoldsTheDeviceForAShortWhile) {
  setenv("ENGINERY_LOCKS", farm_.folder().c_str(), 1);
  DeviceLockOptions locks;
  locks.folder = farm_.folder();
  const auto is_locked = [&](milliseconds patience) {
    locks.timeout = patience;
    return !DeviceLock::acquire("a device", locks).ok();
  };
  const std::string first = do_step("assemble", "a device");
  EXPECT_TRUE(is_locked(milliseconds(0)));
  EXPECT_EQ(runner_of(do_step("verify", "a device")), runner_of(first));
  EXPECT_FALSE(is_locked(std::chrono::seconds(20))) << "nobody came";
  do_step("profile", "a device");
  EXPECT_FALSE(is_locked(milliseconds(200))) << "nobody will come";
  unsetenv("ENGINERY_LOCKS");
}

TEST_F(StepRunTest, MayBeGivenUpWithoutAWord) {
  const auto start = steady_clock::now();
  for (int delay_ms : {0, 30}) {
    const auto step = tuning(2000, [] {});
    std::this_thread::sleep_for(milliseconds(delay_ms));
  }
  EXPECT_LT(steady_clock::now() - start, std::chrono::seconds(20));
}

// What a runner leaves behind, runners of other engines do not find.
TEST_F(StepRunTest, GivesEachEnginesRunnersAFolderOfTheirOwn) {
  sandbox_ = probe_sandbox();
  if (!sandbox_.in_force) GTEST_SKIP() << "no sandbox here: " << sandbox_.text;
  const std::filesystem::path above = farm_.folder() / "home";
  const std::vector<std::string> hostile = {"/bin/sh", "-c",
                                            "echo > " + above.string() +
                                                "/planted; echo > $ENGINERY_HOME/../planted; "
                                                "echo run >> $ENGINERY_HOME/runs; exit 3"};
  for (const char* engine : {"one", "one", "other"}) {
    engine_key_ = sha256(std::string(engine));
    const auto step = tuning(
        1, [] {}, hostile);
    ASSERT_TRUE(wait_for(*step));
  }
  const auto runs_of = [&](const std::string& engine) {
    return *read_file(above / "builds" / sha256(engine).hex() / "runs");
  };
  EXPECT_FALSE(runs_of("other").empty());
  EXPECT_EQ(runs_of("one"), runs_of("other") + runs_of("other"));
  for (const char* file : {"planted", "builds/planted"})
    EXPECT_FALSE(std::filesystem::exists(above / file)) << file;
}

}  // namespace
}  // namespace enginery
