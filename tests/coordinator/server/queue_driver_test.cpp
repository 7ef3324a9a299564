// Batches of events: one transaction, then the replies; and what a disk that refuses makes of a
// batch.
#include "coordinator/server/queue_driver.h"

#include "tests/coordinator/core/core_harness.h"
#include "tests/coordinator/still_clock.h"

namespace enginery {
namespace {

struct QueueDriverTest : testing::Test {
  StillClock clock;
  MemoryStore store;
  std::unique_ptr<QueueDriver> driver = must(QueueDriver::open(store, clock, {}));

  void feed(Body body, uint64_t id) {
    driver->feed(Request{{"client", {0, id}}, "client", std::move(body), {}});
  }
  void submit(uint64_t id, const std::string& model = "m") {
    SubmitRequest request = make_submit(model, {"x"}, model);
    request.wait_for_workers = true;
    store.add_blob(request.model, 0, 0);
    feed(std::move(request), id);
  }
  void sync(uint64_t id) {
    SyncRequest sync;
    sync.worker = sync.device = "w";
    sync.sku = "x";
    sync.sequence = id;
    feed(sync, id);
  }
};

TEST_F(QueueDriverTest, NothingLeavesBeforeTheBatchIsDurable) {
  submit(1);
  submit(2, "another");
  EXPECT_TRUE(store.rows().jobs.empty());
  const Outbox outbox = driver->flush();
  EXPECT_EQ(store.rows().jobs.size(), 2u);
  EXPECT_EQ(outbox.replies.size(), 2u);
  EXPECT_EQ(outbox.new_jobs, (std::vector<std::string>{"j1", "j2"}));
}

TEST_F(QueueDriverTest, ALookupSeesWhatItsBatchWrote) {
  submit(1);
  submit(2);  // the same work: joined, not made again
  driver->flush();
  EXPECT_EQ(store.rows().steps.size(), 1u);
}

TEST_F(QueueDriverTest, ABatchThatWritesNothingNeedsNoTransaction) {
  store.fail_next(1);
  feed(ListJobs{}, 1);
  const Outbox outbox = driver->flush();
  ASSERT_EQ(outbox.replies.size(), 1u);
  EXPECT_TRUE(std::holds_alternative<JobList>(outbox.replies[0].body));
}

TEST_F(QueueDriverTest, AFullDiskRefusesEveryRequestOfTheBatchButSyncs) {
  submit(1);
  sync(2);
  feed(ListJobs{}, 3);
  store.fail_next(1);
  const Outbox outbox = driver->flush();
  std::vector<uint64_t> refused;
  for (const Reply& reply : outbox.replies) {
    EXPECT_EQ(std::get<ErrorReply>(reply.body).fault.code, ErrorCode::storage);
    EXPECT_NE(std::get<ErrorReply>(reply.body).fault.message.find("no space"), std::string::npos);
    refused.push_back(reply.to.request.low);
  }
  EXPECT_EQ(refused, (std::vector<uint64_t>{1, 3}));
  EXPECT_TRUE(outbox.new_jobs.empty());
  EXPECT_EQ(outbox.notes.size(), 1u);
  EXPECT_TRUE(store.rows().jobs.empty());
}

TEST_F(QueueDriverTest, AfterAFailureTheCoreIsWhatIsStored) {
  submit(1);
  driver->flush();
  submit(2, "another");
  store.fail_next(1);
  driver->flush();
  feed(ListJobs{}, 3);
  const Outbox outbox = driver->flush();
  ASSERT_EQ(outbox.replies.size(), 1u);
  EXPECT_EQ(std::get<JobList>(outbox.replies[0].body).jobs.size(), 1u);
  EXPECT_EQ(driver->core().check(), "");
}

TEST_F(QueueDriverTest, GoesOnWhenTheDiskHasRoomAgain) {
  store.fail_next(3);
  for (uint64_t id = 1; id <= 3; ++id) {
    submit(id);
    EXPECT_TRUE(std::holds_alternative<ErrorReply>(driver->flush().replies.at(0).body)) << id;
    clock.now = std::max(clock.now, driver->next_timer().value());
  }
  submit(4);
  EXPECT_TRUE(std::holds_alternative<JobReply>(driver->flush().replies.at(0).body));
  EXPECT_EQ(store.violation(), "");
}

// A queue of many jobs takes long to load, and a disk that is full stays full.
TEST_F(QueueDriverTest, WhileTheDiskStaysFullTheQueueIsLoadedNowAndThenOnly) {
  constexpr int kFailures = 1000;
  store.fail_next(kFailures);
  int notes = 0;
  for (uint64_t id = 1; id <= 600; ++id) {  // a minute, ten requests a second
    submit(id);
    const Outbox outbox = driver->flush();
    EXPECT_TRUE(std::holds_alternative<ErrorReply>(outbox.replies.at(0).body)) << id;
    notes += static_cast<int>(outbox.notes.size());
    clock.now += std::chrono::milliseconds(100);
  }
  EXPECT_LE(notes, 20);
  EXPECT_GE(notes, 10);
  store.fail_next(0);
  clock.now = driver->next_timer().value();
  submit(1000);
  EXPECT_TRUE(std::holds_alternative<JobReply>(driver->flush().replies.at(0).body));
}

TEST_F(QueueDriverTest, SaysWhoHoldsALeaseAndWhenAStepEnds) {
  submit(1);
  const Outbox made = driver->flush();
  ASSERT_EQ(made.leases.size(), 1u);
  EXPECT_EQ(made.leases[0].epoch, 0u);
  EXPECT_FALSE(made.leases[0].ended);
  sync(2);
  const Outbox given = driver->flush();
  ASSERT_FALSE(given.leases.empty());
  EXPECT_EQ(given.leases.back().step, made.leases[0].step);
  EXPECT_EQ(given.leases.back().epoch, 1u);
  feed(CancelJob{"j1"}, 3);
  const Outbox ended = driver->flush();
  ASSERT_FALSE(ended.leases.empty());
  EXPECT_TRUE(ended.leases.back().ended);
}

TEST_F(QueueDriverTest, AnEmptyFlushSaysNothing) {
  const Outbox outbox = driver->flush();
  EXPECT_TRUE(outbox.replies.empty());
  EXPECT_TRUE(outbox.notes.empty());
}

}  // namespace
}  // namespace enginery
