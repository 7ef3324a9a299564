#include "engine/base/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

namespace enginery {
namespace {

TEST(ParallelFor, CallsEveryIndexOnce) {
  for (int64_t count : {0, 1, 2, 7, 1000}) {
    std::vector<std::atomic<int>> calls(static_cast<size_t>(count));
    parallel_for(count, [&](int64_t i) { ++calls[static_cast<size_t>(i)]; });
    for (const auto& n : calls) EXPECT_EQ(n, 1);
  }
}

TEST(ParallelFor, ReturnsWhenAllIsDone) {
  std::vector<int64_t> squares(64, -1);
  parallel_for(64, [&](int64_t i) { squares[static_cast<size_t>(i)] = i * i; });
  for (int64_t i = 0; i < 64; ++i) EXPECT_EQ(squares[static_cast<size_t>(i)], i * i);
}

TEST(ParallelLimit, KeepsWorkOnAsManyThreadsAsItSays) {
  const auto threads_used = [] {
    std::mutex mutex;
    std::set<std::thread::id> seen;
    parallel_for(64, [&](int64_t) {
      const std::lock_guard lock(mutex);
      seen.insert(std::this_thread::get_id());
    });
    return seen;
  };
  const ParallelLimit one(1);
  EXPECT_EQ(threads_used(), std::set{std::this_thread::get_id()});
  const ParallelLimit three(3);
  EXPECT_EQ(threads_used().size(), 1u) << "the least of those that nest";
}

// Two indices that wait for each other need two threads: only where the limit has gone.
TEST(ParallelLimit, EndsWithItsScope) {
  if (allowed_core_count() < 2) GTEST_SKIP() << "one core";
  { const ParallelLimit one(1); }
  std::barrier both(2);
  parallel_for(2, [&](int64_t) { both.arrive_and_wait(); });
}

TEST(ParallelRanges, CoverEveryIndexOnce) {
  for (int64_t count : {0, 1, 9, 10, 11, 105}) {
    std::vector<std::atomic<int>> seen(static_cast<size_t>(count));
    parallel_ranges(count, 10, [&](int64_t begin, int64_t end) {
      EXPECT_LE(end - begin, 10);
      for (int64_t i = begin; i < end; ++i) ++seen[static_cast<size_t>(i)];
    });
    for (const auto& n : seen) EXPECT_EQ(n, 1);
  }
}

// Out of memory in a helper thread must reach whoever can say so.
TEST(ParallelFor, GivesTheCallerWhatAnyThreadThrows) {
  for (const int64_t failing : {0, 1, 63}) {
    EXPECT_THROW(parallel_for(64,
                              [&](int64_t i) {
                                if (i == failing) throw std::bad_alloc();
                              }),
                 std::bad_alloc);
  }
}

}  // namespace
}  // namespace enginery
