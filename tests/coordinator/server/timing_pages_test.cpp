// Pages of timings: whole problems, each row once, and a cost that does not grow with the device.
#include "coordinator/server/timing_pages.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "cache/catalog.h"
#include "cache/memory_blob_store.h"
#include "tests/coordinator/farm_fixture.h"
#include "tests/coordinator/still_clock.h"

namespace enginery {
namespace {

struct TimingPagesTest : testing::Test {
  StillClock clock;
  MemoryBlobStore blobs;
  std::unique_ptr<Catalog> catalog = must(Catalog::open_in_memory(blobs, clock));
  const ActionKey device = ActionKey("device", "local").add("sku", "x");
  std::vector<Digest> problems;

  void add(int count, int tactics, size_t entry_bytes = 20) {
    ASSERT_TRUE(catalog->timings().record_key(device).ok());
    std::vector<TimingRow> rows;
    for (int p = 0; p < count; ++p) {
      const ActionKey key =
          ActionKey("problem", "local").add("n", static_cast<int>(problems.size()));
      ASSERT_TRUE(catalog->timings().record_key(key).ok());
      problems.push_back(key.digest());
      for (int t = 0; t < tactics; ++t)
        rows.push_back({device.digest(), key.digest(), "tactic " + std::to_string(t),
                        std::string(entry_bytes, '1'), 1});
    }
    ASSERT_TRUE(catalog->timings().put(rows).ok());
  }
  // All rows, page by page; `pages` of them.
  std::vector<TimingEntry> read_all(std::vector<Digest> of, int& pages) {
    std::vector<TimingEntry> all;
    GetTimings get{device.digest(), std::move(of), 0};
    for (pages = 1; pages < 100; ++pages) {
      const TimingList page = must(timing_page(catalog->timings(), get));
      all.insert(all.end(), page.entries.begin(), page.entries.end());
      if (page.complete) return all;
      EXPECT_GT(page.next_row, get.from_row);
      get.from_row = page.next_row;
    }
    ADD_FAILURE() << "no end";
    return all;
  }
};

TEST_F(TimingPagesTest, EveryRowComesOnceInItsOrder) {
  add(300, 10);
  int pages = 0;
  const std::vector<TimingEntry> all = read_all({}, pages);
  EXPECT_EQ(all.size(), 3000u);
  EXPECT_EQ(pages, 3);
  EXPECT_TRUE(std::is_sorted(all.begin(), all.end(), [](const auto& a, const auto& b) {
    return std::tie(a.problem, a.tactic) < std::tie(b.problem, b.tactic);
  }));
  const auto twice = std::adjacent_find(all.begin(), all.end(), [](const auto& a, const auto& b) {
    return a.problem == b.problem && a.tactic == b.tactic;
  });
  EXPECT_EQ(twice, all.end());
}

TEST_F(TimingPagesTest, AProblemIsNeverCut) {
  add(2, 1500);
  int pages = 0;
  EXPECT_EQ(read_all({}, pages).size(), 3000u);
  EXPECT_EQ(pages, 2);
}

TEST_F(TimingPagesTest, APageHasAboutOneMegabyte) {
  add(40, 1, 100'000);
  int pages = 0;
  EXPECT_EQ(read_all({}, pages).size(), 40u);
  EXPECT_EQ(pages, 4);
}

TEST_F(TimingPagesTest, OnlyTheProblemsThatAreAskedFor) {
  add(400, 10);
  int pages = 0;
  EXPECT_EQ(read_all({problems[3], problems[3], sha256("unknown")}, pages).size(), 10u);
  EXPECT_EQ(pages, 1);
  EXPECT_EQ(read_all({problems.begin(), problems.begin() + 250}, pages).size(), 2500u);
  EXPECT_EQ(pages, 3);
}

// The last page of many costs what the first one costs.
TEST_F(TimingPagesTest, APageCostsItsOwnRowsOnly) {
  add(4000, 10);
  std::sort(problems.begin(), problems.end());
  uint64_t place = 0;
  for (int i = 0; i < 8; ++i) place = place << 8 | problems[3990].bytes[i];
  const auto time_of = [&](uint64_t from) {
    auto best = std::chrono::nanoseconds::max();
    for (int i = 0; i < 7; ++i) {
      const auto begin = std::chrono::steady_clock::now();
      EXPECT_TRUE(timing_page(catalog->timings(), {device.digest(), {}, from}).ok());
      best = std::min<std::chrono::nanoseconds>(best, std::chrono::steady_clock::now() - begin);
    }
    return best;
  };
  EXPECT_LT(time_of(place), time_of(0));  // a hundred rows against a thousand
}

}  // namespace
}  // namespace enginery
