#include "cache/results.h"

#include "cache/memory_blob_store.h"
#include "tests/cache/support.h"

namespace enginery {
namespace {

using test::key_of;
using test::result_of;

class PastResultsTest : public testing::Test {
 protected:
  std::optional<NearestAction> nearest(const ActionKey& wanted, int64_t at_ns) {
    return VALUE(nearest_actions(catalog_->database(), {&wanted, 1}, at_ns)).front();
  }
  void a_second_passes() { clock_.now += std::chrono::seconds(1); }

  test::FakeClock clock_;
  MemoryBlobStore store_;
  std::unique_ptr<Catalog> catalog_ = VALUE(Catalog::open_in_memory(store_, clock_));
  Results& results_ = catalog_->results();
};

// What is stored later does not change what was nearest then.
TEST_F(PastResultsTest, TheNearestOfATimeIsWhatThereWasThen) {
  const ActionKey before = key_of(2), wanted = key_of(1);
  ActionKey later("assemble", "local");
  later.add("sku", "cpu-avx2").add("number", 1).add("precision", "fp16");
  EXPECT_OK(results_.commit(before, result_of(before, {})));
  a_second_passes();
  const int64_t then = clock_.now.count();
  EXPECT_OK(results_.record_action(wanted));
  EXPECT_EQ(VALUE(recorded_ns(catalog_->database(), wanted.digest())), then);
  a_second_passes();
  for (const ActionKey& key : {wanted, later}) EXPECT_OK(results_.commit(key, result_of(key, {})));

  EXPECT_EQ(nearest(wanted, kNow)->key, later.digest());
  EXPECT_EQ(nearest(wanted, then)->key, before.digest());
  EXPECT_FALSE(VALUE(had_result(catalog_->database(), wanted.digest(), then)));
  EXPECT_TRUE(VALUE(had_result(catalog_->database(), before.digest(), then)));
  EXPECT_TRUE(VALUE(had_result(catalog_->database(), wanted.digest(), kNow)));
}

// Nor does what was lost since.
TEST_F(PastResultsTest, WhatIsGoneByNowWasThereThen) {
  const ActionKey lost = key_of(2), wanted = key_of(1);
  const Digest blob = VALUE(store_.put(as_bytes("engine")));
  EXPECT_OK(results_.commit(lost, result_of(lost, {{"engine", blob}})));
  a_second_passes();
  const int64_t then = clock_.now.count();
  a_second_passes();
  EXPECT_OK(catalog_->database().execute("UPDATE result SET gone_ns=?1", clock_.now.count()));
  EXPECT_FALSE(nearest(wanted, kNow));
  ASSERT_TRUE(nearest(wanted, then));
  EXPECT_EQ(nearest(wanted, then)->key, lost.digest());
}

TEST_F(PastResultsTest, AnActionThatNobodyRecordedIsNotFound) {
  EXPECT_ERROR(ErrorCode::not_found, recorded_ns(catalog_->database(), sha256("none")));
}

}  // namespace
}  // namespace enginery
