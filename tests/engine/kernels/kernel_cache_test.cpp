#include "engine/kernels/cuda/kernel_cache.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "engine/base/file.h"

namespace enginery {
namespace {

class KernelCacheFolderTest : public testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove_all(folder_); }
  const std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("kernel-cache-" + std::to_string(getpid()));
  const Digest key_ = kernel_cache_key("kernel text", 90, CodeKind::cubin);
};

TEST_F(KernelCacheFolderTest, GivesBackWhatWasInserted) {
  KernelCacheFolder store(folder_);
  EXPECT_FALSE(store.find(key_));
  store.insert(key_, "object code");
  EXPECT_EQ(KernelCacheFolder(folder_).find(key_), "object code");
  EXPECT_FALSE(store.find(kernel_cache_key("kernel text", 90, CodeKind::ptx)));
  EXPECT_FALSE(store.find(kernel_cache_key("kernel text", 80, CodeKind::cubin)));
}

TEST_F(KernelCacheFolderTest, TakesADamagedFileForAbsent) {
  KernelCacheFolder store(folder_);
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

TEST_F(KernelCacheFolderTest, AFolderThatCannotBeWrittenCostsOnlyTheEntry) {
  ASSERT_TRUE(write_file(folder_, "a file where the folder should be").ok());
  KernelCacheFolder store(folder_);
  store.insert(key_, "object code");
  EXPECT_FALSE(store.find(key_));
}

}  // namespace
}  // namespace enginery
