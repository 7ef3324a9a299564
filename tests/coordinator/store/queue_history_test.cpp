// What the queue forgets of ended jobs, and what it must not forget.
#include "coordinator/store/queue_history.h"

#include <gtest/gtest.h>

#include "cache/catalog.h"
#include "coordinator/store/store.h"
#include "tests/coordinator/farm_fixture.h"

namespace enginery {
namespace {

class QueueHistoryTest : public testing::Test {
 protected:
  // A job with one step of its own.
  void add(uint64_t number, JobState state, int64_t ended_ns) {
    JobRow job;
    job.number = number;
    job.request_id = {number, number};
    job.state = state;
    job.ended_ns = ended_ns;
    job.request = make_submit("m" + std::to_string(number), {"x"});
    StepUse use;
    use.step = number;
    job.targets.resize(1);
    job.targets[0].uses = {use};
    StepRow step;
    step.id = number;
    step.job = number;
    step.key = sha256(std::to_string(number));
    step.state = is_end(state) ? StepState::done : StepState::running;
    ASSERT_TRUE(store_->begin().ok());
    ASSERT_TRUE(store_->apply(InsertJob{std::move(job)}).ok());
    ASSERT_TRUE(store_->apply(SaveStep{std::move(step)}).ok());
    ASSERT_TRUE(store_->commit().ok());
  }
  std::vector<uint64_t> jobs_left() {
    std::vector<uint64_t> numbers;
    const LoadedQueue queue = must(store_->load());
    for (const auto& [number, job] : queue.jobs) {
      numbers.push_back(number);
      EXPECT_EQ(job.targets.size(), 1u);
      EXPECT_TRUE(queue.steps.count(number)) << number;
    }
    EXPECT_EQ(queue.steps.size(), numbers.size());
    return numbers;
  }

  TemporaryFolder folder_;
  std::unique_ptr<Catalog> catalog_ = must(Catalog::open(folder_.path));
  std::unique_ptr<QueueStore> store_ = must(make_sqlite_store(*catalog_));
};

using Numbers = std::vector<uint64_t>;

TEST_F(QueueHistoryTest, JobsThatEndedLongAgoGoWithTheirSteps) {
  add(1, JobState::done, 10);
  add(2, JobState::running, 0);
  add(3, JobState::failed, 20);
  add(4, JobState::cancelled, 30);
  add(5, JobState::done, 10);  // the newest keeps its number taken
  EXPECT_EQ(must(prune_queue_history(catalog_->database(), {25})), 2);
  EXPECT_EQ(jobs_left(), (Numbers{2, 4, 5}));
}

TEST_F(QueueHistoryTest, OfManyTheNewestStay) {
  for (uint64_t number = 1; number <= 10; ++number)
    add(number, number == 2 ? JobState::running : JobState::done, 100);
  EXPECT_EQ(must(prune_queue_history(catalog_->database(), {0, 3})), 6);
  EXPECT_EQ(jobs_left(), (Numbers{2, 8, 9, 10}));
}

TEST_F(QueueHistoryTest, AnEmptyQueueHasNothingToForget) {
  EXPECT_EQ(must(prune_queue_history(catalog_->database(), {INT64_MAX})), 0);
}

}  // namespace
}  // namespace enginery
