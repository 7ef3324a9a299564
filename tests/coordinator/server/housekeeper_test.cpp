// A round of housekeeping: what goes, and that nothing goes while there is room.
#include "coordinator/server/housekeeper.h"

#include <gtest/gtest.h>

#include "cache/local_blob_store.h"
#include "coordinator/store/store.h"
#include "tests/coordinator/farm_fixture.h"
#include "tests/coordinator/still_clock.h"

namespace enginery {
namespace {

class HousekeeperTest : public testing::Test {
 protected:
  HousekeeperTest() {
    clock_.now = SystemClock().wall_time();
    CatalogOptions options;
    options.clock = &clock_;
    catalog_ = must(Catalog::open(folder_.path / "data", options));
    writer_ = must(BlobWriter::open(*catalog_->local_blobs()));
    store_ = must(make_sqlite_store(*catalog_));
  }
  Digest put(char c) { return must(catalog_->blobs().put(as_bytes(Bytes(200'000, c)))); }
  bool there(const Digest& blob) { return must(has_blob(catalog_->blobs(), blob)); }
  std::unique_ptr<Catalog> reader() { return must(Catalog::open_reader(*catalog_)); }
  Status tidy(uint64_t quota_bytes) {
    Housekeeping rules;
    rules.every = std::chrono::hours(1);  // not by itself
    rules.watermarks.quota_bytes = quota_bytes;
    return Housekeeper(*catalog_, reader(), *writer_, logs_, rules).tidy();
  }

  TemporaryFolder folder_;
  StillClock clock_;
  std::unique_ptr<Catalog> catalog_;
  std::unique_ptr<BlobWriter> writer_;
  std::unique_ptr<QueueStore> store_;
  LogStore logs_{folder_.path};
};

TEST_F(HousekeeperTest, AboveTheWatermarkTheOldestGo) {
  const Digest first = put('a');
  clock_.now += std::chrono::hours(1);
  const Digest second = put('b');
  clock_.now += std::chrono::hours(48);
  const Digest young = put('c');
  ASSERT_TRUE(tidy(1'000'000).ok());  // 600,000 of them: there is room
  EXPECT_TRUE(there(first));
  ASSERT_TRUE(tidy(620'000).ok());  // down to 496,000
  EXPECT_FALSE(there(first));
  EXPECT_TRUE(there(second));
  ASSERT_TRUE(tidy(100'000).ok());
  EXPECT_FALSE(there(second));
  EXPECT_TRUE(there(young));
}

TEST_F(HousekeeperTest, ForgottenUploadsAndOldEvidenceGo) {
  const Digest upload = sha256("promised");
  ASSERT_TRUE(writer_->append(upload, 0, "abc").ok());
  clock_.now += std::chrono::hours(25);
  ASSERT_TRUE(tidy(0).ok());
  EXPECT_EQ(must(writer_->offset(upload)), 0u);
}

TEST_F(HousekeeperTest, EndsAtOnce) {
  const auto begin = std::chrono::steady_clock::now();
  { const Housekeeper keeper(*catalog_, reader(), *writer_, logs_, {}); }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
}

}  // namespace
}  // namespace enginery
