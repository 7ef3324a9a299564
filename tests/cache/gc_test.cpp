// Collection: what stays, what goes, and what is said about it.
#include "cache/gc.h"

#include <array>

#include "cache/verify.h"
#include "engine/base/signed_file.h"
#include "tests/cache/support.h"

namespace enginery {
namespace {

using test::pattern;

class GcTest : public testing::Test {
 protected:
  // An engine of the model with its result, as old as the clock says.
  Digest add(int seed, const std::string& model = "m", const std::string& sku = "p4",
             const std::string& toolchain = "1") {
    const Digest blob = VALUE(catalog_->blobs().put(as_bytes(pattern(kSize, seed))));
    ActionKey key("engine", "local");
    key.add("sku", sku).add("number", seed).add("toolchain.cuda", toolchain);
    EXPECT_OK(catalog_->results().commit(key, test::result_of(key, {{"engine", blob}})));
    EngineRow row;
    row.digest = blob;
    row.name = "net";
    row.model = sha256(model);
    row.sku = sku;
    row.precision = "fp16";
    row.key = key.digest();
    EXPECT_OK(catalog_->engines().add(row));
    clock_.now += std::chrono::minutes(1);
    return blob;
  }
  GcReport collect(GcOptions options = {}) { return VALUE(collect_garbage(*catalog_, options)); }
  bool there(const Digest& blob) { return VALUE(has_blob(catalog_->blobs(), blob)); }
  void pass(std::chrono::hours time) { clock_.now += time; }

