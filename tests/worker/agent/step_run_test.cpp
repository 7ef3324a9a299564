#include "worker/agent/step_run.h"

#include <gtest/gtest.h>

#include "engine/options/options.h"
#include "tests/worker/farm_fixture.h"

namespace enginery {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

class StepRunTest : public testing::Test {
 protected:
  // A step of fake_runner.cpp's model: a tuning of so many problems, 10 ms each.
  std::unique_ptr<StepRun> tuning(int problems, std::function<void()> changed,
                                  std::vector<std::string> runner = {ENGINERY_TEST_RUNNER}) {
    const Bytes model = "tune " + std::to_string(problems) + " 10 1";
    auto digest = farm_.client()->put_blob(as_bytes(model));
    EXPECT_TRUE(digest.ok());
    RunStep run;
    run.ref = {"j1", 1, 1};
    run.kind = "tune";
    run.sku = "cpu-sse41";
    run.name = "net";
    run.model_name = "net.onnx";
    run.model = *digest;
    run.options = to_text(BuildOptions());
    StepSettings settings;
    settings.farm = {farm_.address(), "tester", make_zmq_dial()};
    settings.runner = std::move(runner);
    settings.worker = "tester";
    settings.folder = farm_.folder() / "outputs";
    return std::make_unique<StepRun>(std::move(run), std::move(settings), blobs_,
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
  BlobCache blobs_{farm_.folder() / "blobs", uint64_t{1} << 30};
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

TEST_F(StepRunTest, MayBeGivenUpWithoutAWord) {
  const auto start = steady_clock::now();
  for (int delay_ms : {0, 30}) {
    const auto step = tuning(2000, [] {});
    std::this_thread::sleep_for(milliseconds(delay_ms));
  }
  EXPECT_LT(steady_clock::now() - start, std::chrono::seconds(20));
}

}  // namespace
}  // namespace enginery
