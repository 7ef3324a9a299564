// One network's tuning shared by several tuners over one store, each with a device of its own.
#include "tuner/network_problems.h"

#include <gtest/gtest.h>

#include <functional>
#include <thread>

#include "tests/tuner/fake_tactics.h"

namespace enginery {
namespace {

using test::Behaviour;
using test::TestDevice;
using test::TestSource;

// What several tunings have in common: the timings, and who has which problem in hand.
struct SharedWork {
  MemoryTimingStore timings;
  std::mutex mutex;
  std::map<int, std::string> in_hand;  // by assistant
  std::vector<std::pair<int, std::string>> taken;
  int sharers = 1;
  std::function<void(int assistant)> on_take = [](int) {};

  std::set<std::string> taken_once() const {
    std::set<std::string> out;
    for (const auto& [assistant, problem] : taken) out.insert(problem);
    return out;
  }
  void leave(int assistant) {
    const std::lock_guard lock(mutex);
    in_hand.erase(assistant);
  }
};

class SharedStore final : public TimingStore {
 public:
  SharedStore(SharedWork& work, int assistant) : work_(work), assistant_(assistant) {}
  Result<std::vector<Timing>> find(const std::string& device, const std::string& problem) override {
    return work_.timings.find(device, problem);
  }
  Status put(const std::string& device, const std::string& problem, const Timing& timing) override {
    return work_.timings.put(device, problem, timing);
  }
  Result<Taking> take(const std::string&, const std::string& problem, int left) override {
    EXPECT_GE(left, 1);
    work_.on_take(assistant_);
    const std::lock_guard lock(work_.mutex);
    for (const auto& [other, name] : work_.in_hand)
      if (other != assistant_ && name == problem) return Taking{false, work_.sharers};
    work_.in_hand[assistant_] = problem;
    work_.taken.emplace_back(assistant_, problem);
    return Taking{true, work_.sharers};
  }

 private:
  SharedWork& work_;
  const int assistant_;
};

// A worker: a device whose tactics take the same time on each.
struct Worker {
  TestDevice device;
  TacticSources sources;
  Network network;
  SharedStore store;
  TunerOptions options;
  TunerCounts counts;