  static constexpr size_t kSize = 150'000;
  test::TemporaryFolder folder_;
  test::FakeClock clock_;
  std::unique_ptr<Catalog> catalog_ = test::open_catalog(folder_.path, &clock_);
};

TEST_F(GcTest, KeepsTheNewestOfEachModelSkuAndToolchain) {
  std::vector<Digest> same;
  for (int i = 0; i < 5; ++i) same.push_back(add(i));
  const std::vector<Digest> others{add(10, "other model"), add(11, "m", "h200"),
                                   add(12, "m", "p4", "2")};
  pass(std::chrono::hours(48));
  const GcReport report = collect();
  EXPECT_EQ(report.blobs, 8);
  EXPECT_EQ(report.bytes, 8 * kSize);
  EXPECT_EQ(report.bytes_freed, 2 * kSize);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(there(same[i]), i >= 2) << i;
  for (const Digest& other : others) EXPECT_TRUE(there(other));
  EXPECT_TRUE(VALUE(verify(*catalog_)).clean());
  EXPECT_EQ(VALUE(catalog_->engines().list("net", 100)).size(), 6u);
}

TEST_F(GcTest, KeepsWhatIsPinnedTaggedLeasedOrInUse) {
  const Digest pinned = add(1), tagged = add(2), leased = add(3), used = add(4), nobodys = add(5);
  EXPECT_OK(catalog_->engines().pin(pinned, "why"));
  EXPECT_OK(catalog_->engines().set_tag({"net", "prod", "p4", tagged, 0}));
  pass(std::chrono::hours(48));
  EXPECT_OK(catalog_->database().execute(
      "INSERT INTO blob_lease(digest, owner, until_ns) VALUES(?1, 'x', ?2)", leased,
      clock_.now.count() + 1));
  GcOptions options;
  options.newest = 0;
  options.in_use = {used};
  EXPECT_EQ(collect(options).dropped.size(), 1u);
  for (const Digest& kept : {pinned, tagged, leased, used}) EXPECT_TRUE(there(kept));
  EXPECT_FALSE(there(nobodys));
}

TEST_F(GcTest, AnEngineThatStaysIsStillTheAnswerToItsKey) {
  const Digest engine = add(1);
  const Digest content = VALUE(catalog_->blobs().put(as_bytes(pattern(kSize, 77))));
  const ActionKey key =
      VALUE(catalog_->results().find_action(VALUE(catalog_->engines().newest("net", "p4")).key));
  EXPECT_OK(catalog_->results().commit(
      key, test::result_of(key, {{"content", content}, {"engine", engine}}, 2)));
  pass(std::chrono::hours(48));
  EXPECT_TRUE(collect().dropped.empty());
  EXPECT_TRUE(VALUE(catalog_->results().lookup(key.digest())));
}

TEST_F(GcTest, NothingYoungGoes) {
  GcOptions options;
  options.newest = 0;
  const Digest old = add(1);
  const Digest small = VALUE(catalog_->blobs().put(as_bytes(pattern(100, 1))));
  pass(std::chrono::hours(23));
  EXPECT_TRUE(collect(options).dropped.empty());
  pass(std::chrono::hours(2));
  EXPECT_EQ(collect(options).dropped.size(), 1u);
  EXPECT_FALSE(there(old));
  EXPECT_TRUE(there(small));  // it costs nothing and may save a measurement
  pass(std::chrono::hours(31 * 24));
  collect(options);
  EXPECT_FALSE(there(small));
}

TEST_F(GcTest, ADryRunSaysWhatWouldHaveToBeMadeAgainAndTouchesNothing) {
  const Digest engine = add(1);
  const Digest loose = VALUE(catalog_->blobs().put(as_bytes(pattern(kSize, 99))));
  pass(std::chrono::hours(48));
  GcOptions options;
  options.newest = 0;
  options.dry_run = true;
  const GcReport report = collect(options);
  ASSERT_EQ(report.dropped.size(), 2u);
  EXPECT_EQ(report.dropped[0].digest, engine);
  EXPECT_EQ(report.dropped[0].rebuilds,
            (std::vector<std::string>{"engine net for p4", "engine for p4"}));
  EXPECT_TRUE(report.dropped[1].rebuilds.empty());
  EXPECT_TRUE(there(engine) && there(loose));
}

TEST_F(GcTest, StopsWhenEnoughIsFreeAndTakesTheOldestFirst) {
  const Digest first = add(1), second = add(2), third = add(3);
  pass(std::chrono::hours(48));
  GcOptions options;
  options.newest = 0;
  options.bytes_to_free = kSize + 1;
  EXPECT_EQ(collect(options).bytes_freed, 2 * kSize);
  EXPECT_FALSE(there(first) || there(second));
  EXPECT_TRUE(there(third));
}

// An engine is stored once: its content and its unsigned form are its beginning.
TEST_F(GcTest, AnEnginesPartsShareItsFile) {
  const Bytes engine = pattern(kSize + 1000 + kSignatureTrailerBytes, 5);
  const Bytes content = engine.substr(0, kSize), unsigned_engine = engine.substr(0, kSize + 1000);
  std::vector<ResultOutput> outputs;
  for (const auto& [name, bytes] : std::vector<std::pair<std::string, Bytes>>{
           {"content", content}, {"unsigned", unsigned_engine}, {"engine", engine}})
    outputs.push_back({name, VALUE(catalog_->blobs().put(as_bytes(bytes)))});
  const ActionKey key = test::key_of(1);
  EXPECT_OK(catalog_->results().commit(key, test::result_of(key, outputs)));
  EngineRow row;
  row.digest = sha256(engine);
  row.content_digest = sha256(content);
  row.name = "net";
  row.sku = "p4";
  row.key = key.digest();
  EXPECT_OK(catalog_->engines().add(row));
  EXPECT_EQ(VALUE(share_engine_files(*catalog_)), 2);
  EXPECT_EQ(VALUE(share_engine_files(*catalog_)), 0);
  EXPECT_EQ(VALUE(catalog_->blobs().get(sha256(content))), content);
  EXPECT_EQ(VALUE(catalog_->blobs().get(sha256(unsigned_engine))), unsigned_engine);
  pass(std::chrono::hours(48));
  const GcReport report = collect();
  EXPECT_EQ(report.bytes, engine.size());
  EXPECT_TRUE(report.dropped.empty());
  GcOptions all;
  all.newest = 0;
  EXPECT_EQ(collect(all).bytes_freed, engine.size());
  EXPECT_TRUE(VALUE(verify(*catalog_)).clean());
}

// The engine itself is nobody's, but what somebody needs is its beginning.
TEST_F(GcTest, AWholeStaysForAPartThatIsNeeded) {
  const Digest engine = add(1);
  const Digest content =
      VALUE(catalog_->blobs().put(as_bytes(pattern(kSize, 1).substr(0, kSize - 8))));
  EXPECT_TRUE(VALUE(catalog_->local_blobs()->share(content, engine)));
  pass(std::chrono::hours(48));
  GcOptions options;
  options.newest = 0;
  options.in_use = {content};
  EXPECT_TRUE(collect(options).dropped.empty());
  EXPECT_TRUE(there(content));
}

// What a client was just told to be there is about to be named by its submit.
TEST_F(GcTest, KeepsWhatSomebodyWasToldToBeThere) {
  const Digest told = add(1), nobodys = add(2);
  pass(std::chrono::hours(48));
  EXPECT_OK(lease_blobs(*catalog_, *catalog_, std::array{told}));
  GcOptions options;
  options.newest = 0;
  EXPECT_EQ(collect(options).dropped.size(), 1u);
  EXPECT_TRUE(there(told));
  EXPECT_FALSE(there(nobodys));
  clock_.now += kBlobLease;
  EXPECT_EQ(collect(options).dropped.size(), 1u);
  EXPECT_FALSE(there(told));
}

TEST_F(GcTest, CollectsNothingWhileTheFolderIsAway) {
  const Digest blob = add(1);
  pass(std::chrono::hours(48));
  std::filesystem::rename(folder_.path / "sha256", folder_.path / "elsewhere");
  GcOptions options;
  options.newest = 0;
  EXPECT_ERROR(ErrorCode::storage, collect_garbage(*catalog_, options));
  std::filesystem::rename(folder_.path / "elsewhere", folder_.path / "sha256");
  EXPECT_TRUE(there(blob));
}

TEST(Watermarks, TheSmallerOfQuotaAndDiskCounts) {
  const struct {
    uint64_t used, free, quota, expected;
  } table[] = {
      {100, 900, 0, 0},     // there is room
      {900, 100, 0, 0},     // just at the mark
      {950, 50, 0, 150},    // down to 800
      {950, 10'000, 0, 0},  // a large disk
      {950, 10'000, 1000, 150},
      {950, 50, 5000, 150},  // the quota is more than the disk has
      {0, 0, 0, 0},
  };
  for (const auto& row : table)
    EXPECT_EQ(bytes_above_watermark(row.used, row.free, {row.quota}), row.expected)
        << row.used << " " << row.free << " " << row.quota;
}

}  // namespace
}  // namespace enginery
