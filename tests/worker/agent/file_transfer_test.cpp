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

TEST_F(FileTransferTest, AnUploadMustHaveTheReportedBytes) {
  const Bytes bytes = bytes_ + "more";
  ASSERT_TRUE(write_file(file("c"), bytes).ok());
  const auto upload = [&](const NamedBlob& output) {
    return upload_output(connection_, farm_.folder(), output, {});
  };
  const auto refused = [&](const NamedBlob& output) {
    const Status sent = upload(output);
    EXPECT_FALSE(sent.ok());
    return sent.ok() ? ErrorCode::cancelled : sent.error().code;
  };
  EXPECT_EQ(refused({"c", sha256("other"), bytes.size()}), ErrorCode::corrupt_data);
  EXPECT_EQ(refused({"c", sha256(bytes), bytes.size() - 1}), ErrorCode::corrupt_data);
  EXPECT_EQ(refused({"../c", sha256(bytes), bytes.size()}), ErrorCode::internal);
  std::filesystem::create_symlink(file("c"), file("link"));
  EXPECT_EQ(refused({"link", sha256(bytes), bytes.size()}), ErrorCode::internal);
  ASSERT_TRUE(upload({"c", sha256(bytes), bytes.size()}).ok());
  EXPECT_EQ(*farm_.client()->get_blob(sha256(bytes)), bytes);
}

}  // namespace
}  // namespace enginery
