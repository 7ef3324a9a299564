#include "cache/results.h"

#include "cache/memory_blob_store.h"
#include "cache/verify.h"
#include "tests/cache/support.h"

namespace enginery {
namespace {

using test::key_of;
using test::result_of;

class ResultsTest : public testing::Test {
 protected:
  Digest blob(const std::string& text) { return VALUE(store_.put(as_bytes(text))); }

  test::FakeClock clock_;
  MemoryBlobStore store_;
  std::unique_ptr<Catalog> catalog_ = VALUE(Catalog::open_in_memory(store_, clock_));
  Results& results_ = catalog_->results();
};

TEST_F(ResultsTest, AnswersWithWhatWasCommitted) {
  ActionKey key = key_of(1);
  ActionResult result = result_of(key, {{"engine", blob("e")}, {"log", blob("long log")}});
  result.outcome = R"({"a":1})";
  result.epoch = 7;
  EXPECT_FALSE(VALUE(results_.lookup(key.digest())));
  EXPECT_EQ(VALUE(results_.commit(key, result)), Commit::committed);
  auto found = VALUE(results_.lookup(key.digest()));
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->success);
  EXPECT_EQ(found->outcome, R"({"a":1})");
  EXPECT_EQ(found->epoch, 7);
  ASSERT_EQ(found->outputs.size(), 2u);
  EXPECT_EQ(found->outputs[1].name, "log");
  EXPECT_EQ(found->outputs[1].size_bytes, 8u);
  EXPECT_EQ(VALUE(results_.find_action(key.digest())), key);
}

TEST_F(ResultsTest, KeepsTheFirstCommitOfAGeneration) {
  ActionKey key = key_of(1);
  EXPECT_EQ(VALUE(results_.commit(key, result_of(key, {{"engine", blob("first")}}))),
            Commit::committed);
  EXPECT_EQ(VALUE(results_.commit(key, result_of(key, {{"engine", blob("second")}}))),
            Commit::already_there);
  EXPECT_EQ(VALUE(results_.lookup(key.digest()))->outputs[0].digest, sha256("first"));
  EXPECT_EQ(VALUE(results_.commits(key.digest(), 1)), 1);
  EXPECT_EQ(VALUE(results_.next_generation(key.digest())), 2);
}

TEST_F(ResultsTest, AnswersWithTheNewestGeneration) {
  ActionKey key = key_of(1);
  EXPECT_OK(results_.commit(key, result_of(key, {{"engine", blob("1")}}, 1)));
  EXPECT_OK(results_.commit(key, result_of(key, {{"engine", blob("2")}}, 2)));
  EXPECT_EQ(VALUE(results_.lookup(key.digest()))->generation, 2);
  EXPECT_EQ(VALUE(results_.lookup(key.digest(), 1))->outputs[0].digest, sha256("1"));
}

TEST_F(ResultsTest, KeepsTheNewestGenerationsOnly) {
  const ActionKey key = key_of(1);
  for (int64_t generation = 1; generation <= 50; ++generation)
    EXPECT_OK(results_.commit(key, result_of(key, {{"engine", blob("the same")}}, generation)));
  EXPECT_EQ(VALUE(results_.lookup(key.digest()))->generation, 50);
  EXPECT_TRUE(VALUE(results_.lookup(key.digest(), 31)));
  EXPECT_FALSE(VALUE(results_.lookup(key.digest(), 30)));
  EXPECT_EQ(VALUE(results_.commits(key.digest(), 31)), 1);
  EXPECT_EQ(VALUE(results_.commits(key.digest(), 30)), 0);
  EXPECT_EQ(VALUE(results_.next_generation(key.digest())), 51);
}

TEST_F(ResultsTest, RefusesAResultWhoseBlobIsMissing) {
  ActionKey key = key_of(1);
  EXPECT_ERROR(ErrorCode::not_found,
               results_.commit(key, result_of(key, {{"engine", sha256("nowhere")}})));
  EXPECT_FALSE(VALUE(results_.lookup(key.digest())));
  EXPECT_ERROR(ErrorCode::not_found,
               results_.find_action(key.digest()));  // nothing of the transaction stays
  EXPECT_EQ(VALUE(results_.commits(key.digest(), 1)), 0);
}

TEST_F(ResultsTest, RefusesAResultOfAnUnknownAction) {
  EXPECT_ERROR(ErrorCode::not_found, results_.commit(result_of(key_of(5), {})));
}

TEST_F(ResultsTest, KeepsADeterministicFailure) {
  ActionKey key = key_of(1);
  ActionResult result = result_of(key, {});
  result.success = false;
  result.outcome = R"({"code":"unsupported"})";
  EXPECT_OK(results_.commit(key, result));
  EXPECT_FALSE(VALUE(results_.lookup(key.digest()))->success);
}

TEST_F(ResultsTest, TurnsAResultWithoutItsBlobIntoAMissThatANewGenerationRepairs) {
  ActionKey key = key_of(1);
  EXPECT_OK(results_.commit(key, result_of(key, {{"engine", blob("e")}, {"log", blob("l")}})));
  EXPECT_OK(store_.remove(sha256("e")));
  EXPECT_FALSE(VALUE(results_.lookup(key.digest())));
  EXPECT_FALSE(VALUE(verify(*catalog_)).clean());  // a question repairs nothing
  int64_t generation = VALUE(results_.next_generation(key.digest()));
  EXPECT_EQ(generation, 2);
  EXPECT_EQ(VALUE(results_.commit(key, result_of(key, {{"engine", blob("e")}}, generation))),
            Commit::committed);
  EXPECT_EQ(VALUE(results_.lookup(key.digest()))->generation, 2);
  EXPECT_TRUE(VALUE(verify(*catalog_)).clean());
}

TEST_F(ResultsTest, FallsBackToAnOlderCompleteGeneration) {
  ActionKey key = key_of(1);
  EXPECT_OK(results_.commit(key, result_of(key, {{"engine", blob("1")}}, 1)));
  EXPECT_OK(results_.commit(key, result_of(key, {{"engine", blob("2")}}, 2)));
  EXPECT_OK(store_.remove(sha256("2")));
  EXPECT_EQ(VALUE(results_.lookup(key.digest()))->generation, 1);
}

TEST_F(ResultsTest, JoinsTheCallersTransaction) {
  ActionKey key = key_of(1);
  {
    Transaction transaction = VALUE(Transaction::begin(catalog_->database()));
    EXPECT_OK(results_.commit(key, result_of(key, {{"engine", blob("e")}})));
    EXPECT_OK(catalog_->events().append({0, "job", 1, "done", "{}"}));
  }
  EXPECT_FALSE(VALUE(results_.lookup(key.digest())));
  EXPECT_TRUE(VALUE(catalog_->events().list("", 0, 10)).empty());
}

TEST_F(ResultsTest, FindsTheNearestActionAndSaysInWhatItDiffers) {
  ActionKey near = key_of(1, "cpu-avx2"), far = key_of(2, "cpu-amx"),
            wanted = key_of(1, "cpu-avx512");
  ActionKey other_kind("tune", "local");
  other_kind.add("sku", "cpu-avx512").add("number", 1).add("precision", "fp32");
  for (const ActionKey& key : {far, near, other_kind})
    EXPECT_OK(results_.commit(key, result_of(key, {})));
  EXPECT_OK(
      results_.record_action(key_of(1, "cpu-sse41")));  // asked for, but no result: not an entry
  auto found = VALUE(results_.nearest(wanted));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->key, near.digest());
  ASSERT_EQ(found->differs.size(), 1u);
  EXPECT_EQ(found->differs[0].field, "sku");
  EXPECT_EQ(found->differs[0].wanted, "cpu-avx512");
  EXPECT_EQ(found->differs[0].had, "cpu-avx2");
}

