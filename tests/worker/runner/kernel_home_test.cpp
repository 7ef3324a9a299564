// A build's folder for compiled kernels: its own, found again, and one of so many.
#include "worker/runner/kernel_home.h"

#include <gtest/gtest.h>

#include "engine/base/file.h"
#include "tests/support/temporary_folder.h"

namespace enginery {
namespace {

namespace fs = std::filesystem;

struct KernelHome : testing::Test {
  test::TemporaryFolder place;
  fs::path base = place.path / "builds";

  fs::path home_of(const std::string& build, size_t kept = kKernelHomes) const {
    const auto home = kernel_home(base, sha256(build), kept);
    EXPECT_TRUE(home.ok()) << home.error().message;
    return home.ok() ? *home : fs::path();
  }
};

TEST_F(KernelHome, IsABuildsOwnAndStays) {
  const fs::path one = home_of("one");
  ASSERT_TRUE(write_file(one / "kernel", "code").ok());
  EXPECT_NE(home_of("other"), one);
  EXPECT_EQ(home_of("one"), one);
  EXPECT_TRUE(fs::exists(one / "kernel"));
  EXPECT_TRUE(fs::is_empty(home_of("other")));
}

TEST_F(KernelHome, ThoseUsedLongestAgoMakeRoom) {
  const auto used = [&](const std::string& build, int hours_ago) {
    const fs::path home = home_of(build);
    fs::last_write_time(home, fs::file_time_type::clock::now() - std::chrono::hours(hours_ago));
    return home;
  };
  // What a runner has left is not followed.
  ASSERT_TRUE(write_file(place.path / "mine", "stays").ok());
  fs::create_symlink(place.path, home_of("older") / "link");
  const fs::path old = used("old", 3), older = used("older", 9), recent = used("recent", 1);
  const fs::path present = home_of("new", 2);
  EXPECT_TRUE(fs::exists(present));
  EXPECT_TRUE(fs::exists(recent));
  EXPECT_FALSE(fs::exists(old));
  EXPECT_FALSE(fs::exists(older));
  EXPECT_TRUE(fs::exists(place.path / "mine"));
}

TEST_F(KernelHome, AFolderThatCannotBeMadeIsAnError) {
  ASSERT_TRUE(write_file(base, "a file").ok());
  EXPECT_FALSE(kernel_home(base, sha256("x")).ok());
}

}  // namespace
}  // namespace enginery
