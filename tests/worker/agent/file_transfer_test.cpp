// Blobs from the farm into files and back: whole, checked, and gone on with where a try ended.
#include "worker/agent/file_transfer.h"

#include <gtest/gtest.h>

#include "engine/base/file.h"
#include "tests/worker/farm_fixture.h"

namespace enginery {
namespace {

class FileTransferTest : public testing::Test {
 protected:
  FileTransferTest() {
    for (size_t i = 0; i < bytes_.size(); i += 4096) bytes_[i] = static_cast<char>(i >> 12);
    digest_ = *farm_.client()->put_blob(as_bytes(bytes_));
  }
  std::filesystem::path file(const std::string& name) const { return farm_.folder() / name; }

  test::SmallFarm farm_;
  FarmConnection connection_{{farm_.address(), "tester", make_zmq_dial()}, [] { return false; }};
  Bytes bytes_ = Bytes(5'000'000, 'x');
  Digest digest_;
};

TEST_F(FileTransferTest, ADownloadGoesOnWhereAnEarlierOneStopped) {
  ASSERT_TRUE(write_file(file("a.part"), bytes_.substr(0, 3'000'000)).ok());
  uint64_t first = 0;
  const auto progress = [&](uint64_t done, uint64_t) { first = first == 0 ? done : first; };
  ASSERT_TRUE(download_file(connection_, digest_, file("a"), progress).ok());
  EXPECT_EQ(first, 3'000'000u + kChunkBytes);
  EXPECT_EQ(*read_file(file("a")), bytes_);
  EXPECT_FALSE(std::filesystem::exists(file("a.part")));
}

TEST_F(FileTransferTest, WhatAnEarlierTryLeftWrongIsDroppedAndFetchedAgain) {
  for (const size_t size : {size_t{1'000'000}, size_t{9'000'000}}) {
    ASSERT_TRUE(write_file(file("b.part"), Bytes(size, '?')).ok());
    const Status done = download_file(connection_, digest_, file("b"), {});
    ASSERT_TRUE(done.ok()) << done.error().message;
    EXPECT_EQ(*read_file(file("b")), bytes_);
    std::filesystem::remove(file("b"));
  }
}

TEST_F(FileTransferTest, AnUploadMustHaveThePromisedBytes) {
  ASSERT_TRUE(write_file(file("c"), bytes_ + "more").ok());
  const Digest right = sha256(bytes_ + "more");
  const Status wrong = upload_file(connection_, sha256("other"), file("c"), {});
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.error().code, ErrorCode::corrupt_data);
  ASSERT_TRUE(upload_file(connection_, right, file("c"), {}).ok());
  EXPECT_EQ(*farm_.client()->get_blob(right), bytes_ + "more");
}

}  // namespace
}  // namespace enginery
