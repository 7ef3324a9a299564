// The event log: in the order in which it was written, to be read from anywhere.
#include "cache/events.h"

#include "cache/memory_blob_store.h"
#include "tests/cache/support.h"

namespace enginery {
namespace {

class EventsTest : public testing::Test {
 protected:
  test::FakeClock clock_;
  MemoryBlobStore store_;
  std::unique_ptr<Catalog> catalog_ = VALUE(Catalog::open_in_memory(store_, clock_));
};

TEST_F(EventsTest, ComeInOrderAndGoOnFromAnywhere) {
  Events& events = catalog_->events();
  int64_t first = VALUE(events.append({0, "j1", 5, "submitted", "{}"}));
  EXPECT_OK(events.append({0, "j2", 6, "submitted", "{}"}));
  int64_t third = VALUE(events.append({0, "j1", 4, "queued", R"({"x":1})"}));
  EXPECT_LT(first, third);
  auto all = VALUE(events.list("", 0, 10));
  ASSERT_EQ(all.size(), 3u);
  auto mine = VALUE(events.list("j1", first, 10));
  ASSERT_EQ(mine.size(), 1u);
  EXPECT_EQ(mine[0].sequence, third);
  EXPECT_EQ(mine[0].kind, "queued");
  EXPECT_EQ(mine[0].json, R"({"x":1})");
  EXPECT_EQ(VALUE(events.list("", 0, 2)).size(), 2u);
}

TEST_F(EventsTest, SaysBehindWhichTheNewestOnesAre) {
  Events& events = catalog_->events();
  EXPECT_EQ(VALUE(events.before_newest("", 3)), 0) << "an empty journal";
  std::vector<int64_t> numbers;
  for (const char* job : {"j1", "j2", "j1", "j2", "j1"})
    numbers.push_back(VALUE(events.append({0, job, 0, "k", "{}"})));
  EXPECT_EQ(VALUE(events.list("", VALUE(events.before_newest("", 2)), 10)).size(), 2u);
  const auto two = VALUE(events.list("j1", VALUE(events.before_newest("j1", 2)), 10));
  ASSERT_EQ(two.size(), 2u);
  EXPECT_EQ(two[0].sequence, numbers[2]);
  EXPECT_EQ(VALUE(events.before_newest("j1", 3)), 0) << "all of them";
}

TEST_F(EventsTest, SaysBehindWhichThoseOfATimeAre) {
  Events& events = catalog_->events();
  for (const int64_t time : {10, 20, 30}) EXPECT_OK(events.append({0, "j1", time, "k", "{}"}));
  for (const auto& [time, count] :
       std::vector<std::pair<int64_t, size_t>>{{5, 3}, {10, 3}, {11, 2}, {30, 1}, {31, 0}})
    EXPECT_EQ(VALUE(events.list("", VALUE(events.before_time(time)), 10)).size(), count) << time;
}

}  // namespace
}  // namespace enginery