  Worker(SharedWork& work, int assistant) : store(work, assistant) {
    options.assistant = assistant;
    options.seed = 1;
    sources.push_back(std::make_unique<TestSource>(
        device, std::vector<Behaviour>{{"a", 10, Behaviour::right, 40},
                                       {"b", 20, Behaviour::right, 8},
                                       {"wrong", 1, Behaviour::wrong}}));
    auto graph = parse_graph(
        "graph t { input %x : float32[1x4x8x8]\n %a = act(%x) kind=relu\n %b = act(%a) kind=tanh\n "
        "%c = act(%b) kind=sigmoid\n %d = act(%c) kind=elu\n %e = act(%d) kind=softplus\n "
        "%f = act(%e) kind=swish\n %g = act(%f) kind=gelu_erf\n %h = act(%g) kind=mish\n "
        "output %h }");
    EXPECT_TRUE(graph.ok()) << (graph.ok() ? "" : graph.error().message);
    network = *lower(*graph, sources, {Precision::fp32});
  }
  std::vector<std::string> choose() {
    Tuner tuner(device, sources, store, options);
    auto selection = tuner.select(network);
    counts = tuner.counts();
    EXPECT_TRUE(selection.ok()) << (selection.ok() ? "" : selection.error().message);
    std::vector<std::string> out;
    if (!selection.ok()) return out;
    for (const Tactic& tactic : selection->tactics) out.push_back(tactic_key(tactic));
    return out;
  }
  Status assist() {
    Tuner tuner(device, sources, store, options);
    const Status status = tuner.measure(network);
    counts = tuner.counts();
    return status;
  }
};

const std::vector<std::string>& choice_of_one() {
  static const std::vector<std::string> choice = [] {
    SharedWork work;
    return Worker(work, 0).choose();
  }();
  return choice;
}

TEST(NetworkProblems, SharersBeginAsFarApartAsMayBe) {
  std::vector<size_t> first;
  for (int n = 0; n < 8; ++n) first.push_back(first_problem_of(n, 16));
  EXPECT_EQ(first, (std::vector<size_t>{0, 8, 4, 12, 2, 10, 6, 14}));
  EXPECT_EQ(first_problem_of(3, 1), 0u);
  EXPECT_EQ(first_problem_of(0, 0), 0u);
}

class SharedTuning : public testing::TestWithParam<int> {};

TEST_P(SharedTuning, ChoosesAsOneTunerDoesAndMeasuresNothingTwice) {
  SharedWork alone;
  Worker one(alone, 0);
  const std::vector<std::string> wanted = one.choose();
  SharedWork work;
  work.sharers = GetParam();
  Worker leader(work, 0);
  std::vector<std::unique_ptr<Worker>> assistants;
  std::vector<std::thread> threads;
  for (int n = 1; n < GetParam(); ++n) {
    Worker& assistant = *assistants.emplace_back(std::make_unique<Worker>(work, n));
    threads.emplace_back([&assistant, &work, n] {
      EXPECT_TRUE(assistant.assist().ok());
      work.leave(n);
    });
  }
  EXPECT_EQ(leader.choose(), wanted);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(work.taken_once().size(), 8u);
  int measured = leader.counts.timings_measured;
  for (const auto& assistant : assistants) measured += assistant->counts.timings_measured;
  EXPECT_EQ(measured, one.counts.timings_measured);
}

INSTANTIATE_TEST_SUITE_P(Tuners, SharedTuning, testing::Values(1, 2, 4));

TEST(SharedTuningFaults, WhatALostAssistantHadInHandIsMeasuredByTheLeader) {
  SharedWork work;
  work.sharers = 2;
  Worker assistant(work, 1), leader(work, 0);
  int taken = 0;
  // It dies with its third problem in hand, and the farm notices.
  work.on_take = [&](int who) { taken += who == 1; };
  assistant.options.cancelled = [&] { return taken > 3; };
  EXPECT_EQ(assistant.assist().error().code, ErrorCode::cancelled);
  const size_t before = work.taken.size();
  EXPECT_GE(before, 2u);
  work.leave(1);
  EXPECT_EQ(leader.choose(), choice_of_one());
  EXPECT_GT(leader.counts.timings_measured, 0);
  EXPECT_LT(leader.counts.timings_measured, 3 * leader.counts.problems)
      << "what the assistant measured was there";
}

TEST(SharedTuningFaults, WaitsForAProblemThatAnotherHasInHandAndReadsIt) {
  SharedWork work;
  work.sharers = 2;
  Worker other(work, 1), leader(work, 0);
  // All that the other one measures is known, but the leader finds its problem in hand for a while.
  other.options.worker = "other";
  ASSERT_TRUE(other.assist().ok());
  SharedWork later;
  later.sharers = 2;
  const std::string problem = leader.network.nodes[0].problem.key();
  later.in_hand[1] = problem;
  std::atomic<int> asked = 0;
  later.on_take = [&](int) {
    if (++asked < 30) return;
    const std::string device = device_key(other.device.info());
    const auto measured = work.timings.find(device, problem);
    for (const Timing& timing : *measured)
      EXPECT_TRUE(later.timings.put(device, problem, timing).ok());
    later.leave(1);
  };
  Worker waits(later, 0);
  EXPECT_EQ(waits.choose(), choice_of_one());
  const auto kept = later.timings.find(device_key(other.device.info()), problem);
  EXPECT_EQ(kept->size(), 3u);
  for (const Timing& timing : *kept) EXPECT_EQ(timing.worker, "other") << timing.tactic;
}

TEST(SharedTuningFaults, AnAssistantBeginsElsewhere) {
  SharedWork ones, others;
  Worker leader(ones, 0), assistant(others, 1);
  leader.choose();
  ASSERT_TRUE(assistant.assist().ok());
  EXPECT_EQ(ones.taken_once(), others.taken_once());
  EXPECT_NE(ones.taken.front().second, others.taken.front().second);
}

TEST(SharedTuningFaults, AnAssistantWaitsForNobody) {
  SharedWork work;
  work.sharers = 2;
  Worker assistant(work, 1);
  work.in_hand[0] = assistant.network.nodes[2].problem.key();
  EXPECT_TRUE(assistant.assist().ok());
  EXPECT_EQ(work.taken_once().size(), 7u);
  EXPECT_TRUE(work.timings.find(device_key(assistant.device.info()), work.in_hand[0])->empty());
}

}  // namespace
}  // namespace enginery
