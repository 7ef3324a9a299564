// A missing blob: everything that needs it stops being an answer, at once and together.
#include "cache/completeness.h"

#include "cache/memory_blob_store.h"
#include "tests/cache/support.h"

namespace enginery {
namespace {

using test::key_of;
using test::result_of;

class CompletenessTest : public testing::Test {
 protected:
  CompletenessTest() {
    EXPECT_OK(catalog_->results().commit(key_of(1), result_of(key_of(1), {{"engine", blob_}})));
    EXPECT_OK(catalog_->results().commit(key_of(2), result_of(key_of(2), {{"engine", other_}})));
    for (const Digest& digest : {blob_, other_}) {
      EngineRow engine;
      engine.digest = digest;
      engine.name = "net";
      engine.sku = "p4";
      EXPECT_OK(catalog_->engines().add(engine));
      EXPECT_OK(catalog_->database().execute(
          "INSERT INTO calibration(key, bytes, histograms, created_ns) VALUES(?1, ?2, ?1, 0)",
          digest, ByteSpan()));
    }
  }

  int64_t gone(const std::string& table) {
    const auto count = VALUE(catalog_->database().find_integer(
        "SELECT count(*) FROM " + table + " WHERE gone_ns=?1", clock_.now.count()));
    return count.value_or(-1);
  }

  test::FakeClock clock_;
  MemoryBlobStore store_;
  Digest blob_ = VALUE(store_.put(as_bytes(std::string_view("engine"))));
  Digest other_ = VALUE(store_.put(as_bytes(std::string_view("another"))));
  std::unique_ptr<Catalog> catalog_ = VALUE(Catalog::open_in_memory(store_, clock_));
};

TEST_F(CompletenessTest, ForgettingABlobTakesItsResultItsEngineAndItsCalibrationAway) {
  EXPECT_OK(forget_blob(catalog_->database(), store_, clock_, blob_));
  for (const char* table : {"result", "engine", "calibration"}) EXPECT_EQ(gone(table), 1) << table;
  EXPECT_FALSE(VALUE(has_blob(store_, blob_)));
  EXPECT_TRUE(VALUE(has_blob(store_, other_)));
}

TEST_F(CompletenessTest, AQuestionWritesNothing) {
  EXPECT_EQ(VALUE(size_if_there(store_, blob_)), 6u);
  EXPECT_OK(store_.remove(blob_));
  EXPECT_EQ(VALUE(size_if_there(store_, blob_)), std::nullopt);
  EXPECT_FALSE(VALUE(catalog_->results().lookup(key_of(1).digest())));
  EXPECT_ERROR(ErrorCode::not_found, catalog_->engines().find(blob_.text()));
  for (const char* table : {"result", "engine", "calibration"}) EXPECT_EQ(gone(table), 0) << table;
  EXPECT_OK(store_.put(as_bytes(std::string_view("engine"))));
  EXPECT_TRUE(VALUE(catalog_->results().lookup(key_of(1).digest())));
}

TEST_F(CompletenessTest, AResultThatIsMadeAgainTakesTheLostOneAway) {
  EXPECT_OK(store_.remove(blob_));
  EXPECT_OK(catalog_->results().commit(key_of(1), result_of(key_of(1), {{"engine", other_}}, 2)));
  for (const char* table : {"result", "engine", "calibration"}) EXPECT_EQ(gone(table), 1) << table;
  EXPECT_EQ(VALUE(catalog_->results().lookup(key_of(1).digest()))->outputs.at(0).digest, other_);
}

TEST_F(CompletenessTest, AnEngineWithoutItsFileGivesWayToTheOneBefore) {
  EXPECT_EQ(VALUE(catalog_->engines().newest("net", "p4")).digest, other_);
  EXPECT_OK(store_.remove(other_));
  EXPECT_EQ(VALUE(catalog_->engines().newest("net", "p4")).digest, blob_);
  EXPECT_OK(store_.remove(blob_));
  EXPECT_ERROR(ErrorCode::not_found, catalog_->engines().newest("net", "p4"));
}

TEST_F(CompletenessTest, ADigestPrefixHasEightDigitsAtLeast) {
  const DigestRange range = VALUE(digest_range("sha256:0a0b0c0d"));
  EXPECT_EQ(range.first.hex(), "0a0b0c0d" + std::string(56, '0'));
  EXPECT_EQ(range.last.hex(), "0a0b0c0d" + std::string(56, 'f'));
  EXPECT_ERROR(ErrorCode::invalid_argument, digest_range("0a0b0c0"));
  EXPECT_ERROR(ErrorCode::invalid_argument, digest_range(std::string(65, 'a')));
}

}  // namespace
}  // namespace enginery
