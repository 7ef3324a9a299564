// Many jobs and workers through the real core, driver and SQLite tables (R7).
// ENGINERY_LOAD_JOBS=100000 and ENGINERY_LOAD_WORKERS=1000 make it the whole bar; by default it is
// a small one that only catches a scan over everything.
#include <gtest/gtest.h>

#include <ctime>
#include <deque>

#include "cache/catalog.h"
#include "coordinator/server/queue_driver.h"
#include "tests/coordinator/farm_fixture.h"

namespace enginery {
namespace {

constexpr int kBatch = 64;  // events of a transaction, as under load

// Processor time: a busy machine must not fail the test.
double seconds_since(std::clock_t begin) {
  return std::max(1e-9, static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
}

class LoadRun {
 public:
  LoadRun(int jobs, int workers) : jobs_(jobs), workers_(workers) {
    catalog_ = std::move(*Catalog::open(folder_.path));
    store_ = std::move(*make_sqlite_store(*catalog_));
    driver_ = std::move(*QueueDriver::open(*store_, clock_, CoreOptions{}));
  }

  // Jobs a processor second.
  double submit() {
    const std::clock_t begin = std::clock();
    for (int i = 0; i < jobs_; ++i) {
      SubmitRequest request =
          make_submit("m" + std::to_string(i), {"sku" + std::to_string(i % 8)}, std::to_string(i));
      request.client = "client" + std::to_string(i % 10);
      request.wait_for_workers = true;
      feed({{"client", {1, static_cast<uint64_t>(i)}}, "client", std::move(request), {}});
    }
    flush();
    return jobs_ / seconds_since(begin);
  }

  // Steps handed out a processor second while every worker finishes at once what it is given.
  double dispatch() {
    std::vector<SyncRequest> workers(static_cast<size_t>(workers_));
    const std::clock_t begin = std::clock();
    for (int i = 0; i < workers_; ++i) {
      SyncRequest& sync = workers[static_cast<size_t>(i)];
      sync.worker = std::to_string(i);
      sync.incarnation = 1;
      sync.sku = "sku" + std::to_string(i % 8);
      sync.toolchain = "tool 1";
      sync.device = sync.worker;
      ask(sync, Idle{});
    }
    flush();
    int handed_out = 0;
    const int wanted = std::min(jobs_, workers_ * 30);
    while (handed_out < wanted && !runs_.empty()) {
      auto [worker, end] = std::move(runs_.front());
      runs_.pop_front();
      ++handed_out;
      ask(workers[std::stoul(worker)], std::move(end));
      if (runs_.empty()) flush();
    }
    EXPECT_GT(handed_out, 0);
    return handed_out / seconds_since(begin);
  }

 private:
  void ask(SyncRequest& sync, WorkerState state) {
    ++sync.sequence;
    sync.state = std::move(state);
    feed({{sync.worker, {2, sync.sequence}}, sync.worker, sync, {}});
  }
  static Finished end_of(const RunStep& run) {
    Finished end{run.ref, {}};
    if (run.kind == "validate") end.outcome.facts = {structure_fact(run)};
    return end;
  }
  void feed(Request request) {
    driver_->feed(std::move(request));
    if (++fed_ % kBatch == 0) flush();
  }
  void flush() {
    const Outbox outbox = driver_->flush();
    for (const Reply& reply : outbox.replies)
      if (const auto* answer = std::get_if<SyncReply>(&reply.body))
        if (const auto* run = std::get_if<RunStep>(&answer->desired))
          runs_.emplace_back(reply.to.route, end_of(*run));
  }

  int jobs_, workers_;
  TemporaryFolder folder_;
  SystemClock clock_;
  std::unique_ptr<Catalog> catalog_;
  std::unique_ptr<QueueStore> store_;
  std::unique_ptr<QueueDriver> driver_;
  std::deque<std::pair<std::string, Finished>> runs_;
  int fed_ = 0;
};

TEST(Load, SubmitsAndDispatchesWithoutScanningEverything) {
  const int jobs = static_cast<int>(from_environment("ENGINERY_LOAD_JOBS", 1500));
  const int workers = static_cast<int>(from_environment("ENGINERY_LOAD_WORKERS", 100));
  LoadRun load(jobs, workers);
  const double submitted = load.submit();
  const double dispatched = load.dispatch();
  std::printf("%d jobs, %d workers: %.0f submits, %.0f dispatches a processor second\n", jobs,
              workers, submitted, dispatched);
  EXPECT_GT(submitted, 50);
  EXPECT_GT(dispatched, 50);
}

}  // namespace
}  // namespace enginery
