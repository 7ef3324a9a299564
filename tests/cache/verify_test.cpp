#include "cache/verify.h"

#include <fstream>
#include <set>

#include "tests/cache/support.h"

namespace enginery {
namespace {

namespace fs = std::filesystem;
using test::key_of;
using test::pattern;
using test::result_of;

class VerifyTest : public testing::Test {
 protected:
  // A result with one large and one small output.
  ActionKey commit(int number) {
    ActionKey key = key_of(number);
    Digest large = VALUE(catalog_->blobs().put(as_bytes(pattern(150'000, number))));
    Digest small = VALUE(catalog_->blobs().put(as_bytes(pattern(100, number))));
    EXPECT_OK(catalog_->results().commit(key, result_of(key, {{"engine", large}, {"log", small}})));
    return key;
  }
  Digest large(int number) { return sha256(pattern(150'000, number)); }
  Digest small(int number) { return sha256(pattern(100, number)); }

  std::multiset<std::string> kinds(const VerifyOptions& options = {}) {
    std::multiset<std::string> out;
    for (const VerifyProblem& problem : VALUE(verify(*catalog_, options)).problems)
      out.insert(problem.kind);
    return out;
  }
  using Kinds = std::multiset<std::string>;

  test::TemporaryFolder folder_;
  std::unique_ptr<Catalog> catalog_ = test::open_catalog(folder_.path);
};

TEST_F(VerifyTest, FindsNothingInAHealthyCatalog) {
  for (int i = 0; i < 3; ++i) commit(i);
  std::ofstream(folder_.path / "tmp/left-over") << "x";  // a dead writer's: not a problem
  VerifyReport report = VALUE(verify(*catalog_));
  EXPECT_TRUE(report.clean()) << report.problems[0].detail;
  EXPECT_EQ(report.blobs, 6);
  EXPECT_EQ(report.blobs_hashed, 6);
  EXPECT_EQ(report.bytes_hashed, 3u * 150'100);
  EXPECT_EQ(report.results, 3);
}

TEST_F(VerifyTest, FindsEveryFlippedByteAndDoesNotTouchIt) {
  for (int i = 0; i < 3; ++i) commit(i);
  test::flip_byte(catalog_->local_blobs()->path_of(large(0)), 149'999);
  EXPECT_OK(
      catalog_->database().execute("UPDATE blob_bytes SET bytes=x'00' WHERE digest=?1", small(1)));
  EXPECT_EQ(kinds(), (Kinds{"corrupt_blob", "corrupt_blob"}));
  EXPECT_EQ(kinds(), (Kinds{"corrupt_blob", "corrupt_blob"}));
}

TEST_F(VerifyTest, FindsMissingFilesAndWhoNeedsThem) {
  for (int i = 0; i < 3; ++i) commit(i);
  fs::remove(catalog_->local_blobs()->path_of(large(2)));
  EXPECT_EQ(kinds(),
            (Kinds{"missing_blob", "missing_blob"}));  // the row's file, and the result's output
}

TEST_F(VerifyTest, HashesASampleWhenAsked) {
  for (int i = 0; i < 5; ++i) commit(i);
  VerifyOptions options;
  options.rehash_at_most = 4;
  VerifyReport report = VALUE(verify(*catalog_, options));
  EXPECT_EQ(report.blobs_hashed, 4);
  EXPECT_EQ(report.blobs, 10);
}

TEST_F(VerifyTest, RepairsSoThatEveryMissRebuilds) {
  for (int i = 0; i < 4; ++i) commit(i);
  test::flip_byte(catalog_->local_blobs()->path_of(large(0)), 7);
  fs::remove(catalog_->local_blobs()->path_of(large(1)));
  EXPECT_OK(
      catalog_->database().execute("UPDATE blob_bytes SET bytes=x'00' WHERE digest=?1", small(2)));
  VerifyOptions options;
  options.repair = true;
  EXPECT_FALSE(VALUE(verify(*catalog_, options)).clean());
  EXPECT_EQ(kinds(), Kinds{});
  for (int i = 0; i < 3; ++i)
    EXPECT_FALSE(VALUE(catalog_->results().lookup(key_of(i).digest()))) << i;
  EXPECT_TRUE(VALUE(catalog_->results().lookup(key_of(3).digest())));
}

TEST_F(VerifyTest, CountsCompleteOrphansAndReportsOthers) {
  commit(0);
  EXPECT_OK(catalog_->blobs().put(as_bytes(pattern(150'000, 8))));
  EXPECT_OK(catalog_->blobs().put(as_bytes(pattern(150'000, 9))));
  EXPECT_OK(catalog_->database().execute("DELETE FROM blob WHERE digest IN (?1, ?2)", large(8),
                                         large(9)));
  VerifyReport report = VALUE(verify(*catalog_));
  EXPECT_TRUE(report.clean());
  EXPECT_EQ(report.orphans, 2);
  test::flip_byte(catalog_->local_blobs()->path_of(large(9)), 1);
  std::ofstream(folder_.path / "sha256/stray") << "x";
  EXPECT_EQ(kinds(), (Kinds{"corrupt_orphan", "corrupt_orphan"}));
  VerifyOptions options;
  options.repair = true;
  EXPECT_FALSE(VALUE(verify(*catalog_, options)).clean());
  report = VALUE(verify(*catalog_));
  EXPECT_TRUE(report.clean());
  EXPECT_EQ(report.orphans, 0);
  EXPECT_EQ(VALUE(catalog_->blobs().get(large(8))), pattern(150'000, 8));
}

TEST_F(VerifyTest, FindsADoubleCommitAndADamagedKey) {
  ActionKey a = commit(0), b = commit(1);
  EXPECT_OK(catalog_->database().execute(
      "INSERT INTO commit_log(key, generation, epoch, created_ns) VALUES(?1, 1, 0, 0)",
      a.digest()));
  EXPECT_OK(catalog_->database().execute("UPDATE action SET bytes=?2 WHERE key=?1", b.digest(),
                                         as_bytes(key_of(7).bytes())));
  EXPECT_EQ(kinds(), (Kinds{"bad_key", "double_commit"}));
  EXPECT_EQ(VALUE(catalog_->results().commits(a.digest(), 1)), 2);
}

TEST_F(VerifyTest, FindsABrokenReference) {
  commit(0);
  EXPECT_OK(catalog_->database().script(
      "PRAGMA foreign_keys=OFF; DELETE FROM action; PRAGMA foreign_keys=ON;"));
  EXPECT_EQ(kinds(), (Kinds{"database"}));
}

// R10: delete or corrupt random blobs; no hit dangles, every corrupt read is found, a rebuild heals
// it.
TEST_F(VerifyTest, HealsRandomDamageByRebuilding) {
  constexpr int kResults = 12;
  constexpr uint64_t kSeed = 4711;
  for (int i = 0; i < kResults; ++i) commit(i);
  Bytes choice = pattern(kResults, kSeed);
  for (int i = 0; i < kResults; ++i) {
    fs::path file = catalog_->local_blobs()->path_of(large(i));
    if (choice[i] & 1)
      fs::remove(file);
    else
      test::flip_byte(file, static_cast<unsigned char>(choice[i]));
  }
  int hits = 0;
  for (int i = 0; i < kResults; ++i) {
    Results& results = catalog_->results();
    auto result = VALUE(results.lookup(key_of(i).digest()));
    if (result) {  // the file is there, so reading finds what is wrong with it
      EXPECT_ERROR(ErrorCode::corrupt_data, catalog_->blobs().get(result->outputs[0].digest));
      EXPECT_FALSE(VALUE(results.lookup(key_of(i).digest())));
      ++hits;
    }
    EXPECT_OK(catalog_->blobs().put(as_bytes(pattern(150'000, i))));
    int64_t generation = VALUE(results.next_generation(key_of(i).digest()));
    EXPECT_OK(results.commit(key_of(i), result_of(key_of(i), {{"engine", large(i)}}, generation)));
  }
  EXPECT_GT(hits, 0) << "seed " << kSeed;
  EXPECT_LT(hits, kResults) << "seed " << kSeed;
  EXPECT_EQ(kinds(), Kinds{});
}

TEST_F(VerifyTest, FindsACalibrationAndAnEngineWithoutTheirBlobs) {
  commit(0);
  EngineRow engine;
  engine.digest = large(0);
  engine.name = "net";
  engine.sku = "x";
  EXPECT_OK(catalog_->engines().add(engine));
  EXPECT_OK(catalog_->database().execute(
      "INSERT INTO calibration(key, bytes, histograms, created_ns) VALUES(?1, ?2, ?1, 0)", small(0),
      ByteSpan()));
  EXPECT_EQ(kinds(), Kinds{});
  EXPECT_OK(catalog_->blobs().remove(large(0)));
  EXPECT_OK(catalog_->blobs().remove(small(0)));
  // The result's two outputs, the engine's file and the calibration's histograms.
  EXPECT_EQ(kinds(), (Kinds{"missing_blob", "missing_blob", "missing_blob", "missing_blob"}));
  VerifyOptions options;
  options.repair = true;
  EXPECT_EQ(VALUE(verify(*catalog_, options)).repaired, 2);  // two blobs
  EXPECT_EQ(kinds(), Kinds{});
}

TEST_F(VerifyTest, FindsAResultThatNoCommitMade) {
  const ActionKey key = commit(0);
  EXPECT_OK(catalog_->database().execute("DELETE FROM commit_log"));
  EXPECT_EQ(kinds(), Kinds{"double_commit"});
  EXPECT_EQ(VALUE(verify(*catalog_)).problems.at(0).subject, key.digest().text());
}

TEST_F(VerifyTest, FindsATimingKeyWithOtherBytes) {
  EXPECT_OK(catalog_->timings().record_key(key_of(1)));
  EXPECT_OK(
      catalog_->database().execute("UPDATE timing_key SET bytes=?1", as_bytes(key_of(2).bytes())));
  EXPECT_EQ(kinds(), Kinds{"bad_key"});
}

// Each seed begins elsewhere, so that examinations of a part come round to every blob.
TEST_F(VerifyTest, SamplesOfDifferentSeedsFindEveryDamage) {
  for (int i = 0; i < 5; ++i) commit(i);
  test::flip_byte(catalog_->local_blobs()->path_of(large(3)), 11);
  int found = 0;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    VerifyOptions options;
    options.rehash_at_most = 2;
    options.seed = seed;
    found += !VALUE(verify(*catalog_, options)).clean();
  }
  EXPECT_GT(found, 0);
  EXPECT_LT(found, 40);
}

TEST_F(VerifyTest, HashesNothingWhenAskedForNothing) {
  commit(0);
  test::flip_byte(catalog_->local_blobs()->path_of(large(0)), 11);
  VerifyOptions options;
  options.rehash_at_most = 0;
  const VerifyReport report = VALUE(verify(*catalog_, options));
  EXPECT_TRUE(report.clean());
  EXPECT_EQ(report.blobs_hashed, 0);
}

}  // namespace
}  // namespace enginery
