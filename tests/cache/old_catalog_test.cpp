// A catalog made by an earlier enginery opens, is sound and answers.
#include "tests/cache/old_catalog.h"

#include <algorithm>

#include "cache/verify.h"
#include "tests/cache/support.h"

namespace enginery {
namespace {

class OldCatalogTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(
        test::restore_old_catalog(folder_.path, ENGINERY_SOURCE_DIR "/tests/cache/old_catalog.sql"),
        "");
    catalog_ = test::open_catalog(folder_.path);
    ASSERT_NE(catalog_, nullptr);
  }

  test::TemporaryFolder folder_;
  std::unique_ptr<Catalog> catalog_;
  Digest engine_ = *Digest::parse(test::kOldEngine);
};

TEST_F(OldCatalogTest, IsSound) {
  const VerifyReport report = VALUE(verify(*catalog_));
  EXPECT_TRUE(report.clean()) << report.problems[0].kind << ": " << report.problems[0].detail;
  EXPECT_EQ(report.blobs, 5);
  EXPECT_EQ(report.results, 6);
  EXPECT_EQ(report.engines, 1);
}

TEST_F(OldCatalogTest, AnswersWithItsEngine) {
  const auto result = VALUE(catalog_->results().lookup(*Digest::parse(test::kOldEngineKey)));
  ASSERT_TRUE(result);
  ASSERT_EQ(result->outputs.size(), 2u);  // in the order of their names: content, engine
  EXPECT_EQ(result->outputs[1].name, "engine");
  EXPECT_EQ(result->outputs[1].digest, engine_);
  EXPECT_EQ(VALUE(catalog_->blobs().get(engine_)).size(), 9320u);
  EXPECT_EQ(VALUE(catalog_->engines().newest("net", "cpu-sse41")).digest, engine_);
  EXPECT_EQ(VALUE(catalog_->engines().tagged("net", "stable", "cpu-sse41")).digest, engine_);
  EXPECT_EQ(VALUE(catalog_->engines().newest("net", "cpu-sse41")).domain, kTrustDomain);
  EXPECT_EQ(VALUE(catalog_->engines().of_tag("net", "stable", "", kTrustDomain)).size(), 1u);
  EXPECT_TRUE(VALUE(catalog_->engines().of_tag("net", "stable", "", "another")).empty());
  EXPECT_OK(catalog_->engines().unpin(engine_));  // it was pinned
}

TEST_F(OldCatalogTest, ExplainsAMissByItsKeys) {
  const ActionKey wanted =
      VALUE(catalog_->results().find_action(*Digest::parse(test::kOldQueuedKey)));
  EXPECT_EQ(wanted.digest().hex(), test::kOldQueuedKey);
  const auto nearest = VALUE(catalog_->results().nearest(wanted));
  ASSERT_TRUE(nearest);
  EXPECT_EQ(nearest->key.hex(), test::kOldEngineKey);
  std::vector<std::string> fields;
  for (const KeyDifference& difference : nearest->differs) fields.push_back(difference.field);
  EXPECT_EQ(std::ranges::count(fields, "name"), 1);
  EXPECT_EQ(std::ranges::count(fields, "sku"), 1);
}

TEST_F(OldCatalogTest, KeepsWhatWasMeasured) {
  const auto devices = VALUE(catalog_->timings().devices());
  ASSERT_EQ(devices.size(), 1u);
  const auto rows = VALUE(catalog_->timings().of_device(devices[0].first));
  ASSERT_EQ(rows.size(), 9u);
  for (const TimingRow& row : rows)
    EXPECT_EQ(VALUE(catalog_->timings().find_key(row.problem)).digest(), row.problem);
}

TEST_F(OldCatalogTest, TakesNewResultsAndStaysSound) {
  const Digest blob = VALUE(catalog_->blobs().put(as_bytes(test::pattern(150'000, 1))));
  const ActionKey key = test::key_of(1);
  EXPECT_EQ(VALUE(catalog_->results().commit(key, test::result_of(key, {{"engine", blob}}))),
            Commit::committed);
  EXPECT_TRUE(VALUE(verify(*catalog_)).clean());
}

}  // namespace
}  // namespace enginery
