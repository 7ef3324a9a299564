// A collection while others work (R17): nothing goes that is pinned, leased or new, and nobody
// waits for it. ENGINERY_GC_BLOBS=5000 makes it large; the longest pause is printed, and the bar,
// 50 ms, is for a machine that does nothing else.
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <thread>

#include "cache/gc.h"
#include "tests/cache/support.h"

namespace enginery {
namespace {

using std::chrono::steady_clock;
using test::pattern;

class GcUnderLoad : public testing::Test {
 protected:
  Digest put(int seed, size_t size = 2000) {
    return VALUE(catalog_->blobs().put(as_bytes(pattern(size, seed))));
  }
  std::unique_ptr<Catalog> open() const {
    CatalogOptions options;
    options.clock = &clock_;
    return VALUE(Catalog::open(folder_.path, options));
  }
  // What the queue does all the time: a row in a transaction of its own. Says the longest one.
  double write_rows() {
    double longest_ms = 0;
    while (!done_) {
      const auto begin = steady_clock::now();
      EXPECT_TRUE(catalog_->events().append({0, "j1", 1, "kind", "{}"}).ok());
      longest_ms =
          std::max(longest_ms,
                   std::chrono::duration<double, std::milli>(steady_clock::now() - begin).count());
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return longest_ms;
  }
  // What uploads do.
  void put_new_ones() {
    for (int seed = 1'000'000; !done_; ++seed) fresh_.push_back(put(seed));
  }

  const int count_ = [] {
    const char* text = std::getenv("ENGINERY_GC_BLOBS");
    return text == nullptr ? 400 : std::atoi(text);
  }();
  test::TemporaryFolder folder_;
  test::FakeClock clock_;
  std::unique_ptr<Catalog> catalog_ = open();  // with fsync: it is most of a pause
  std::vector<Digest> fresh_;
  std::atomic<bool> done_ = false;
};

TEST_F(GcUnderLoad, TakesNothingThatIsNeededAndHoldsNobodyUp) {
  std::vector<Digest> needed;
  for (int seed = 0; seed < count_; ++seed) {
    const Digest blob = put(seed, seed % 10 == 0 ? 150'000 : 2000);
    if (seed % 4 == 0) {
      EXPECT_OK(catalog_->engines().pin(blob, "needed"));
    }
    if (seed % 4 <= 1) needed.push_back(blob);
  }
  clock_.now += std::chrono::hours(24 * 60);
  std::vector<Digest> leased;
  for (size_t i = 1; i < needed.size(); i += 2) leased.push_back(needed[i]);
  EXPECT_OK(lease_blobs(*catalog_, *catalog_, leased));

  double longest_ms = 0;
  std::thread queue([&] { longest_ms = write_rows(); }), uploads([&] { put_new_ones(); });
  const auto reader = VALUE(Catalog::open_reader(*catalog_));
  const auto report = collect_garbage(*catalog_, {}, reader.get());
  done_ = true;
  queue.join();
  uploads.join();

  ASSERT_TRUE(report.ok()) << report.error().message;
  std::printf("%zu of %d blobs collected, longest pause %.1f ms\n", report->dropped.size(), count_,
              longest_ms);
  EXPECT_EQ(report->dropped.size(), static_cast<size_t>(count_) - needed.size());
  for (const Digest& blob : needed) EXPECT_TRUE(catalog_->blobs().get(blob).ok());
  for (const Digest& blob : fresh_) EXPECT_TRUE(catalog_->blobs().get(blob).ok());
  EXPECT_FALSE(fresh_.empty());
  EXPECT_LT(longest_ms, 2000);
}

}  // namespace
}  // namespace enginery
