// How CUDA's libraries are looked for, and what is said of those that are not there.
#include "engine/device/cuda/library.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>

namespace enginery {
namespace {

namespace fs = std::filesystem;

// An environment variable for as long as the test runs.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    if (const char* before = getenv(name)) before_ = before;
    setenv(name, value.c_str(), 1);
  }
  ~Variable() {
    if (before_)
      setenv(name_, before_->c_str(), 1);
    else
      unsetenv(name_);
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* const name_;
  std::optional<std::string> before_;
};

class SharedLibraryTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "enginery-libraries-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }
  void put(const fs::path& file, const std::string& text) {
    fs::create_directories((folder_ / file).parent_path());
    std::ofstream(folder_ / file) << text;
  }
  fs::path folder_;
};

TEST_F(SharedLibraryTest, OpensTheFirstOfItsNamesThatIsThere) {
  const auto library = SharedLibrary::open({"libnothing-of-ours.so.9", "libm.so.6"});
  ASSERT_TRUE(library.ok()) << library.error().message;
  EXPECT_EQ(library->path(), "libm.so.6");
  EXPECT_TRUE(library->symbol("cosf").ok());
}

TEST_F(SharedLibraryTest, NamesEverythingThatItTried) {
  const auto library = SharedLibrary::open({"libnothing-of-ours.so.9", "libnothing-of-ours.so.8"});
  ASSERT_FALSE(library.ok());
  EXPECT_EQ(library.error().code, ErrorCode::unavailable);
  EXPECT_NE(library.error().message.find("open libnothing-of-ours.so.9, libnothing-of-ours.so.8: "),
            std::string::npos)
      << library.error().message;
}

TEST_F(SharedLibraryTest, SaysThatALibraryIsOlderThanACall) {
  const auto library = SharedLibrary::open({"libm.so.6"});
  ASSERT_TRUE(library.ok());
  const auto symbol = library->symbol("cosine_of_tomorrow");
  ASSERT_FALSE(symbol.ok());
  EXPECT_EQ(symbol.error().code, ErrorCode::unavailable);
  EXPECT_EQ(symbol.error().message,
            "libm.so.6 has no cosine_of_tomorrow: it is older than what enginery needs");
}

// A file that is there and does not load says more than a name that is not there.
TEST_F(SharedLibraryTest, GivesTheReasonOfTheFileThatWasFound) {
  put("libbroken-of-ours.so.1", "no ELF file");
  const Variable folders("ENGINERY_CUDA_LIBRARIES", folder_.string());
  const auto library = SharedLibrary::open({"libbroken-of-ours.so.1"});
  ASSERT_FALSE(library.ok());
  EXPECT_EQ(library.error().code, ErrorCode::unavailable);
  EXPECT_NE(library.error().message.find((folder_ / "libbroken-of-ours.so.1").string()),
            std::string::npos)
      << library.error().message;
}

TEST_F(SharedLibraryTest, LooksInTheNamedFoldersFirst) {
  const Variable folders("ENGINERY_CUDA_LIBRARIES", ":/first::/second:");
  const Variable home("CUDA_HOME", "/home-of-cuda");
  const std::vector<std::string> all = library_folders();
  ASSERT_GE(all.size(), 3u);
  EXPECT_EQ(all[0], "/first");
  EXPECT_EQ(all[1], "/second");
  EXPECT_EQ(all[2], "/home-of-cuda/lib64");
  EXPECT_EQ(std::count(all.begin(), all.end(), ""), 0) << "an empty part is no folder";
}

TEST_F(SharedLibraryTest, LooksIntoTheWheelsOfAVirtualEnvironment) {
  const fs::path site = "lib/python3.11/site-packages/nvidia";
  put(site / "cudnn/lib/libcudnn.so.9", "");
  put(site / "cublas/lib/libcublasLt.so.12", "");
  put(site / "no_libraries/readme", "");
  put("lib/other/site-packages/nvidia/cudnn/lib/x", "");
  const Variable environment("VIRTUAL_ENV", folder_.string());
  const std::vector<std::string> all = library_folders();
  const auto listed = [&](const fs::path& path) {
    return std::ranges::count(all, (folder_ / path).string());
  };
  EXPECT_EQ(listed(site / "cudnn/lib"), 1);
  EXPECT_EQ(listed(site / "cublas/lib"), 1);
  EXPECT_EQ(listed(site / "no_libraries/lib"), 0);
  EXPECT_EQ(listed("lib/other/site-packages/nvidia/cudnn/lib"), 0);
}

TEST_F(SharedLibraryTest, LooksBesideThePythonOfThePath) {
  put("bin/python3", "");
  put("lib/python3.12/site-packages/nvidia/cuda_nvrtc/lib/libnvrtc.so.12", "");
  const Variable path("PATH", "/nowhere:" + (folder_ / "bin").string());
  const std::vector<std::string> all = library_folders();
  EXPECT_EQ(all.back(), (folder_ / "lib/python3.12/site-packages/nvidia/cuda_nvrtc/lib").string());
}

}  // namespace
}  // namespace enginery
