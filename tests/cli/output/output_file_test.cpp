#include "cli/output/output_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <thread>

#include "engine/base/file.h"
#include "tests/cli/temporary_home.h"

namespace enginery {
namespace {

namespace fs = std::filesystem;

class OutputFile : public testing::Test {
 protected:
  const TemporaryHome home_;
};

TEST_F(OutputFile, WritesThroughASymbolicLinkAlsoToAFileThatIsNotThereYet) {
  ASSERT_TRUE(write_file(home_.file("there"), "old").ok());
  fs::create_symlink("there", home_.file("link"));
  fs::create_symlink("link", home_.file("link of a link"));
  fs::create_symlink("new", home_.file("dangling"));
  for (const auto& [name, target] :
       {std::pair("link of a link", "there"), std::pair("dangling", "new")}) {
    SCOPED_TRACE(name);
    ASSERT_TRUE(check_output_file(home_.file(name)).ok());
    ASSERT_TRUE(write_output_file(home_.file(name), "bytes").ok());
    EXPECT_TRUE(fs::is_symlink(home_.file(name)));
    EXPECT_EQ(*read_file(home_.file(target)), "bytes");
  }
}

TEST_F(OutputFile, WritesIntoAFifoAndLeavesItOne) {
  const std::string fifo = home_.file("fifo");
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  ASSERT_TRUE(check_output_file(fifo).ok()) << "nobody reads it yet, and the check does not wait";
  const std::string sent(300'000, 'x');  // more than a pipe holds
  Status written;
  std::thread writer([&] { written = write_output_file(fifo, sent); });
  const Result<Bytes> received = read_file(fifo);
  writer.join();
  EXPECT_TRUE(written.ok());
  EXPECT_EQ(*received, sent);
  EXPECT_TRUE(fs::is_fifo(fifo));
}

TEST_F(OutputFile, WritesIntoADeviceAndLeavesItOne) {
  const fs::path null = home_.file("null");  // as a link, so that a fault cannot hurt the machine's
  fs::create_symlink("/dev/null", null);
  ASSERT_TRUE(check_output_file(null).ok());
  EXPECT_TRUE(write_output_file(null, "bytes").ok());
  EXPECT_TRUE(fs::is_character_file(null));
}

TEST_F(OutputFile, ADeviceThatIsFullIsStorage) {
  const Status status = write_output_file("/dev/full", "bytes");
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::storage);
  EXPECT_EQ(status.error().message, "write /dev/full: No space left on device");
}

TEST_F(OutputFile, WhatCannotSucceedIsSaidBeforeTheWork) {
  fs::create_directory(home_.file("folder"));
  ASSERT_TRUE(write_file(home_.file("model.onnx"), "a model").ok());
  fs::create_symlink("no/such", home_.file("dangling"));
  const auto is_engine = [](std::string_view bytes) { return bytes.starts_with("ENGINERY"); };
  const struct {
    std::string file, message;
    ErrorCode code;
  } rows[] = {
      {"no/x.engine", "does not exist; make it, or name another file", ErrorCode::storage},
      {"dangling", "does not exist", ErrorCode::storage},
      {"model.onnx/x.engine", "is not a folder", ErrorCode::storage},
      {"folder", "it is a folder; name a file in it, such as", ErrorCode::storage},
      {"model.onnx", "a file of another kind is there, and it is not overwritten",
       ErrorCode::usage},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.file);
    const Status status = check_output_file(home_.file(row.file), is_engine);
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().code, row.code);
    EXPECT_TRUE(status.error().message.starts_with("write " + home_.file(row.file) + ": "));
    EXPECT_NE(status.error().message.find(row.message), std::string::npos)
        << status.error().message;
  }
}

TEST_F(OutputFile, TakesTheirPlaceWhereWhatIsThereMayBeReplaced) {
  const auto is_engine = [](std::string_view bytes) { return bytes.starts_with("ENGINERY"); };
  ASSERT_TRUE(write_file(home_.file("empty"), "").ok());
  ASSERT_TRUE(write_file(home_.file("engine"), "ENGINERY...").ok());
  for (const char* name : {"empty", "engine", "new"})
    EXPECT_TRUE(check_output_file(home_.file(name), is_engine).ok()) << name;
  EXPECT_FALSE(fs::exists(home_.file("new"))) << "a check makes nothing";
}

// /proc/x says the folder does not exist, though it does: the kernel's words are the answer.
TEST_F(OutputFile, AFolderThatTakesNoFilesIsFoundBeforeTheWork) {
  const Status checked = check_output_file("/proc/x.engine");
  ASSERT_FALSE(checked.ok());
  EXPECT_EQ(checked.error().code, ErrorCode::storage);
  ASSERT_TRUE(check_output_file(home_.file("x.engine")).ok());
  EXPECT_TRUE(fs::is_empty(fs::path(home_.file("x")).parent_path())) << "it leaves nothing";
}

TEST_F(OutputFile, AFolderThatTakesNoFilesIsNotSaidToBeMissing) {
  const Status status = write_output_file("/proc/x.engine", "bytes");
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().message.find("does not exist"), std::string::npos)
      << status.error().message;
}

}  // namespace
}  // namespace enginery
