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

}  // namespace
}  // namespace enginery
