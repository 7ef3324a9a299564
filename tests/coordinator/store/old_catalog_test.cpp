// A farm's folder that an earlier enginery left: the queue goes on, and what was built answers
// without a worker.
#include "tests/cache/old_catalog.h"

#include <gtest/gtest.h>

#include "cache/catalog.h"
#include "coordinator/store/store.h"
#include "tests/coordinator/farm_fixture.h"

namespace enginery {
namespace {

class OldFarmTest : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directory(data());
    ASSERT_EQ(test::restore_old_catalog(data(), ENGINERY_SOURCE_DIR "/tests/cache/old_catalog.sql"),
              "");
  }
  std::filesystem::path data() const { return folder_.path / "data"; }

  Result<LoadedQueue> load() const {
    TRY(const auto catalog, Catalog::open(data()));
    TRY(const auto store, make_sqlite_store(*catalog));
    return store->load();
  }

  TemporaryFolder folder_;
};

TEST_F(OldFarmTest, ItsQueueIsReadAsItWas) {
  const Result<LoadedQueue> queue = load();
  ASSERT_TRUE(queue.ok()) << queue.error().message;
  ASSERT_EQ(queue->jobs.size(), 2u);
  const JobRow& done = queue->jobs.at(1);
  EXPECT_EQ(done.state, JobState::done);
  EXPECT_EQ(done.request.name, "net");
  EXPECT_EQ(done.request.tags, std::vector<std::string>{"stable"});
  ASSERT_EQ(done.targets.size(), 1u);
  ASSERT_TRUE(done.targets[0].engine);
  EXPECT_EQ(done.targets[0].engine->hex(), test::kOldEngine);
  EXPECT_EQ(done.targets[0].uses.size(), 6u);  // validate, tune, assemble, verify, profile, sign
  const JobRow& later = queue->jobs.at(2);
  EXPECT_FALSE(is_end(later.state));
  EXPECT_EQ(later.request.targets.at(0).sku, "cpu-avx2");
  EXPECT_TRUE(later.request.wait_for_workers);
  EXPECT_EQ(queue->steps.size(), 7u);
  ASSERT_EQ(queue->skus.size(), 1u);
  EXPECT_EQ(queue->skus.begin()->first.first, "cpu-sse41");
}

TEST_F(OldFarmTest, TheSameSubmitIsAnsweredWithoutAnyStep) {
  const Result<LoadedQueue> queue = load();
  ASSERT_TRUE(queue.ok()) << queue.error().message;
  CoordinatorOptions options;
  options.data = data();
  options.listen = "ipc://" + (folder_.path / "c.sock").string();
  options.bulk_listen = "ipc://" + (folder_.path / "b.sock").string();
  options.check_engine = accept_engine;
  const auto coordinator = Coordinator::start(options);
  ASSERT_TRUE(coordinator.ok()) << coordinator.error().message;
  const auto client = connect_to(options.listen, "tester@here");
  ASSERT_NE(client, nullptr);
  const Result<JobView> again = client->submit(queue->jobs.at(1).request, make_request_id());
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(again->state, JobState::done);
  ASSERT_EQ(again->targets.size(), 1u);
  EXPECT_EQ(again->targets[0].source, Source::cache);
  EXPECT_EQ(again->targets[0].key.hex(), test::kOldEngineKey);
  ASSERT_TRUE(again->targets[0].engine);
  EXPECT_EQ(again->targets[0].engine->hex(), test::kOldEngine);
  const auto misses = client->why_miss("j2");
  ASSERT_TRUE(misses.ok()) << misses.error().message;
  ASSERT_EQ(misses->size(), 1u);
  ASSERT_TRUE(misses->at(0).nearest);
  EXPECT_EQ(misses->at(0).nearest->hex(), test::kOldEngineKey);
}

}  // namespace
}  // namespace enginery
