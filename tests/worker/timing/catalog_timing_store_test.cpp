// The tuner's timings in a catalog: what is read back, and what an entry that is damaged costs.
#include "worker/timing/catalog_timing_store.h"

#include <gtest/gtest.h>

#include "pipeline/keys.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/timing_of.h"

namespace enginery {
namespace {

using test::timing_of;

class InACatalog : public testing::Test {
 protected:
  const test::TemporaryFolder folder_;
  const std::unique_ptr<Catalog> catalog_ = Catalog::open(folder_.path).value();
  CatalogTimingStore store_{*catalog_};
};

TEST_F(InACatalog, TheLaterOfTwoTimingsStaysWhicheverComesFirst) {
  ASSERT_TRUE(store_.put("sku=x\n", "p", timing_of("a", 5, 2000)).ok());
  ASSERT_TRUE(store_.put("sku=x\n", "p", timing_of("a", 4, 1000)).ok());
  ASSERT_TRUE(store_.put("sku=x\n", "p", timing_of("b", 6)).ok());
  const auto found = store_.find("sku=x\n", "p");
  ASSERT_TRUE(found.ok());
  ASSERT_EQ(found->size(), 2u);
  EXPECT_EQ((*found)[0].unix_seconds, 2000) << "two farms' caches may be imported in any order";
  EXPECT_TRUE(store_.find("sku=y\n", "p")->empty());
}

TEST_F(InACatalog, KeysAreRecordedSoThatAMissCanBeExplained) {
  ASSERT_TRUE(store_.put("sku=x\n", "conv |", timing_of("a", 1)).ok());
  for (const ActionKey& key : {timing_device_key("sku=x\n"), timing_problem_key("conv |")}) {
    const auto known = catalog_->timings().find_key(key.digest());
    ASSERT_TRUE(known.ok()) << known.error().message;
    EXPECT_EQ(known->bytes(), key.bytes());
  }
}

TEST_F(InACatalog, AnEntryThatCannotBeReadIsMeasuredAgainAndReplaced) {
  ASSERT_TRUE(store_.put("sku=x\n", "p", timing_of("a", 1)).ok());
  const TimingRow damaged{timing_device_key("sku=x\n").digest(), timing_problem_key("p").digest(),
                          "a", "{\"tact", 2'000'000'000'000};
  ASSERT_TRUE(catalog_->timings().put({&damaged, 1}).ok());
  EXPECT_TRUE(store_.find("sku=x\n", "p")->empty());
  ASSERT_TRUE(store_.put("sku=x\n", "p", timing_of("a", 9, 3000)).ok());
  const auto found = store_.find("sku=x\n", "p");
  ASSERT_EQ(found->size(), 1u);
  EXPECT_EQ(found->front().statistics.least_us, 9);
}

}  // namespace
}  // namespace enginery
