// Which histograms answer a key, and until when.
#include "cache/memory_blob_store.h"
#include "cache/results.h"
#include "tests/cache/support.h"

namespace enginery {
namespace {

class CalibrationsTest : public testing::Test {
 protected:
  test::FakeClock clock_;
  MemoryBlobStore store_;
  std::unique_ptr<Catalog> catalog_ = VALUE(Catalog::open_in_memory(store_, clock_));
  Calibrations& calibrations_ = catalog_->calibrations();
};

ActionKey key_of(const std::string& data) {
  ActionKey key("calibrate", "local");
  key.add("data", data);
  return key;
}

TEST_F(CalibrationsTest, AKeyHasTheHistogramsThatWerePutLast) {
  EXPECT_EQ(VALUE(calibrations_.find(key_of("a").digest())), std::nullopt);
  EXPECT_OK(calibrations_.put(key_of("a"), sha256("one")));
  EXPECT_OK(calibrations_.put(key_of("b"), sha256("two")));
  EXPECT_EQ(VALUE(calibrations_.find(key_of("a").digest())), sha256("one"));
  EXPECT_OK(calibrations_.put(key_of("a"), sha256("three")));
  EXPECT_EQ(VALUE(calibrations_.find(key_of("a").digest())), sha256("three"));
  EXPECT_EQ(VALUE(calibrations_.find(key_of("b").digest())), sha256("two"));
}

TEST_F(CalibrationsTest, WhatIsGoneIsAMissUntilItIsPutAgain) {
  EXPECT_OK(calibrations_.put(key_of("a"), sha256("one")));
  EXPECT_OK(catalog_->database().execute("UPDATE calibration SET gone_ns=1"));
  EXPECT_EQ(VALUE(calibrations_.find(key_of("a").digest())), std::nullopt);
  EXPECT_TRUE(VALUE(calibrations_.list()).empty());
  EXPECT_OK(calibrations_.put(key_of("a"), sha256("one")));
  EXPECT_EQ(VALUE(calibrations_.find(key_of("a").digest())), sha256("one"));
}

TEST_F(CalibrationsTest, TheListHasTheKeysFields) {
  EXPECT_OK(calibrations_.put(key_of("a"), sha256("one")));
  const auto rows = VALUE(calibrations_.list());
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].digest, key_of("a").digest());
  EXPECT_EQ(*rows[0].key.find("data"), "a");
  EXPECT_EQ(rows[0].histograms, sha256("one"));
}

}  // namespace
}  // namespace enginery
