// What people see of the farm: SKUs with their workers and waiting steps, and the workers.
#include "coordinator/core/farm_views.h"

#include <cmath>

#include "tests/coordinator/core/queue_fixture.h"

namespace enginery {
namespace {

using std::chrono::seconds;

struct FarmViewsTest : QueueTest {
  Now at() const { return {now, now}; }
  WorkerView worker(const std::string& id) const {
    for (const WorkerView& view : worker_list(queue, at()).workers)
      if (view.id == id) return view;
    ADD_FAILURE() << "no worker " << id;
    return {};
  }
  SkuView sku(const std::string& name) const {
    for (const SkuView& view : sku_list(queue).skus)
      if (view.sku == name) return view;
    ADD_FAILURE() << "no SKU " << name;
    return {};
  }
  void fall_silent(const std::string& name) {
    now += options.worker_lost_after;
    turn([&](Turn& t) { return queue.falls_silent(number_of(name), t); });
  }
};

// Numbers that are none, and that no device has, are as if it said nothing.
TEST_F(FarmViewsTest, AWorkersReadingIsWhatItsDeviceSays) {
  SyncRequest said = request_of("w1", Idle{}, "");
  said.reading = {1980, std::nan(""), -3, INFINITY, 4};
  take(std::move(said));
  EXPECT_EQ(worker("w1").reading, (DeviceReading{1980, 0, 0, 0, 4}));
}

TEST_F(FarmViewsTest, ASkuOfLongAgoIsListedWithoutWorkers) {
  LoadedQueue rows;
  rows.skus[{"old", "tool 0"}] = {"old", "cuda", "tool 0", 5};
  queue.load(std::move(rows));
  EXPECT_EQ(sku("old"), (SkuView{"old", "cuda", "tool 0", 0, 0, 0, {{"tool 0", 0, 0, 0}}}));
}

TEST_F(FarmViewsTest, ASkuCountsItsWorkersTheIdleOnesAndWhatWaits) {
  sync("w1", Idle{});
  sync("w2", Idle{});
  sync("w3", Idle{});
  add(StepKind::assemble, "a", {1, 0});
  ASSERT_TRUE(lease());
  fall_silent("w3");
  sync("w1", queue.worker(0).sync.state);
  sync("w2", queue.worker(1).sync.state);
  add(StepKind::tune, "b", {1, 0});
  add(StepKind::tune, "c", {1, 0});
  const SkuView view = sku("x");
  EXPECT_EQ(view.workers, 2u);
  EXPECT_EQ(view.idle, 1u);
  EXPECT_EQ(view.queued, 2u);
}

TEST_F(FarmViewsTest, AWorkerFromBeforeARestartIsNotCountedUntilItSpeaks) {
  const uint64_t step = add(StepKind::assemble, "a", {1, 0});
  sync("w", Idle{});
  ASSERT_TRUE(lease());
  Queue fresh(options);
  LoadedQueue rows;
  rows.steps[step] = row(step);
  for (const auto& [name, offered] : queue.skus()) rows.skus[name] = offered.row;
  fresh.load(std::move(rows));
  turn([&](Turn& t) {
    fresh.start(t);
    return 0;
  });
  ASSERT_EQ(sku_list(fresh).skus.size(), 1u);
  EXPECT_EQ(sku_list(fresh).skus[0].workers, 0u);
  EXPECT_EQ(worker_list(fresh, at()).workers.size(), 1u);
}

TEST_F(FarmViewsTest, AWorkersConditionIsTheWorstThatIsTrueOfIt) {
  const uint64_t step = add(StepKind::assemble, "a", {1, 0});
  sync("w", Idle{});
  EXPECT_EQ(worker("w").state, WorkerCondition::idle);
  ASSERT_TRUE(lease());
  EXPECT_EQ(worker("w").state, WorkerCondition::busy);
  turn([&](Turn& t) {
    queue.drain(number_of("w"), {"w", false}, t);
    return 0;
  });
  EXPECT_EQ(worker("w").state, WorkerCondition::draining);  // though it still works
  EXPECT_EQ(worker("w").step, "assemble");
  EXPECT_EQ(row(step).worker, "w");
  fall_silent("w");
  EXPECT_EQ(worker("w").state, WorkerCondition::lost);
}

TEST_F(FarmViewsTest, AWorkerThatWantsNoWorkIsDraining) {
  SyncRequest request = request_of("w", Idle{});
  request.prefer_idle = true;
  take(request);
  EXPECT_EQ(worker("w").state, WorkerCondition::draining);
}

TEST_F(FarmViewsTest, AWorkerShowsWhatItRunsAndWhenItSpoke) {
  const uint64_t step = add(StepKind::tune, "a", {7, 0});
  sync("w", Idle{});
  ASSERT_TRUE(lease());
  sync("w", Running{ref_of(step), {"layers", 3, 9, 12}});
  now += seconds(4);
  const WorkerView view = worker("w");
  EXPECT_EQ(view.job, "j7");
  EXPECT_EQ(view.step, "tune");
  EXPECT_EQ(view.progress, (Progress{"layers", 3, 9, 12}));
  EXPECT_EQ(view.last_seen_seconds, 4.0);
}

TEST_F(FarmViewsTest, AHealthTextIsCut) {
  SyncRequest request = request_of("w", Idle{});
  request.health.assign(10'000, 'h');
  take(request);
  EXPECT_EQ(worker("w").health.size(), 200u);
}

TEST_F(FarmViewsTest, AThousandWorkersAreListedByTheirNames) {
  for (int i = 1005; i > 0; --i) sync("w" + std::to_string(10'000 + i), Idle{}, "host");
  const WorkerList list = worker_list(queue, at());
  ASSERT_EQ(list.workers.size(), 1000u);
  EXPECT_EQ(list.workers.front().id, "w10001");
  EXPECT_EQ(list.workers.back().id, "w11000");
}

}  // namespace
}  // namespace enginery
