// What LocalBlobStore and BlobWriter promise about their files.
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <future>

#include "cache/blob_writer.h"
#include "cache/verify.h"
#include "engine/base/file.h"
#include "tests/cache/support.h"

namespace enginery {
namespace {

namespace fs = std::filesystem;
using test::pattern;

class LocalFilesTest : public testing::Test {
 protected:
  int files_in(const char* name) {
    int count = 0;
    for (const auto& entry : fs::recursive_directory_iterator(folder_.path / name))
      count += entry.is_regular_file();
    return count;
  }
  void make_old(const fs::path& file, std::chrono::hours age) {
    fs::last_write_time(file, fs::file_time_type::clock::now() - age);
  }

  test::TemporaryFolder folder_;
  std::unique_ptr<Catalog> catalog_ = test::open_catalog(folder_.path);
  LocalBlobStore& blobs_ = *catalog_->local_blobs();
};

using BlobWriterTest = LocalFilesTest;

TEST_F(LocalFilesTest, KeepsLargeBlobsAsReadOnlyFilesAndSmallOnesInTheDatabase) {
  Digest small = VALUE(blobs_.put(as_bytes(pattern(kInlineBlobBytes - 1, 1))));
  Digest large = VALUE(blobs_.put(as_bytes(pattern(kInlineBlobBytes, 2))));
  EXPECT_FALSE(fs::exists(blobs_.path_of(small)));
  EXPECT_EQ(blobs_.path_of(large),
            folder_.path / "sha256" / large.hex().substr(0, 2) / large.hex().substr(2));
  struct stat info {};
  ASSERT_EQ(stat(blobs_.path_of(large).c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0444u);
  EXPECT_EQ(files_in("tmp"), 0);
}

TEST_F(LocalFilesTest, TreatsAFileThatDisappearedOrShrankAsMissing) {
  Digest a = VALUE(blobs_.put(as_bytes(pattern(200'000, 1)))),
         b = VALUE(blobs_.put(as_bytes(pattern(200'000, 2))));
  fs::remove(blobs_.path_of(a));
  fs::permissions(blobs_.path_of(b), fs::perms::owner_all);
  fs::resize_file(blobs_.path_of(b), 1000);
  EXPECT_FALSE(VALUE(has_blob(blobs_, a)));
  EXPECT_FALSE(VALUE(has_blob(blobs_, b)));
  EXPECT_ERROR(ErrorCode::corrupt_data, blobs_.get(b));
  for (int seed : {1, 2}) {
    Bytes bytes = pattern(200'000, seed);
    EXPECT_EQ(VALUE(blobs_.get(VALUE(blobs_.put(as_bytes(bytes))))), bytes);
  }
}

TEST_F(LocalFilesTest, SetsDamagedFilesAside) {
  Digest digest = VALUE(blobs_.put(as_bytes(pattern(200'000, 1))));
  test::flip_byte(blobs_.path_of(digest), 123'456);
  EXPECT_ERROR(ErrorCode::corrupt_data, blobs_.get(digest));
  EXPECT_EQ(files_in("quarantine"), 1);
  EXPECT_FALSE(fs::exists(blobs_.path_of(digest)));
}

TEST_F(LocalFilesTest, TakesUpAFileThatACrashLeftWithoutARow) {
  Bytes right = pattern(200'000, 1), wrong = pattern(200'000, 2);
  for (const Bytes& bytes : {right, wrong}) EXPECT_OK(blobs_.put(as_bytes(bytes)));
  EXPECT_OK(catalog_->database().execute("DELETE FROM blob"));
  test::flip_byte(blobs_.path_of(sha256(wrong)), 5);
  EXPECT_EQ(VALUE(blobs_.orphans()).size(), 2u);
  for (const Bytes& bytes : {right, wrong})
    EXPECT_EQ(VALUE(blobs_.get(VALUE(blobs_.put(as_bytes(bytes))))), bytes);
  EXPECT_TRUE(VALUE(blobs_.orphans()).empty());
  EXPECT_EQ(files_in("tmp"), 0);
  EXPECT_TRUE(VALUE(verify(*catalog_)).clean());
}

TEST_F(LocalFilesTest, RemovesOnlyTemporariesWhoseWriterIsGone) {
  fs::path dead = folder_.path / "tmp/dead", living = folder_.path / "tmp/living",
           young = folder_.path / "tmp/young";
  for (const fs::path& file : {dead, living, young}) std::ofstream(file) << "x";
  make_old(dead, std::chrono::hours(1));
  make_old(living, std::chrono::hours(1));
  int fd = open(living.c_str(), O_RDONLY);
  ASSERT_EQ(flock(fd, LOCK_EX), 0);
  test::open_catalog(folder_.path);
  EXPECT_FALSE(fs::exists(dead));
  EXPECT_TRUE(fs::exists(living));
  EXPECT_TRUE(fs::exists(young));
  close(fd);
}

TEST_F(LocalFilesTest, FailsWithStorageWhenItsFolderIsGone) {
  fs::remove_all(folder_.path / "tmp");
  EXPECT_ERROR(ErrorCode::storage, blobs_.put(as_bytes(pattern(200'000, 1))));
}

TEST_F(BlobWriterTest, PutsChunksTogetherAcrossARestart) {
  for (size_t size : {size_t{5000}, size_t{400'000}}) {
    Bytes bytes = pattern(size, 1);
    Digest digest = sha256(bytes);
    size_t half = size / 2;
    {
      auto writer = VALUE(BlobWriter::open(blobs_));
      EXPECT_EQ(VALUE(writer->offset(digest)), 0u);
      EXPECT_EQ(VALUE(writer->append(digest, 0, bytes.substr(0, half))), half);
    }
    auto writer = VALUE(BlobWriter::open(blobs_));
    EXPECT_EQ(VALUE(writer->offset(digest)), half);
    EXPECT_EQ(VALUE(writer->append(digest, half, bytes.substr(half))), size);
    EXPECT_OK(writer->finish(digest));
    EXPECT_OK(writer->finish(digest));  // repeated by a client that lost the answer
    EXPECT_EQ(VALUE(blobs_.get(digest)), bytes);
    EXPECT_EQ(files_in("partial"), 0);
  }
}

TEST_F(BlobWriterTest, SkipsRepeatedBytesAndRefusesGaps) {
  auto writer = VALUE(BlobWriter::open(blobs_));
  Bytes bytes = pattern(3000, 1);
  Digest digest = sha256(bytes);
  EXPECT_EQ(VALUE(writer->append(digest, 0, bytes.substr(0, 1000))), 1000u);
  EXPECT_EQ(VALUE(writer->append(digest, 0, bytes.substr(0, 1000))), 1000u);
  EXPECT_EQ(VALUE(writer->append(digest, 500, bytes.substr(500, 1000))), 1500u);
  EXPECT_ERROR(ErrorCode::invalid_argument, writer->append(digest, 2000, bytes.substr(2000)));
  EXPECT_EQ(VALUE(writer->append(digest, 1500, bytes.substr(1500))), 3000u);
  EXPECT_OK(writer->finish(digest));
}

TEST_F(BlobWriterTest, DropsAnUploadWithOtherBytes) {
  auto writer = VALUE(BlobWriter::open(blobs_));
  for (size_t size : {size_t{100}, size_t{200'000}}) {
    Digest digest = sha256("what was promised");
    EXPECT_OK(writer->append(digest, 0, pattern(size, 1)));
    EXPECT_ERROR(ErrorCode::corrupt_data, writer->finish(digest));
    EXPECT_EQ(VALUE(writer->offset(digest)), 0u);
    EXPECT_FALSE(VALUE(has_blob(blobs_, digest)));
    EXPECT_ERROR(ErrorCode::not_found, writer->finish(digest));
  }
}

TEST_F(BlobWriterTest, FinishesAnEmptyBlobAndAbandonsOthers) {
  auto writer = VALUE(BlobWriter::open(blobs_));
  EXPECT_OK(writer->finish(sha256("")));
  EXPECT_EQ(VALUE(blobs_.get(sha256(""))), "");
  EXPECT_OK(writer->append(sha256("x"), 0, "y"));
  EXPECT_OK(writer->abandon(sha256("x")));
  EXPECT_OK(writer->abandon(sha256("x")));
  EXPECT_EQ(VALUE(writer->offset(sha256("x"))), 0u);
}

TEST(BlobWriter, ForgetsUploadsByTheCatalogsClock) {
  test::TemporaryFolder folder;
  test::FakeClock clock;
  clock.now = SystemClock().wall_time();
  const auto catalog = test::open_catalog(folder.path, &clock);
  const Digest digest = sha256("x");
  {
    const auto writer = VALUE(BlobWriter::open(*catalog->local_blobs()));
    EXPECT_OK(writer->append(digest, 0, "abc"));
  }
  clock.now += std::chrono::hours(23);
  EXPECT_EQ(VALUE(VALUE(BlobWriter::open(*catalog->local_blobs()))->offset(digest)), 3u);
  clock.now += std::chrono::hours(2);
  EXPECT_EQ(VALUE(VALUE(BlobWriter::open(*catalog->local_blobs()))->offset(digest)), 0u);
}

TEST_F(BlobWriterTest, ForgetsUploadsAfterADay) {
  Digest old = sha256("old"), recent = sha256("recent");
  {
    auto writer = VALUE(BlobWriter::open(blobs_));
    for (const Digest& digest : {old, recent}) EXPECT_OK(writer->append(digest, 0, "abc"));
  }
  make_old(folder_.path / "partial" / old.hex(), std::chrono::hours(25));
  make_old(folder_.path / "partial" / recent.hex(), std::chrono::hours(23));
  auto writer = VALUE(BlobWriter::open(blobs_));
  EXPECT_EQ(VALUE(writer->offset(old)), 0u);
  EXPECT_EQ(VALUE(writer->offset(recent)), 3u);
}

TEST_F(BlobWriterTest, ReservesTheRoomOfTheWholeBlobWithItsFirstChunk) {
  const auto writer = VALUE(BlobWriter::open(blobs_));
  const Digest digest = sha256("promised");
  EXPECT_OK(writer->append(digest, 0, "abc", 3'000'000));
  struct stat info {};
  ASSERT_EQ(stat((folder_.path / "partial" / digest.hex()).c_str(), &info), 0);
  EXPECT_EQ(info.st_size, 3);
  EXPECT_GE(info.st_blocks * 512, 3'000'000);
  const Digest huge = sha256("more than any disk");
  EXPECT_ERROR(ErrorCode::storage, writer->append(huge, 0, "abc", uint64_t{1} << 60));
  EXPECT_EQ(VALUE(writer->offset(huge)), 0u);
}

TEST_F(BlobWriterTest, AnUploadHeardFromItsBeginIsNotReadAgain) {
  const auto writer = VALUE(BlobWriter::open(blobs_));
  const Bytes bytes = pattern(300'000, 1);
  const Digest digest = sha256(bytes);
  for (size_t at = 0; at < bytes.size(); at += 100'000)
    EXPECT_OK(writer->append(digest, at, bytes.substr(at, 100'000), bytes.size()));
  EXPECT_OK(writer->append(digest, 100'000, bytes.substr(100'000, 100'000)));  // repeated
  EXPECT_OK(writer->finish(digest));
  EXPECT_EQ(VALUE(blobs_.get(digest)), bytes);
}

TEST_F(LocalFilesTest, AnUncheckedReadGivesWhatIsThere) {
  const Bytes bytes = pattern(200'000, 1);
  const Digest digest = VALUE(blobs_.put(as_bytes(bytes)));
  test::flip_byte(blobs_.path_of(digest), 5);
  EXPECT_EQ(VALUE(blobs_.read_unchecked(digest, 100, 1000)), bytes.substr(100, 1000));
  EXPECT_EQ(VALUE(blobs_.read_unchecked(digest, 199'990, 1000)), bytes.substr(199'990));
  EXPECT_EQ(VALUE(blobs_.read_unchecked(digest, 200'000, 1000)), "");
  EXPECT_ERROR(ErrorCode::corrupt_data, blobs_.read_range(digest, 100, 1000));
  EXPECT_ERROR(ErrorCode::not_found, blobs_.read_unchecked(digest, 0, 10));
}

TEST_F(LocalFilesTest, OldEvidenceOfDamageGoes) {
  const int64_t now = catalog_->clock().wall_time().count();
  const int64_t day = 24ll * 3600 * 1'000'000'000;
  for (const int64_t days : {1, 29, 31, 400})
    std::ofstream(folder_.path / "quarantine" / ("x." + std::to_string(now - days * day))) << "x";
  blobs_.prune_quarantine();
  EXPECT_EQ(files_in("quarantine"), 2);
  for (int i = 0; i < 1100; ++i)
    std::ofstream(folder_.path / "quarantine" / ("y." + std::to_string(now - i))) << "y";
  blobs_.prune_quarantine();
  EXPECT_EQ(files_in("quarantine"), 1000);
}

class SharedFileTest : public LocalFilesTest {
 protected:
  Bytes whole_ = pattern(400'000, 1);
  Bytes part_ = whole_.substr(0, 300'000);
  Digest large_ = VALUE(blobs_.put(as_bytes(whole_)));
  Digest small_ = VALUE(blobs_.put(as_bytes(part_)));
};

TEST_F(SharedFileTest, ABeginningNeedsNoFileOfItsOwn) {
  EXPECT_TRUE(VALUE(blobs_.share(small_, large_)));
  EXPECT_FALSE(fs::exists(blobs_.path_of(small_)));
  EXPECT_EQ(VALUE(blobs_.size(small_)), part_.size());
  EXPECT_EQ(VALUE(blobs_.get(small_)), part_);
  EXPECT_EQ(VALUE(blobs_.read_range(small_, 299'990, 100)), part_.substr(299'990));
  EXPECT_EQ(VALUE(blobs_.read_unchecked(small_, 299'990, 100)), part_.substr(299'990));
  EXPECT_EQ(VALUE(blobs_.get(large_)), whole_);
  EXPECT_TRUE(VALUE(verify(*catalog_)).clean());
  EXPECT_FALSE(VALUE(blobs_.share(small_, large_))) << "it is shared already";
  EXPECT_EQ(VALUE(blobs_.put(as_bytes(part_))), small_);
  EXPECT_FALSE(fs::exists(blobs_.path_of(small_))) << "it was there";
}

TEST_F(SharedFileTest, WhatIsNoBeginningIsNotShared) {
  const Digest other = VALUE(blobs_.put(as_bytes(pattern(300'000, 2))));
  const Digest tiny = VALUE(blobs_.put(as_bytes(whole_.substr(0, 100))));
  EXPECT_FALSE(VALUE(blobs_.share(other, large_)));
  EXPECT_FALSE(VALUE(blobs_.share(large_, small_)));
  EXPECT_FALSE(VALUE(blobs_.share(tiny, large_)));  // it has no file anyway
  EXPECT_EQ(VALUE(blobs_.get(other)), pattern(300'000, 2));
}

TEST_F(SharedFileTest, WithoutTheWholeItIsMissingAndMayBeStoredAgain) {
  EXPECT_TRUE(VALUE(blobs_.share(small_, large_)));
  EXPECT_OK(blobs_.remove(large_));
  EXPECT_ERROR(ErrorCode::not_found, blobs_.size(small_));
  EXPECT_ERROR(ErrorCode::not_found, blobs_.get(small_));
  EXPECT_OK(blobs_.put(as_bytes(part_)));
  EXPECT_EQ(VALUE(blobs_.get(small_)), part_);
  EXPECT_TRUE(fs::exists(blobs_.path_of(small_)));
}

TEST_F(SharedFileTest, DamageOfTheBeginningSetsBothAside) {
  EXPECT_TRUE(VALUE(blobs_.share(small_, large_)));
  test::flip_byte(blobs_.path_of(large_), 5);
  EXPECT_ERROR(ErrorCode::corrupt_data, blobs_.get(small_));
  EXPECT_FALSE(VALUE(has_blob(blobs_, small_)));
  EXPECT_FALSE(VALUE(has_blob(blobs_, large_)));
}

TEST_F(SharedFileTest, DamageBehindItDoesNotConcernIt) {
  EXPECT_TRUE(VALUE(blobs_.share(small_, large_)));
  test::flip_byte(blobs_.path_of(large_), 399'999);
  EXPECT_EQ(VALUE(blobs_.get(small_)), part_);
  EXPECT_ERROR(ErrorCode::corrupt_data, blobs_.get(large_));
}

// A crash between the rows and the removal leaves the file.
TEST_F(SharedFileTest, AFileThatIsLeftIsTakenAway) {
  EXPECT_TRUE(VALUE(blobs_.share(small_, large_)));
  fs::create_directories(blobs_.path_of(small_).parent_path());
  std::ofstream(blobs_.path_of(small_), std::ios::binary) << part_;
  VerifyOptions repair;
  repair.repair = true;
  EXPECT_EQ(VALUE(verify(*catalog_, repair)).orphans, 1);
  EXPECT_FALSE(fs::exists(blobs_.path_of(small_)));
  EXPECT_EQ(VALUE(blobs_.get(small_)), part_);
}

}  // namespace
}  // namespace enginery
