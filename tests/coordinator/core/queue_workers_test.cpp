// What a worker says of itself: which Syncs are taken, what follows for its pools, and what it is
// told.
#include <functional>

#include "tests/coordinator/core/queue_fixture.h"

namespace enginery {
namespace {

using std::chrono::milliseconds;

struct QueueWorkersTest : QueueTest {
  Reception received(uint64_t incarnation, uint64_t its_sequence) {
    SyncRequest request = request_of("w", Idle{});
    request.incarnation = incarnation;
    request.sequence = its_sequence;
    return queue.receive(number_of("w"), request);
  }
  void take_from(uint64_t incarnation, uint64_t its_sequence) {
    SyncRequest request = request_of("w", Idle{});
    request.incarnation = incarnation;
    request.sequence = its_sequence;
    take(request);
  }
  bool silent(WorkerNo worker) {
    return turn([&](Turn& t) { return queue.falls_silent(worker, t); });
  }
  void drain(const std::string& worker, bool exit) {
    turn([&](Turn& t) {
      queue.drain(number_of(worker), {worker, exit}, t);
      return 0;
    });
  }
  void stop_listening(const std::string& worker) {
    turn([&](Turn&) {
      queue.stop_listening(number_of(worker));
      return 0;
    });
  }
};

TEST_F(QueueWorkersTest, ReceivesByProcessFirstAndThenBySequence) {
  take_from(5, 10);
  EXPECT_EQ(received(5, 11), Reception::take);
  EXPECT_EQ(received(5, 10), Reception::take);  // a repetition is answered again
  EXPECT_EQ(received(5, 9), Reception::overtake);
  EXPECT_EQ(received(6, 1), Reception::restart);  // a new process counts from the beginning
  EXPECT_EQ(received(4, 99), Reception::outlived);
}

TEST_F(QueueWorkersTest, AnOlderProcessMayComeBackWhenTheNewerFellSilent) {
  take_from(5, 10);
  now += options.worker_lost_after;
  ASSERT_TRUE(silent(0));
  EXPECT_EQ(received(4, 1), Reception::restart);  // the clock of its machine went back
}

TEST_F(QueueWorkersTest, ARepeatedSyncIsNoticedByProcessAndSequence) {
  const auto repeated = [&](uint64_t incarnation, uint64_t its_sequence) {
    SyncRequest request = request_of("w", Idle{});
    request.incarnation = incarnation;
    request.sequence = its_sequence;
    return turn([&](Turn& t) { return queue.update(queue.worker_of(request, t), request, t); });
  };
  EXPECT_FALSE(repeated(1, 7));
  EXPECT_TRUE(repeated(1, 7));
  EXPECT_FALSE(repeated(1, 8));
  EXPECT_FALSE(repeated(2, 8));
}

struct BadSync {
  const char* what;
  std::function<void(SyncRequest&)> within, beyond;
};

TEST_F(QueueWorkersTest, ASyncHasItsLimitsWhereItSays) {
  using R = SyncRequest;
  const BadSync table[] = {
      {"name", [](R& r) { r.worker.assign(200, 'w'); }, [](R& r) { r.worker.assign(201, 'w'); }},
      {"no name", [](R&) {}, [](R& r) { r.worker.clear(); }},
      {"SKU", [](R& r) { r.sku.assign(200, 's'); }, [](R& r) { r.sku.assign(201, 's'); }},
      {"no SKU", [](R&) {}, [](R& r) { r.sku.clear(); }},
      {"device", [](R& r) { r.device.assign(200, 'd'); }, [](R& r) { r.device.assign(201, 'd'); }},
      {"no device", [](R&) {}, [](R& r) { r.device.clear(); }},
      {"toolchain", [](R& r) { r.toolchain.assign(4096, 't'); },
       [](R& r) { r.toolchain.assign(4097, 't'); }},
      {"host", [](R& r) { r.host.assign(1024, 'h'); }, [](R& r) { r.host.assign(1025, 'h'); }},
      {"kind", [](R& r) { r.kind.assign(100, 'k'); }, [](R& r) { r.kind.assign(101, 'k'); }},
      {"health", [](R& r) { r.health.assign(16 * 1024, 'h'); },
       [](R& r) { r.health.assign(16 * 1024 + 1, 'h'); }},
      {"SKUs compiled for", [](R& r) { r.compiles_for.assign(1000, "s"); },
       [](R& r) { r.compiles_for.assign(1001, "s"); }},
      {"SKU compiled for", [](R& r) { r.compiles_for = {std::string(200, 's')}; },
       [](R& r) {
         r.compiles_for = {"s", std::string(201, 's')};
       }},
  };
  for (const BadSync& limit : table) {
    SyncRequest request = request_of("w", Idle{});
    limit.within(request);
    EXPECT_EQ(Queue::problem_of(request), nullptr) << limit.what;
    limit.beyond(request);
    EXPECT_NE(Queue::problem_of(request), nullptr) << limit.what;
  }
}

// Whether a worker that says this of itself is given a step with that row.
struct Fit {
  const char* what;
  std::function<void(SyncRequest&)> worker;
  std::function<void(StepRow&)> step;
  bool fits;
};

TEST_F(QueueWorkersTest, GivesAStepOnlyToAWorkerOfItsPool) {
  const auto tools = [](SyncRequest& r) { r.toolchain = "t1"; };
  const auto compiler = [](SyncRequest& r) {
    r.sku = "y";
    r.compiles_for = {"x"};
  };
  const auto untuned = [](StepRow& r) { r.provisional = true; };
  const Fit table[] = {
      {"the same SKU and toolchain", tools, [](StepRow& r) { r.toolchain = "t1"; }, true},
      {"any toolchain", tools, [](StepRow&) {}, true},
      {"another toolchain", tools, [](StepRow& r) { r.toolchain = "t2"; }, false},
      {"another SKU", [](SyncRequest& r) { r.sku = "y"; }, [](StepRow&) {}, false},
      {"a step of any SKU", [](SyncRequest& r) { r.sku = "y"; },
       [](StepRow& r) { r.kind = StepKind::validate; }, true},
      {"compiled elsewhere", compiler, untuned, true},
      {"a tuned step compiled elsewhere", compiler, [](StepRow&) {}, false},
      {"untuned at a worker that does not compile", tools, untuned, false},
      {"a worker that wants to be idle", [](SyncRequest& r) { r.prefer_idle = true; },
       [](StepRow&) {}, false},
  };
  uint64_t number = 0;
  for (const Fit& fit : table) {
    Queue fresh(options);
    StepRow row;
    row.kind = StepKind::assemble;
    row.key = sha256(fit.what);
    row.sku = "x";
    fit.step(row);
    SyncRequest request = request_of("w", Idle{});
    fit.worker(request);
    const bool leased = turn([&](Turn& t) {
      const uint64_t id = fresh.add(row, "key", t);
      fresh.join(id, {++number, 0}, {"c", 0});
      fresh.make_ready(id, t);
      const WorkerNo worker = fresh.worker_of(request, t);
      fresh.update(worker, request, t);
      fresh.heed(worker, {}, t);
      return fresh.lease_next(t).has_value();
    });
    EXPECT_EQ(leased, fit.fits) << fit.what;
    EXPECT_EQ(fresh.check(), "") << fit.what;
  }
}

TEST_F(QueueWorkersTest, ASkuIsStoredWhenItIsNewOrItsToolchainIs) {
  SyncRequest request = request_of("w", Idle{});
  request.kind = "cpu";
  request.toolchain = "t1";
  take(request);
  ASSERT_EQ(rows_of<SaveSku>(effects).size(), 1u);
  take(request);
  EXPECT_TRUE(rows_of<SaveSku>(effects).empty());
  request.toolchain = "t2";
  ++request.sequence;
  take(request);
  ASSERT_EQ(rows_of<SaveSku>(effects).size(), 1u);
  EXPECT_EQ(queue.skus().size(), 2u) << "the one does not replace the other";
  take(request);
  EXPECT_TRUE(rows_of<SaveSku>(effects).empty());
}

TEST_F(QueueWorkersTest, AWorkerThatMovesLeavesItsOldDevice) {
  sync("w", Idle{}, "old");
  sync("w", Idle{}, "new");
  ASSERT_NE(queue.sharers_of("new"), nullptr);
  EXPECT_TRUE(queue.sharers_of("new")->contains(0));
  EXPECT_TRUE(queue.sharers_of("old")->empty());
}

TEST_F(QueueWorkersTest, ADrainedWorkerIsToldOnceAndGivenNothing) {
  sync("w", Idle{});
  drain("w", false);
  add(StepKind::assemble, "a", {1, 0});
  EXPECT_FALSE(lease());
  EXPECT_EQ(queue.order_for(0), Order::drain);
  EXPECT_EQ(queue.order_for(0), Order::none);
}

TEST_F(QueueWorkersTest, AWorkerThatShouldExitFinishesItsStepFirst) {
  const uint64_t step = add(StepKind::assemble, "a", {1, 0});
  sync("w", Idle{});
  ASSERT_TRUE(lease());
  sync("w", Running{ref_of(step), {}});
  drain("w", true);
  EXPECT_EQ(queue.order_for(0), Order::drain);
  EXPECT_EQ(queue.order_for(0), Order::none);
  sync("w", ended(ref_of(step), OutcomeKind::failed));
  EXPECT_EQ(queue.order_for(0), Order::exit);
}

TEST_F(QueueWorkersTest, ANewProcessOfADrainedWorkerWorksAgain) {
  sync("w", Idle{});
  drain("w", true);
  take_from(2, 1);
  EXPECT_EQ(queue.order_for(0), Order::none);
  add(StepKind::assemble, "a", {1, 0});
  EXPECT_TRUE(lease());
}

TEST_F(QueueWorkersTest, TheLastWordFollowsFromWhatTheWorkerSays) {
  const uint64_t step = add(StepKind::assemble, "a", {1, 0});
  sync("w", Idle{});
  EXPECT_TRUE(std::holds_alternative<Keep>(queue.parting_word(0)));
  ASSERT_TRUE(lease());
  sync("w", Running{ref_of(step), {}});
  EXPECT_TRUE(std::holds_alternative<Keep>(queue.parting_word(0)));
  sync("w", Running{{"j1", step, 99}, {}});
  const Desired stop = queue.parting_word(0);
  ASSERT_TRUE(std::holds_alternative<Cancel>(stop));
  EXPECT_EQ(std::get<Cancel>(stop).ref.epoch, 99u);
  sync("w", ended(ref_of(step), OutcomeKind::failed));
  EXPECT_TRUE(std::holds_alternative<BeIdle>(queue.parting_word(0)));
}

TEST_F(QueueWorkersTest, AWorkerIsToldAgainToStopWhenItSaysSomethingElse) {
  const StepRef unknown{"j9", 9, 1};
  sync("w", Running{unknown, {"import", 1, 9, 0}});
  EXPECT_EQ(queue.order_for(0), Order::cancel);
  sync("w", Running{unknown, {"import", 1, 9, 0}});
  EXPECT_EQ(queue.order_for(0), Order::cancel_told);
  sync("w", Running{unknown, {"import", 2, 9, 0}});  // it goes on all the same
  EXPECT_EQ(queue.order_for(0), Order::cancel);
}

TEST_F(QueueWorkersTest, AStepWithoutALeaseStillOccupiesTheDeviceOfWhoRunsIt) {
  sync("w1", Running{{"j9", 9, 1}, {}}, "host");  // nobody knows what it is: it may measure
  add(StepKind::assemble, "a", {1, 0});
  sync("w2", Idle{}, "host");
  EXPECT_FALSE(lease());
  EXPECT_EQ(queue.load_of(queue.worker(number_of("w1"))), Load::measuring);
  sync("w1", Idle{}, "host");
  EXPECT_TRUE(lease());
}

TEST_F(QueueWorkersTest, OnlyAWorkerThatListensIsGivenWork) {
  sync("w", Idle{});
  stop_listening("w");
  add(StepKind::assemble, "a", {1, 0});
  EXPECT_FALSE(lease());
  sync("w", Idle{});
  EXPECT_TRUE(lease());
}

TEST_F(QueueWorkersTest, AWorkerThatSpokeInTheMeantimeIsAskedForLater) {
  sync("w", Idle{});
  now += options.worker_lost_after - milliseconds(1);
  sync("w", Idle{});
  const Nanoseconds spoke = now;
  now += milliseconds(1);
  timers.clear();
  EXPECT_FALSE(silent(0));
  EXPECT_EQ(timers,
            (std::vector<Timer>{{spoke + options.worker_lost_after, TimerKind::worker_lost, 0}}));
}

TEST_F(QueueWorkersTest, AWorkerThatComesBackIsWatchedAgain) {
  sync("w", Idle{});
  now += options.worker_lost_after;
  ASSERT_TRUE(silent(0));
  EXPECT_TRUE(queue.worker(0).lost);
  timers.clear();
  sync("w", Idle{});
  EXPECT_FALSE(queue.worker(0).lost);
  EXPECT_EQ(timers,
            (std::vector<Timer>{{now + options.worker_lost_after, TimerKind::worker_lost, 0}}));
}

TEST_F(QueueWorkersTest, ALostWorkersDeviceIsFree) {
  const uint64_t tune = add(StepKind::tune, "a", {1, 0});
  sync("w1", Idle{}, "host");
  ASSERT_TRUE(lease());
  now += options.worker_lost_after;
  ASSERT_TRUE(silent(number_of("w1")));
  turn([&](Turn& t) { return queue.lose(number_of("w1"), "silent", t); });
  sync("w2", Idle{}, "host");
  const auto next = lease();
  ASSERT_TRUE(next);
  EXPECT_EQ(next->step, tune);
}

}  // namespace
}  // namespace enginery
