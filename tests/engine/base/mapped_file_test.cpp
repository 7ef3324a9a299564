#include "engine/base/mapped_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <thread>

#include "engine/base/file.h"

namespace enginery {
namespace {

class MappedFileTest : public ::testing::Test {
 protected:
  MappedFileTest() {
    std::string name = (std::filesystem::temp_directory_path() / "enginery-mapped-XXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  ~MappedFileTest() override { std::filesystem::remove_all(folder_); }

  // A file of so many bytes, no two neighbouring pieces of which are alike.
  std::filesystem::path written(size_t size) {
    bytes_.resize(size);
    for (size_t i = 0; i < size; ++i) bytes_[i] = static_cast<char>(i % 251 + i / 65536);
    EXPECT_TRUE(write_file(folder_ / "file", bytes_).ok());
    return folder_ / "file";
  }

  std::filesystem::path folder_;
  Bytes bytes_;
};

TEST_F(MappedFileTest, LoadsAndMapsTheFilesBytes) {
  for (const size_t size : {size_t{0}, size_t{1}, size_t{100'000}, (size_t{4} << 20) - 1,
                            size_t{4} << 20, (size_t{9} << 20) + 17}) {
    const std::filesystem::path file = written(size);
    const auto loaded = load_file(file);
    ASSERT_TRUE(loaded.ok()) << loaded.error().message;
    EXPECT_TRUE(as_text(loaded->bytes) == bytes_) << size;
    const auto mapped = map_file(file);
    ASSERT_TRUE(mapped.ok()) << mapped.error().message;
    EXPECT_TRUE(as_text(mapped->bytes) == bytes_) << size;
  }
}

TEST_F(MappedFileTest, WhatWasLoadedStaysWhenTheFileIsOverwrittenOrGone) {
  const std::filesystem::path file = written(size_t{5} << 20);
  const auto loaded = load_file(file);
  ASSERT_TRUE(loaded.ok());
  { std::fstream(file, std::ios::in | std::ios::out | std::ios::binary) << "something else"; }
  std::filesystem::resize_file(file, 3);
  std::filesystem::remove(file);
  EXPECT_TRUE(as_text(loaded->bytes) == bytes_);
}

TEST_F(MappedFileTest, LoadsAPipe) {
  const std::filesystem::path pipe = folder_ / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const std::jthread writer([&] { std::ofstream(pipe) << "from a pipe"; });
  const auto loaded = load_file(pipe);
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  EXPECT_EQ(as_text(loaded->bytes), "from a pipe");
}

TEST_F(MappedFileTest, SaysWhatCannotBeLoadedOrMapped) {
  for (const auto& read : {load_file(folder_ / "none"), map_file(folder_ / "none")}) {
    ASSERT_FALSE(read.ok());
    EXPECT_EQ(read.error().code, ErrorCode::not_found);
  }
  for (const auto& read : {load_file(folder_), map_file(folder_)}) {
    ASSERT_FALSE(read.ok());
    EXPECT_EQ(read.error().code, ErrorCode::invalid_argument);
  }
}

}  // namespace
}  // namespace enginery
