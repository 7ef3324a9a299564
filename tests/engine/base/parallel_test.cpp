#include "engine/base/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
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
