#include "engine/kernels/cuda/code_folder.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "engine/base/file.h"

namespace enginery {
namespace {

class CodeFolderTest : public testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove_all(folder_); }
  const std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("code-folder-" + std::to_string(getpid()));
  const Digest key_ = code_key("kernel text", 90, CodeKind::cubin);
};

TEST_F(CodeFolderTest, GivesBackWhatWasInserted) {
  CodeFolder store(folder_);
  EXPECT_FALSE(store.find(key_));
  store.insert(key_, "object code");
  EXPECT_EQ(CodeFolder(folder_).find(key_), "object code");
  EXPECT_FALSE(store.find(code_key("kernel text", 90, CodeKind::ptx)));
  EXPECT_FALSE(store.find(code_key("kernel text", 80, CodeKind::cubin)));
}

TEST_F(CodeFolderTest, TakesADamagedFileForAbsent) {
  CodeFolder store(folder_);
  store.insert(key_, "object code");
  const auto file = folder_ / (key_.hex() + ".code");
  const auto bytes = read_file(file);
  ASSERT_TRUE(bytes.ok());
  for (const std::string& damaged :
       {std::string(), bytes->substr(0, 70), *bytes + "x", "0" + bytes->substr(1)}) {
    ASSERT_TRUE(write_file(file, damaged).ok());
    EXPECT_FALSE(store.find(key_)) << damaged.size() << " bytes";
  }
  store.insert(key_, "again");
  EXPECT_EQ(store.find(key_), "again");
}

TEST_F(CodeFolderTest, AFolderThatCannotBeWrittenCostsOnlyTheEntry) {
  ASSERT_TRUE(write_file(folder_, "a file where the folder should be").ok());
  CodeFolder store(folder_);
  store.insert(key_, "object code");
  EXPECT_FALSE(store.find(key_));
}

}  // namespace
}  // namespace enginery