TEST_F(ResultsTest, PrefersTheSameSkuBecauseSiblingsOfAJobExplainNoMiss) {
  ActionKey same_sku = key_of(1, "cpu-avx2"), sibling = key_of(2, "cpu-amx"),
            wanted = key_of(2, "cpu-avx2");
  for (const ActionKey& key : {same_sku, sibling})
    EXPECT_OK(results_.commit(key, result_of(key, {})));
  auto found = VALUE(results_.nearest(wanted));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->key, same_sku.digest());
  ASSERT_EQ(found->differs.size(), 1u);
  EXPECT_EQ(found->differs[0].field, "number");
}

TEST_F(ResultsTest, HasNoNearestActionInAnEmptyCatalog) {
  EXPECT_OK(results_.record_action(key_of(1)));
  EXPECT_FALSE(VALUE(results_.nearest(key_of(1))));
}

TEST_F(ResultsTest, FindsKeysByTheirFirstDigits) {
  ActionKey key = key_of(1);
  EXPECT_OK(results_.record_action(key));
  EXPECT_EQ(VALUE(results_.find_key(key.digest().hex().substr(0, 9))), key.digest());
  EXPECT_EQ(VALUE(results_.find_key(key.digest().text())), key.digest());
  EXPECT_ERROR(ErrorCode::invalid_argument, results_.find_key("sha256:1234567"));
  EXPECT_ERROR(ErrorCode::invalid_argument, results_.find_key("not hex!!"));
  EXPECT_ERROR(ErrorCode::not_found, results_.find_key(sha256("other").hex()));
}

}  // namespace
}  // namespace enginery
