// Several writers of one folder at once, as a local build and a coordinator are: each blob is whole
// and there once, whoever was first, also where a damaged file stands in the way.
#include <fstream>
#include <thread>

#include "cache/verify.h"
#include "tests/cache/support.h"

namespace enginery {
namespace {

namespace fs = std::filesystem;
using test::pattern;

constexpr size_t kLarge = 150'000;  // a file of its own

class BlobWritersTest : public testing::Test {
 protected:
  // A second opening of the same folder, with a database connection of its own.
  std::unique_ptr<Catalog> another() { return test::open_catalog(folder_.path); }
  fs::path place_of(const Bytes& bytes) { return catalog_->local_blobs()->path_of(sha256(bytes)); }
  size_t files_in(const char* name) {
    size_t count = 0;
    for (const auto& entry : fs::recursive_directory_iterator(folder_.path / name))
      count += entry.is_regular_file();
    return count;
  }
  // A file of an earlier crash, where the bytes' blob will be.
  void leave_file(const Bytes& bytes, const std::string& content) {
    fs::create_directories(place_of(bytes).parent_path());
    std::ofstream(place_of(bytes), std::ios::binary) << content;
  }

  test::TemporaryFolder folder_;
  std::unique_ptr<Catalog> catalog_ = test::open_catalog(folder_.path);
};

TEST_F(BlobWritersTest, TwoOpeningsPutTheSameBlobsAtOnce) {
  const auto other = another();
  constexpr int kBlobs = 12;
  const auto put_all = [](Catalog& catalog) {
    for (int i = 0; i < kBlobs; ++i) {
      const Bytes bytes = pattern(i % 3 == 0 ? 500 : kLarge, static_cast<uint64_t>(i));
      EXPECT_EQ(VALUE(catalog.blobs().put(as_bytes(bytes))), sha256(bytes));
    }
  };
  std::thread first([&] { put_all(*catalog_); }), second([&] { put_all(*other); });
  first.join();
  second.join();
  EXPECT_EQ(VALUE(catalog_->blobs().list()).size(), static_cast<size_t>(kBlobs));
  EXPECT_EQ(files_in("tmp"), 0u);
  EXPECT_EQ(files_in("quarantine"), 0u);
  EXPECT_TRUE(VALUE(verify(*other)).clean());
}

TEST_F(BlobWritersTest, WhatOneStoresTheOtherReads) {
  const auto other = another();
  for (const size_t size : {size_t{10}, kLarge}) {
    const Bytes bytes = pattern(size, 1);
    const Digest digest = VALUE(other->blobs().put(as_bytes(bytes)));
    EXPECT_EQ(VALUE(catalog_->blobs().get(digest)), bytes);
    EXPECT_OK(other->blobs().remove(digest));
    EXPECT_ERROR(ErrorCode::not_found, catalog_->blobs().get(digest));
  }
}

TEST_F(BlobWritersTest, ARightFileInTheWayIsTaken) {
  const Bytes bytes = pattern(kLarge, 2);
  leave_file(bytes, bytes);
  EXPECT_EQ(VALUE(catalog_->blobs().put(as_bytes(bytes))), sha256(bytes));
  EXPECT_EQ(VALUE(catalog_->blobs().get(sha256(bytes))), bytes);
  EXPECT_EQ(files_in("quarantine"), 0u);
}

TEST_F(BlobWritersTest, AWrongFileInTheWayIsSetAside) {
  for (const std::string content : {"", "cut", "another content of any length"}) {
    const Bytes bytes = pattern(kLarge, content.size() + 3);
    leave_file(bytes, content);
    EXPECT_EQ(VALUE(catalog_->blobs().put(as_bytes(bytes))), sha256(bytes));
    EXPECT_EQ(VALUE(catalog_->blobs().get(sha256(bytes))), bytes);
  }
  EXPECT_EQ(files_in("quarantine"), 3u);
  EXPECT_TRUE(VALUE(verify(*catalog_)).clean());
}

// Both notice; the blob is set aside once, and neither ever hands out the damaged bytes.
TEST_F(BlobWritersTest, TwoReadersOfADamagedBlobBothHearOfIt) {
  const auto other = another();
  const Bytes bytes = pattern(kLarge, 4);
  const Digest digest = VALUE(catalog_->blobs().put(as_bytes(bytes)));
  EXPECT_EQ(VALUE(other->blobs().read_range(digest, 0, 5)), bytes.substr(0, 5));
  test::flip_byte(place_of(bytes), 77);
  EXPECT_ERROR(ErrorCode::corrupt_data, catalog_->blobs().get(digest));
  EXPECT_ERROR(ErrorCode::not_found, other->blobs().read_range(digest, 0, 5));
  EXPECT_EQ(files_in("quarantine"), 1u);
  EXPECT_EQ(VALUE(other->blobs().put(as_bytes(bytes))), digest);
  EXPECT_EQ(VALUE(catalog_->blobs().get(digest)), bytes);
}

TEST_F(BlobWritersTest, EveryQuarantinedFileIsKept) {
  test::FakeClock clock;
  const auto catalog = test::open_catalog(folder_.path, &clock);
  const Bytes bytes = pattern(kLarge, 5);
  for (int damage = 0; damage < 3; ++damage) {
    EXPECT_OK(catalog->blobs().put(as_bytes(bytes)));
    test::flip_byte(place_of(bytes), damage);
    EXPECT_ERROR(ErrorCode::corrupt_data, catalog->blobs().get(sha256(bytes)));
    clock.now += std::chrono::seconds(1);
  }
  EXPECT_EQ(files_in("quarantine"), 3u);
}

TEST_F(BlobWritersTest, AFileThatGrewIsDamagedThoughItBeginsRight) {
  const Bytes bytes = pattern(kLarge, 6);
  const Digest digest = VALUE(catalog_->blobs().put(as_bytes(bytes)));
  fs::permissions(place_of(bytes), fs::perms::owner_all);
  std::ofstream(place_of(bytes), std::ios::app) << "x";
  EXPECT_FALSE(VALUE(has_blob(catalog_->blobs(), digest)));
  EXPECT_ERROR(ErrorCode::corrupt_data, catalog_->blobs().get(digest));
}

TEST_F(BlobWritersTest, BytesThatAreMissingFromTheDatabaseAreDamage) {
  const Digest digest = VALUE(catalog_->blobs().put(as_bytes(pattern(100, 7))));
  EXPECT_OK(catalog_->database().execute("DELETE FROM blob_bytes"));
  EXPECT_ERROR(ErrorCode::corrupt_data, catalog_->blobs().get(digest));
  EXPECT_ERROR(ErrorCode::not_found, catalog_->blobs().get(digest));
  EXPECT_OK(catalog_->blobs().put(as_bytes(pattern(100, 7))));
  EXPECT_EQ(VALUE(catalog_->blobs().get(digest)), pattern(100, 7));
}

}  // namespace
}  // namespace enginery
