// The thread rules of enginery.h, under the thread sanitizer: contexts of one engine run at once, a
// context that two threads call is an error value, and handles come and go meanwhile.
#include <atomic>
#include <thread>

#include "engine/base/log.h"
#include "tests/engine/c_api/threads/layers_by_hand.h"

namespace enginery::test {
namespace {

class CThreads : public CLoaded {
 protected:
  static void SetUpTestSuite() { file_ = std::make_unique<SignedFile>(layers_by_hand()); }
};

constexpr int kThreads = 3;
constexpr int kRounds = 4;

// Runs `body(thread)` on all threads at once; all begin together.
template <typename Body>
void on_threads(Body&& body) {
  std::atomic<int> ready = 0;
  std::vector<std::jthread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      ++ready;
      while (ready < kThreads) std::this_thread::yield();
      body(t);
    });
  }
}

// One output per thread, on inputs of the thread's own.
std::vector<float> run_with_own_context(enginery_engine* engine, float value, bool enqueued) {
  enginery_context* own = nullptr;
  EXPECT_EQ(enginery_context_create(engine, &own), ENGINERY_OK) << enginery_last_error();
  const std::vector<float> x(kElements, value);
  std::vector<float> y(kElements);
  EXPECT_EQ(enginery_context_set_input(own, "x", x.data(), kTensorBytes), ENGINERY_OK);
  EXPECT_EQ(enginery_context_set_input(own, "z", x.data(), kTensorBytes), ENGINERY_OK);
  EXPECT_EQ(enginery_context_set_output(own, "y", y.data(), kTensorBytes), ENGINERY_OK);
  for (int round = 0; round < kRounds; ++round) {
    const enginery_status ran =
        enqueued ? enginery_context_enqueue(own, nullptr) : enginery_context_run(own);
    EXPECT_EQ(ran, ENGINERY_OK) << enginery_last_error();
  }
  EXPECT_EQ(enginery_context_destroy(own), ENGINERY_OK);
  return y;
}

TEST_F(CThreads, ContextsOfOneEngineRunAtOnce) {
  std::vector<std::vector<float>> wanted, given(kThreads);
  for (int t = 0; t < kThreads; ++t)
    wanted.push_back(run_with_own_context(engine_, 0.1f * static_cast<float>(t), false));
  EXPECT_NE(wanted[0], wanted[1]);
  on_threads([&](int t) {
    given[static_cast<size_t>(t)] =
        run_with_own_context(engine_, 0.1f * static_cast<float>(t), t % 2 == 0);
  });
  EXPECT_EQ(given, wanted);
}

TEST_F(CThreads, OneContextIsBusyForAllButOne) {
  set_all();
  std::atomic<int> ran = 0, busy = 0;
  on_threads([&](int) {
    for (int round = 0; round < kRounds; ++round) {
      const enginery_status status = enginery_context_run(context_);
      ran += status == ENGINERY_OK;
      busy += status == ENGINERY_ERROR_BUSY;
      const enginery_status set =
          enginery_context_set_input(context_, "x", x_.data(), kTensorBytes);
      EXPECT_TRUE(set == ENGINERY_OK || set == ENGINERY_ERROR_BUSY) << set;
    }
  });
  EXPECT_GT(ran, 0);
  EXPECT_EQ(ran + busy, kThreads * kRounds);
}

TEST_F(CThreads, AContextGoesFromThreadToThread) {
  set_all();
  for (int round = 0; round < 2; ++round)
    std::thread([&] { expect_ok(enginery_context_run(context_)); }).join();
}

// Exactly one thread destroys each; every other call meets a live handle or none.
TEST_F(CThreads, HandlesAreDestroyedWhileOthersUseThem) {
  set_all();
  std::atomic<int> destroyed_contexts = 0, destroyed_engines = 0;
  on_threads([&](int) {
    enginery_engine_info info{};
    info.struct_size = sizeof info;
    enginery_engine_get_info(engine_, &info);
    enginery_context_run(context_);
    destroyed_engines += enginery_engine_destroy(engine_) == ENGINERY_OK;
    enginery_status destroyed = ENGINERY_ERROR_BUSY;
    while (destroyed == ENGINERY_ERROR_BUSY) destroyed = enginery_context_destroy(context_);
    destroyed_contexts += destroyed == ENGINERY_OK;
  });
  EXPECT_EQ(destroyed_engines, 1);
  EXPECT_EQ(destroyed_contexts, 1);
}

TEST_F(CThreads, EnginesAreLoadedRunAndDestroyedAtOnce) {
  const std::vector<float> wanted = run_with_own_context(engine_, 0.25f, false);
  std::vector<std::vector<float>> given(kThreads);
  on_threads([&](int t) {
    for (int round = 0; round < kRounds; ++round) {
      enginery_load_options options = load_options_;
      options.map_file = t % 2;
      enginery_engine* own = nullptr;
      ASSERT_EQ(enginery_engine_load_file(file_->file().c_str(), &options, &own), ENGINERY_OK)
          << enginery_last_error();
      given[static_cast<size_t>(t)] = run_with_own_context(own, 0.25f, false);
      EXPECT_EQ(enginery_engine_destroy(own), ENGINERY_OK);
    }
  });
  for (const std::vector<float>& one : given) EXPECT_EQ(one, wanted);
}

TEST_F(CThreads, ProfilesAreReportedToTheirOwnThread) {
  std::vector<std::vector<std::string>> layers(kThreads);
  on_threads([&](int t) {
    enginery_context* own = nullptr;
    ASSERT_EQ(enginery_context_create(engine_, &own), ENGINERY_OK);
    std::vector<float> y(kElements);
    expect_ok(enginery_context_set_input(own, "x", x_.data(), kTensorBytes));
    expect_ok(enginery_context_set_input(own, "z", z_.data(), kTensorBytes));
    expect_ok(enginery_context_set_output(own, "y", y.data(), kTensorBytes));
    expect_ok(enginery_context_run(own));
    const auto note = [](void* user, int32_t, const enginery_layer_info* layer) {
      static_cast<std::vector<std::string>*>(user)->push_back(layer->name);
    };
    expect_ok(enginery_context_profile(own, 1, note, &layers[static_cast<size_t>(t)]));
    expect_ok(enginery_context_destroy(own));
  });
  for (const auto& one : layers) EXPECT_EQ(one, (std::vector<std::string>{"sum", "scaled", "y"}));
}

// The caller's function needs no lock of its own.
TEST_F(CThreads, LogLinesComeOneAtATime) {
  std::vector<std::string> lines;
  const auto keep = [](void* user, int32_t, const char* message) {
    static_cast<std::vector<std::string>*>(user)->push_back(message);
  };
  expect_ok(enginery_set_log(keep, &lines, 2));
  on_threads([&](int) {
    for (int round = 0; round < kRounds; ++round) log_warning("a line");
  });
  expect_ok(enginery_set_log(nullptr, nullptr, 2));
  EXPECT_EQ(lines, std::vector<std::string>(kThreads * kRounds, "a line"));
}

TEST_F(CThreads, MessagesAreEachThreadsOwn) {
  on_threads([&](int t) {
    const std::string name = "none" + std::to_string(t);
    enginery_context* own = nullptr;
    ASSERT_EQ(enginery_context_create(engine_, &own), ENGINERY_OK);
    for (int round = 0; round < kRounds; ++round) {
      expect_error(enginery_context_set_input(own, name.c_str(), x_.data(), kTensorBytes),
                   ENGINERY_ERROR_INVALID_ARGUMENT, name);
    }
    expect_ok(enginery_context_destroy(own));
  });
}

}  // namespace
}  // namespace enginery::test
