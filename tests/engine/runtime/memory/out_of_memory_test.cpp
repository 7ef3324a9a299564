// Memory that runs out anywhere between loading an engine and the end of a run: an error value, and
// nothing is lost by it. Every allocation of C++ (operator new, in all threads and libraries) is
// one that fails in some round.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "tests/engine/runtime/signed_engine.h"

namespace {

// How many allocations still succeed.
std::atomic<int64_t> allowed{INT64_MAX};
// Whether those after the first that fails succeed again.
std::atomic<bool> only_one{false};

bool is_to_fail() {
  const int64_t left = allowed.fetch_sub(1, std::memory_order_relaxed);
  return left == 0 || (left < 0 && !only_one);
}

void* allocate_or_null(size_t bytes, size_t alignment) {
  return is_to_fail() ? nullptr
                      : std::aligned_alloc(alignment, (bytes + alignment) / alignment * alignment);
}

void* allocate(size_t bytes, size_t alignment) {
  void* const memory = allocate_or_null(bytes, alignment);
  if (!memory) throw std::bad_alloc();
  return memory;
}

}  // namespace

#if defined(__SANITIZE_ADDRESS__)
// oneDNN loses what it had made of a primitive when the next allocation fails.
extern "C" const char* __lsan_default_suppressions() {
  return "leak:libdnnl";
}
#endif

void* operator new(size_t bytes) {
  return allocate(bytes, alignof(std::max_align_t));
}
void* operator new(size_t bytes, std::align_val_t alignment) {
  return allocate(bytes, static_cast<size_t>(alignment));
}
void* operator new(size_t bytes, const std::nothrow_t&) noexcept {
  return allocate_or_null(bytes, alignof(std::max_align_t));
}
void* operator new(size_t bytes, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return allocate_or_null(bytes, static_cast<size_t>(alignment));
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, size_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, size_t, std::align_val_t) noexcept {
  std::free(memory);
}

namespace enginery {
namespace {

// Rounds that one sweep has at most: beyond these only some of the allocations fail.
constexpr int64_t kMaxRounds = 1500;

constexpr char kSmall[] =
    "input %x : float32[1x8x6x6]\n input %z : float32[1x8x6x6]\n "
    "%w = constant float32[8x8x3x3] random(1)\n "
    "%c = conv(%x, %w) strides=[1,1] dilations=[1,1] pads_begin=[1,1] pads_end=[1,1] groups=1\n "
    "%s = binary(%c, %z) kind=add\n %y = act(%s) kind=tanh\n output %y";
constexpr size_t kElements = 8 * 6 * 6;

// How many allocations the process makes until it is destroyed.
class Failing {
 public:
  Failing(int64_t after, bool one) {
    only_one = one;
    allowed = after;
  }
  ~Failing() { allowed = INT64_MAX; }
  static int64_t made(int64_t after) { return after - allowed; }
};

class OutOfMemory : public testing::TestWithParam<const char*> {
 protected:
  Status load_and_run() {
    std::fill(y_.begin(), y_.end(), 0.0f);
    TRY(const Engine engine, Engine::load(path_, options_));
    TRY(ExecutionContext context, engine.create_context());
    const void* const inputs[] = {x_.data(), x_.data()};
    void* const outputs[] = {y_.data()};
    return context.run(inputs, outputs);
  }

  // One round for each allocation that a run makes, or for some of them.
  void fail_each(bool only_one_fails) {
    ASSERT_TRUE(load_and_run().ok());
    const std::vector<float> expected = y_;
    int64_t count = 0, errors = 0, rounds = 0;
    {
      constexpr int64_t kMany = int64_t{1} << 40;
      const Failing none(kMany, only_one_fails);
      ASSERT_TRUE(load_and_run().ok());
      count = Failing::made(kMany);
    }
    const int64_t stride = std::max<int64_t>(1, count / kMaxRounds);
    for (int64_t after = 0; after < count; after += stride, ++rounds) {
      bool ended_well = false;
      {
        const Failing failing(after, only_one_fails);
        ended_well = load_and_run().ok();
      }
      errors += !ended_well;
      // What a library did without must not show in the result.
      if (ended_well) {
        ASSERT_EQ(y_, expected) << "after " << after << " allocations";
      }
    }
    std::cout << count << " allocations, " << rounds << " rounds, " << errors << " errors\n";
    EXPECT_GT(errors, rounds / 2);
    ASSERT_TRUE(load_and_run().ok());
    EXPECT_EQ(y_, expected);
  }

  void SetUp() override {
    SourceFilter filter;
    filter.only = {GetParam(), "reference"};
    file_ = std::make_unique<test::SignedEngine>(kSmall, filter);
    path_ = file_->file();
    options_.threads = 1;
    options_.keys_folder = file_->keys().string();
  }

 private:
  std::unique_ptr<test::SignedEngine> file_;
  std::string path_;
  LoadOptions options_;
  std::vector<float> x_ = std::vector<float>(kElements, 0.5f), y_ = x_;
};

TEST_P(OutOfMemory, AnAllocationThatFailsIsAnErrorValue) {
  fail_each(true);
}

TEST_P(OutOfMemory, AllAllocationsFromSomePointOnFailing) {
  fail_each(false);
}

INSTANTIATE_TEST_SUITE_P(Sources, OutOfMemory, testing::Values("kernel", "onednn", "reference"),
                         [](const auto& source) { return std::string(source.param); });

}  // namespace
}  // namespace enginery
