// What people see of a large job fits one message.
#include <gtest/gtest.h>

#include "schemas/codec.h"
#include "tests/coordinator/core/core_harness.h"

namespace enginery {
namespace {

constexpr uint32_t kTargets = 256;

// Whether the socket could carry it.
bool fits(const Body& body) {
  Envelope envelope;
  envelope.body = body;
  return encode(envelope, kMaxControlBytes).ok();
}

std::vector<std::string> many_skus() {
  std::vector<std::string> skus;
  for (uint32_t i = 0; i < kTargets; ++i) skus.push_back("sku-" + std::to_string(i));
  return skus;
}

// An ended job whose targets all failed with long messages after many attempts.
LoadedQueue failed_job() {
  LoadedQueue queue;
  JobRow& job = queue.jobs[1];
  job.number = 1;
  job.state = JobState::failed;
  job.request = make_submit("m", many_skus());
  for (uint32_t i = 0; i < kTargets; ++i) {
    TargetRow target;
    target.state = TargetState::failed;
    target.fault = Fault{ErrorCode::internal, std::string(16'000, 'f')};
    StepRow step;
    step.id = i + 1;
    step.job = 1;
    step.kind = StepKind::tune;
    step.state = StepState::failed;
    for (uint64_t a = 1; a <= 60; ++a)
      step.attempts.push_back(
          {step.id, a, "worker", 1, 1, 2, OutcomeKind::internal, std::string(2000, 'a')});
    StepUse use;
    use.kind = step.kind;
    use.step = step.id;
    target.uses = {use};
    job.targets.push_back(target);
    queue.steps[step.id] = std::move(step);
  }
  return queue;
}

TEST(JobViews, ALargeFailedJobFitsAMessage) {
  Core core({}, failed_job());
  core.start({});
  const Effects shown = core.step(Request{{"client", {0, 1}}, "", ShowJob{"j1"}, {}}, {});
  ASSERT_EQ(shown.replies.size(), 1u);
  EXPECT_TRUE(fits(shown.replies[0].body));
  const JobView& job = std::get<JobReply>(shown.replies[0].body).job;
  ASSERT_EQ(job.targets.size(), kTargets);
  EXPECT_GT(job.targets.back().fault->message.size(), 200u);
  ASSERT_FALSE(job.steps.empty());
  EXPECT_EQ(job.steps.front().attempts.back().epoch, 60u);  // the latest are shown
}

TEST(JobViews, AnExplanationWithManyWorkersFitsAMessage) {
  CoreHarness farm;
  for (int i = 0; i < 100; ++i) {
    SyncRequest sync;
    sync.worker = std::string(150, 'w') + std::to_string(i);
    sync.device = sync.worker;
    sync.sku = "other-sku";
    sync.sequence = 1;
    farm.ask(sync);
  }
  SubmitRequest request = make_submit("m", many_skus());
  request.wait_for_workers = true;
  const std::string job = farm.submit(std::move(request)).id;
  const auto reply = farm.ask(ExplainJob{job});
  EXPECT_TRUE(fits(Body(body_of<ExplainReply>(reply))));
  EXPECT_EQ(body_of<ExplainReply>(reply).targets.size(), kTargets);
  EXPECT_FALSE(body_of<ExplainReply>(reply).targets.front().candidates.empty());
}

TEST(JobViews, AFinishedTargetSaysWhatItsEngineIs) {
  LoadedQueue queue = failed_job();
  TargetRow& done = queue.jobs[1].targets[0];
  done.state = TargetState::done;
  done.fault.reset();
  done.engine = sha256("engine");
  done.note = "int8 is not faster here";
  Core core({}, std::move(queue));
  core.start({});
  EXPECT_EQ(core.view("j1")->targets[0].note, "int8 is not faster here");
  EXPECT_EQ(core.view("j1")->targets[1].note, "");
}

// The keys are most of a job, and nobody asks for those of an ended one.
TEST(JobViews, AnEndedJobIsShownTheSameAfterARestart) {
  Core core({}, failed_job());
  core.start({});
  const std::optional<JobView> view = core.view("j1");
  ASSERT_TRUE(view);
  EXPECT_EQ(view->targets.size(), kTargets);
  EXPECT_EQ(core.check(), "");
}

}  // namespace
}  // namespace enginery
