// A scratch folder outlives neither its owner nor, for long, an owner that was killed.
#include "worker/runner/scratch_folder.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "engine/base/file.h"
#include "tests/support/temporary_folder.h"

namespace enginery {
namespace {

namespace fs = std::filesystem;

// As if nobody had written in it for an hour.
void make_old(const fs::path& folder) {
  fs::last_write_time(folder, fs::file_time_type::clock::now() - std::chrono::hours(1));
}

// Made by a process that was killed.
fs::path left_behind(const fs::path& base) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    const auto folder = ScratchFolder::make(base);
    const std::string name = folder.ok() ? (*folder)->path().string() : "";
    (void)!write(ends[1], name.data(), name.size());
    std::raise(SIGKILL);
  }
  waitpid(child, nullptr, 0);
  char name[256] = {};
  EXPECT_GT(read(ends[0], name, sizeof name - 1), 0);
  close(ends[0]);
  close(ends[1]);
  return name;
}

TEST(ScratchFolder, GoesWithItsOwner) {
  const test::TemporaryFolder base;
  fs::path path;
  {
    const auto folder = ScratchFolder::make(base.path);
    ASSERT_TRUE(folder.ok()) << folder.error().message;
    path = (*folder)->path();
    struct stat status = {};
    ASSERT_EQ(stat(path.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0700u);
    fs::create_directories(path / "outputs");
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST(ScratchFolder, OfAProcessThatWasKilledIsRemovedByTheNext) {
  const test::TemporaryFolder base;
  const fs::path dead = left_behind(base.path);
  ASSERT_TRUE(fs::is_directory(dead));
  ASSERT_TRUE(ScratchFolder::make(base.path).ok());
  EXPECT_TRUE(fs::exists(dead)) << "so young a folder may not be locked yet";
  make_old(dead);
  ASSERT_TRUE(ScratchFolder::make(base.path).ok());
  EXPECT_FALSE(fs::exists(dead));
}

TEST(ScratchFolder, LeavesAloneWhatIsInUseOrSomebodyElses) {
  const test::TemporaryFolder base, other;
  const auto used = ScratchFolder::make(base.path);
  ASSERT_TRUE(used.ok());
  make_old((*used)->path());
  fs::create_directory(base.path / "enginery-other-name");
  make_old(base.path / "enginery-other-name");
  fs::create_directory_symlink(other.path, base.path / "enginery-build-linked");
  ASSERT_TRUE(ScratchFolder::make(base.path).ok());
  EXPECT_TRUE(fs::exists((*used)->path()));
  EXPECT_TRUE(fs::exists(base.path / "enginery-other-name"));
  EXPECT_TRUE(fs::exists(other.path));
  EXPECT_EQ(ScratchFolder::make(base.path / "missing").error().code, ErrorCode::not_found);
}

// A runner may still read what it was given before.
TEST(ScratchFile, TakesThePlaceOfAnotherAndLeavesItWhole) {
  const test::TemporaryFolder base;
  const fs::path file = base.path / "content";
  ASSERT_TRUE(write_scratch_file(file, "the first one").ok());
  const int held = open(file.c_str(), O_RDONLY);
  ASSERT_TRUE(write_scratch_file(file, "another").ok());
  EXPECT_EQ(*read_file(file), "another");
  char old[20] = {};
  EXPECT_EQ(read(held, old, sizeof old), 13);
  EXPECT_STREQ(old, "the first one");
  close(held);
  ASSERT_TRUE(write_scratch_file(file, "").ok());
  EXPECT_EQ(*read_file(file), "");
}

TEST(ScratchFile, IsNotWrittenThroughALink) {
  const test::TemporaryFolder base;
  ASSERT_TRUE(write_scratch_file(base.path / "key", "secret").ok());
  fs::create_symlink(base.path / "key", base.path / "content");
  ASSERT_TRUE(write_scratch_file(base.path / "content", "bytes").ok());
  EXPECT_EQ(*read_file(base.path / "key"), "secret");
  const Status away = write_scratch_file(base.path / "none" / "content", "bytes");
  ASSERT_FALSE(away.ok());
  EXPECT_EQ(away.error().code, ErrorCode::storage);
}

}  // namespace
}  // namespace enginery
