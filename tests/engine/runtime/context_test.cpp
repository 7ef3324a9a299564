// The public API as other programs call it, wrongly too: every mistake is an error value that names
// it, and nothing of the calling program is changed.
#include <gtest/gtest.h>
#include <omp.h>
#include <sched.h>
#include <xmmintrin.h>

#include <algorithm>
#include <optional>
#include <thread>

#include "tests/engine/runtime/signed_engine.h"

namespace enginery {
namespace {

constexpr size_t kElements = 32 * 40 * 40;

class Context : public testing::Test {
 protected:
  static void SetUpTestSuite() { file_ = std::make_unique<test::SignedEngine>(test::kTwoLayers); }
  static void TearDownTestSuite() { file_.reset(); }

  static Engine engine(int threads = 1) { return file_->load(threads).value(); }
  static void expect_error(const Status& status, const std::string& words) {
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().code, ErrorCode::invalid_argument);
    EXPECT_NE(status.error().message.find(words), std::string::npos) << status.error().message;
  }
  template <typename T>
  static void expect_error(const Result<T>& result, const std::string& words) {
    expect_error(result.ok() ? Status() : Status(result.error()), words);
  }

  static std::unique_ptr<test::SignedEngine> file_;
  std::vector<float> x_ = std::vector<float>(kElements, 0.5f), z_ = x_;
  std::vector<float> y_ = std::vector<float>(kElements);
  const void* inputs_[2] = {x_.data(), z_.data()};
  void* outputs_[1] = {y_.data()};
};

std::unique_ptr<test::SignedEngine> Context::file_;

TEST_F(Context, RefusesBuffersThatAreNotOnesOfTheEngine) {
  auto context = engine().create_context().value();
  using Inputs = std::vector<const void*>;
  using Outputs = std::vector<void*>;
  void* const misaligned = reinterpret_cast<char*>(y_.data()) + 1;
  const struct {
    Inputs inputs;
    Outputs outputs;
    std::string words;
  } wrong[] = {
      {{x_.data()}, {y_.data()}, "2 inputs and 1 outputs, got 1 and 1"},
      {{}, {}, "got 0 and 0"},
      {{x_.data(), z_.data(), z_.data()}, {y_.data()}, "got 3 and 1"},
      {{x_.data(), z_.data()}, {y_.data(), y_.data()}, "got 2 and 2"},
      {{x_.data(), nullptr}, {y_.data()}, "input 1 ('z'): the buffer is null"},
      {{x_.data(), z_.data()}, {nullptr}, "output 0 ('y'): the buffer is null"},
      {{misaligned, z_.data()}, {y_.data()}, "input 0 ('x'): the buffer is not aligned"},
      {{x_.data(), z_.data()}, {misaligned}, "output 0 ('y'): the buffer is not aligned"},
  };
  for (const auto& call : wrong) expect_error(context.run(call.inputs, call.outputs), call.words);
  const Status right = context.run(inputs_, outputs_);
  EXPECT_TRUE(right.ok()) << right.error().message;
}

TEST_F(Context, CannotBeTimedBeforeItHasInputs) {
  auto context = engine().create_context().value();
  expect_error(context.time_us(), "run it once first");
  expect_error(context.profile(3), "run it once first");
  ASSERT_TRUE(context.run(inputs_, outputs_).ok());
  EXPECT_GT(context.time_us().value(), 0);
  EXPECT_EQ(context.profile(1).value().size(), engine().info().layers.size());
  expect_error(context.profile(0), "at least one round");
}

TEST_F(Context, ThatWasMovedFromSaysSo) {
  auto context = engine().create_context().value();
  ExecutionContext taken = std::move(context);
  // NOLINTBEGIN(bugprone-use-after-move): that is what is tested
  expect_error(context.run(inputs_, outputs_), "moved from");
  expect_error(context.time_us(), "moved from");
  expect_error(context.profile(1), "moved from");
  EXPECT_TRUE(taken.run(inputs_, outputs_).ok());
  Engine loaded = engine();
  const Engine other = std::move(loaded);
  expect_error(loaded.create_context(), "moved from");
  EXPECT_EQ(loaded.info().layers.size(), 0u);
  EXPECT_EQ(loaded.threads(), 0);
  EXPECT_EQ(loaded.packed_weight_bytes(), 0);
  EXPECT_TRUE(loaded.device_state().empty());
  // NOLINTEND(bugprone-use-after-move)
  EXPECT_TRUE(other.create_context().ok());
}

TEST_F(Context, OutlivesItsEngine) {
  std::optional<ExecutionContext> context;
  {
    const Engine loaded = engine();
    context = loaded.create_context().value();
  }
  EXPECT_TRUE(context->run(inputs_, outputs_).ok());
}

TEST_F(Context, GivesTheSameFromAnyThread) {
  auto context = engine(2).create_context().value();
  ASSERT_TRUE(context.run(inputs_, outputs_).ok());
  const std::vector<float> first = y_;
  std::fill(y_.begin(), y_.end(), 0.0f);
  std::thread([&] { EXPECT_TRUE(context.run(inputs_, outputs_).ok()); }).join();
  EXPECT_EQ(y_, first);
}

TEST(EngineState, IsToldToManyThreadsAtOnce) {
  const test::SignedEngine file("input %x : float32[4]\n %y = act(%x) kind=tanh\n output %y");
  const Engine engine = file.load().value();
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&engine] {
      for (int n = 0; n < 200; ++n) EXPECT_EQ(engine.device_state().size(), 6u);
    });
  }
}

constexpr unsigned kControlBits = 0xffc0;  // of MXCSR: without what earlier arithmetic left in it

// What a program that loads an engine can see of its own threads.
struct Host {
  explicit Host(int threads) : modes(static_cast<size_t>(threads)), cores(modes.size()) {
    region_size = omp_get_max_threads();
    own_mode = _mm_getcsr() & kControlBits;
#pragma omp parallel num_threads(threads)
    {
      const auto i = static_cast<size_t>(omp_get_thread_num());
      modes[i] = _mm_getcsr() & kControlBits;
      cpu_set_t set;
      sched_getaffinity(0, sizeof set, &set);
      cores[i] = CPU_COUNT(&set);
    }
  }
  bool operator==(const Host&) const = default;
  int region_size = 0;
  unsigned own_mode = 0;
  std::vector<unsigned> modes;
  std::vector<int> cores;  // how many each thread may run on
};

TEST_F(Context, LeavesItsHostAsItWasAfterEveryCall) {
  const int was = omp_get_max_threads();
  // As many threads as cores: then they are bound to them while they compute.
  const int threads = std::max(2, omp_get_num_procs());
  for (const int host_threads : {1, 3}) {
    omp_set_num_threads(host_threads);
    const Host before(threads);
    const auto unchanged = [&](const char* call) {
      EXPECT_TRUE(Host(threads) == before) << call << " with " << host_threads << " threads";
    };
    const Engine loaded = engine(threads);
    unchanged("load");
    auto context = loaded.create_context().value();
    unchanged("create_context");
    ASSERT_TRUE(context.run(inputs_, outputs_).ok());
    unchanged("run");
    ASSERT_TRUE(context.time_us().ok());
    unchanged("time_us");
    ASSERT_TRUE(context.profile(2).ok());
    unchanged("profile");
    ASSERT_FALSE(context.run({}, {}).ok());
    unchanged("a refused run");
    (void)loaded.device_state();
    unchanged("device_state");
  }
  omp_set_num_threads(was);
}

}  // namespace
}  // namespace enginery
