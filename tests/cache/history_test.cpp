// What of the past goes, and what must stay although it is old.
#include "cache/gc.h"

#include <array>

#include "cache/completeness.h"
#include "cache/memory_blob_store.h"
#include "cache/verify.h"
#include "tests/cache/support.h"

namespace enginery {
namespace {

using test::key_of;
using test::result_of;

class HistoryTest : public testing::Test {
 protected:
  int64_t count(const std::string& table) {
    return VALUE(catalog_->database().find_integer("SELECT count(*) FROM " + table)).value_or(-1);
  }
  Digest blob(const std::string& text) { return VALUE(store_.put(as_bytes(text))); }
  void add_engine(const Digest& digest) {
    EngineRow row;
    row.digest = digest;
    row.name = "net";
    row.sku = "p4";
    EXPECT_OK(catalog_->engines().add(row));
  }
  void lose(const Digest& digest) {
    EXPECT_OK(forget_blob(catalog_->database(), store_, clock_, digest));
  }

  test::FakeClock clock_;
  MemoryBlobStore store_;
  std::unique_ptr<Catalog> catalog_ = VALUE(Catalog::open_in_memory(store_, clock_));
};

TEST_F(HistoryTest, OldEventsGo) {
  for (int64_t time : {1, 2, 3, 4})
    EXPECT_OK(catalog_->events().append({0, "j1", time, "made", "{}"}));
  EXPECT_EQ(VALUE(prune_history(*catalog_, 3)), 2);
  EXPECT_EQ(VALUE(catalog_->events().list("j1", 0, 10)).at(0).time_ns, 3);
  EXPECT_EQ(VALUE(catalog_->events().append({0, "j1", 5, "made", "{}"})), 5) << "no number twice";
}

TEST_F(HistoryTest, OfManyEventsTheNewestStay) {
  for (int i = 0; i < 2500; ++i) EXPECT_OK(catalog_->events().append({0, "j1", 5, "made", "{}"}));
  EXPECT_EQ(VALUE(prune_history(*catalog_, 0, 100)), 2400);
  EXPECT_EQ(VALUE(catalog_->events().list("j1", 0, 1000)).size(), 100u);
}

TEST_F(HistoryTest, EndedLeasesGo) {
  const Digest told = blob("told");
  EXPECT_OK(lease_blobs(*catalog_, *catalog_, std::array{told}));
  EXPECT_EQ(VALUE(prune_history(*catalog_, clock_.now.count())), 0);
  EXPECT_EQ(VALUE(prune_history(*catalog_, (clock_.now + kBlobLease).count() + 1)), 1);
}

TEST_F(HistoryTest, LostResultsGoButNotTheNewestGeneration) {
  const ActionKey key = key_of(1);
  for (int64_t generation : {1, 2, 3}) {
    const Digest made = blob(std::to_string(generation));
    EXPECT_OK(catalog_->results().commit(key, result_of(key, {{"engine", made}}, generation)));
  }
  lose(sha256("1"));
  lose(sha256("3"));
  EXPECT_EQ(VALUE(prune_history(*catalog_, clock_.now.count() + 1)), 2);  // a result and its commit
  EXPECT_EQ(count("result"), 2);
  EXPECT_EQ(VALUE(catalog_->results().next_generation(key.digest())), 4);
  EXPECT_TRUE(VALUE(verify(*catalog_)).clean());
}

TEST_F(HistoryTest, LostEnginesGoUnlessATagNamesThem) {
  const Digest plain = blob("plain"), tagged = blob("tagged"), there = blob("there");
  for (const Digest& digest : {plain, tagged, there}) add_engine(digest);
  EXPECT_OK(catalog_->engines().set_tag({"net", "prod", "p4", tagged, 0}));
  lose(plain);
  lose(tagged);
  EXPECT_EQ(VALUE(prune_history(*catalog_, clock_.now.count())), 0);  // not before their time
  EXPECT_EQ(VALUE(prune_history(*catalog_, clock_.now.count() + 1)), 1);
  EXPECT_EQ(count("engine"), 2);
  EXPECT_EQ(count("engine_name"), 2);
}

}  // namespace
}  // namespace enginery
