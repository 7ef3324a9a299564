// A blob folder that is away (a volume that is not mounted) is not one that is empty.
#include "cache/verify.h"
#include "tests/cache/support.h"

namespace enginery {
namespace {

namespace fs = std::filesystem;
using test::key_of;
using test::pattern;
using test::result_of;

class BlobFolderTest : public testing::Test {
 protected:
  BlobFolderTest() {
    open();
    blob_ = VALUE(catalog_->blobs().put(as_bytes(bytes_)));
    EXPECT_OK(catalog_->results().commit(key_, result_of(key_, {{"engine", blob_}})));
    EngineRow engine;
    engine.digest = blob_;
    engine.name = "net";
    engine.sku = "p4";
    EXPECT_OK(catalog_->engines().add(engine));
  }

  void open() {
    catalog_.reset();
    catalog_ = test::open_catalog(folder_.path);
  }
  void take_away() { fs::rename(folder_.path / "sha256", folder_.path / "elsewhere"); }
  void bring_back() {
    fs::remove_all(folder_.path / "sha256");
    fs::rename(folder_.path / "elsewhere", folder_.path / "sha256");
  }
  void expect_whole() {
    EXPECT_TRUE(VALUE(catalog_->results().lookup(key_.digest())));
    EXPECT_EQ(VALUE(catalog_->engines().newest("net", "p4")).digest, blob_);
    const VerifyReport report = VALUE(verify(*catalog_));
    EXPECT_TRUE(report.clean());
    EXPECT_EQ(report.orphans, 0);
  }
  std::vector<std::string> kinds(bool repair) {
    VerifyOptions options;
    options.repair = repair;
    std::vector<std::string> out;
    for (const VerifyProblem& problem : VALUE(verify(*catalog_, options)).problems)
      out.push_back(problem.kind);
    return out;
  }

  test::TemporaryFolder folder_;
  std::unique_ptr<Catalog> catalog_;
  const Bytes bytes_ = pattern(200'000, 1);
  const ActionKey key_ = key_of(1);
  Digest blob_;
};

TEST_F(BlobFolderTest, NothingIsForgottenWhileItIsAway) {
  take_away();
  EXPECT_ERROR(ErrorCode::storage, catalog_->results().lookup(key_.digest()));
  EXPECT_ERROR(ErrorCode::storage, catalog_->engines().newest("net", "p4"));
  EXPECT_ERROR(ErrorCode::storage, catalog_->blobs().get(blob_));
  EXPECT_ERROR(ErrorCode::storage, catalog_->blobs().read_range(blob_, 0, 10));
  bring_back();
  expect_whole();
}

TEST_F(BlobFolderTest, OpeningInItsAbsenceDoesNotTakeTheEmptyPlaceForIt) {
  take_away();
  open();  // makes an empty sha256/, as a mount point is one
  EXPECT_ERROR(ErrorCode::storage, catalog_->results().lookup(key_.digest()));
  EXPECT_ERROR(ErrorCode::storage, catalog_->blobs().put(as_bytes(pattern(200'000, 2))));
  EXPECT_OK(catalog_->blobs().put(as_bytes(pattern(100, 2))));  // in the database
  bring_back();
  expect_whole();
}

TEST_F(BlobFolderTest, VerifySaysSoAndRepairGivesUpWhatItHeld) {
  take_away();
  EXPECT_EQ(kinds(false), std::vector<std::string>{"folder_away"});
  EXPECT_EQ(kinds(true).front(), "folder_away");
  EXPECT_EQ(kinds(false), std::vector<std::string>());
  EXPECT_FALSE(VALUE(catalog_->results().lookup(key_.digest())));
  EXPECT_EQ(VALUE(catalog_->blobs().put(as_bytes(bytes_))), blob_);
}

TEST_F(BlobFolderTest, ABlobThatReturnsGivesBackWhatWasForgotten) {
  const Digest second = VALUE(catalog_->blobs().put(as_bytes(pattern(200'000, 2))));
  const ActionKey both = key_of(2);
  EXPECT_OK(
      catalog_->results().commit(both, result_of(both, {{"engine", blob_}, {"log", second}})));
  for (const Digest& digest : {blob_, second}) EXPECT_OK(catalog_->blobs().remove(digest));
  EXPECT_FALSE(kinds(true).empty());
  EXPECT_EQ(kinds(false), std::vector<std::string>());
  EXPECT_OK(catalog_->blobs().put(as_bytes(bytes_)));
  EXPECT_TRUE(VALUE(catalog_->results().lookup(key_.digest())));
  EXPECT_FALSE(VALUE(catalog_->results().lookup(both.digest()))) << "it lacks another blob";
  EXPECT_EQ(VALUE(catalog_->engines().list("net", 10)).size(), 1u);
  EXPECT_OK(catalog_->blobs().put(as_bytes(pattern(200'000, 2))));
  EXPECT_TRUE(VALUE(catalog_->results().lookup(both.digest())));
}

// A catalog from before there were marks gets one where its files are seen.
TEST_F(BlobFolderTest, AnOlderFolderIsMarkedWhereItsFilesAre) {
  fs::remove(folder_.path / "sha256/.enginery-blobs");
  open();
  EXPECT_TRUE(fs::exists(folder_.path / "sha256/.enginery-blobs"));
  expect_whole();
}

}  // namespace
}  // namespace enginery
