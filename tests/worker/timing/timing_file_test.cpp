#include "worker/timing/timing_file.h"

#include <gtest/gtest.h>

#include "engine/base/file.h"
#include "tests/worker/folder.h"
#include "worker/timing/catalog_timing_store.h"

namespace enginery {
namespace {

Timing timing(const std::string& tactic, double us) {
  Timing out;
  out.tactic = tactic;
  out.statistics = summarize({us, us, us});
  out.unix_seconds = 1000;
  return out;
}

TEST(FileTimingStore, RemembersAcrossProcesses) {
  const test::Folder folder;
  const auto file = folder.path / "timings.json";
  {
    auto store = FileTimingStore::open(file);
    ASSERT_TRUE(store.ok());
    for (int i = 0; i < 10; ++i)
      ASSERT_TRUE((*store)->put("device", "problem", timing("t" + std::to_string(i), i)).ok());
    ASSERT_TRUE((*store)->save().ok());
  }
  auto store = FileTimingStore::open(file);
  ASSERT_TRUE(store.ok()) << store.error().message;
  auto found = (*store)->find("device", "problem");
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->size(), 10u);
  EXPECT_EQ((*found)[3].statistics.median_us, 3);
  EXPECT_TRUE((*store)->find("device", "another")->empty());
}

TEST(FileTimingStore, RefusesWhatIsNoTimingCache) {
  const test::Folder folder;
  const auto file = folder.path / "timings.json";
  for (const char* text :
       {"", "[]", "{\"schema\":\"other/1\"}", "{\"schema\":\"enginery.timings/1\"}",
        "{\"schema\":\"enginery.timings/1\",\"devices\":[{\"device\":1,\"problems\":[]}, 3]}"}) {
    ASSERT_TRUE(write_file(file, text).ok());
    auto store = FileTimingStore::open(file);
    ASSERT_FALSE(store.ok()) << text;
    EXPECT_EQ(store.error().code, ErrorCode::corrupt_data);
  }
}

TEST(CatalogTimingStore, KeepsTheLaterOfTwoTimings) {
  const test::Folder folder;
  auto catalog = Catalog::open(folder.path);
  ASSERT_TRUE(catalog.ok());
  CatalogTimingStore store(**catalog);
  Timing later = timing("a", 5);
  later.unix_seconds = 2000;
  ASSERT_TRUE(store.put("sku=x\n", "p", timing("a", 4)).ok());
  ASSERT_TRUE(store.put("sku=x\n", "p", later).ok());
  ASSERT_TRUE(store.put("sku=x\n", "p", timing("b", 6)).ok());
  auto found = store.find("sku=x\n", "p");
  ASSERT_TRUE(found.ok());
  ASSERT_EQ(found->size(), 2u);
  EXPECT_EQ((*found)[0].statistics.median_us, 5);
  EXPECT_TRUE(store.find("sku=y\n", "p")->empty());
}

}  // namespace
}  // namespace enginery
