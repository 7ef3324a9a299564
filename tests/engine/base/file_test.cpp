// Whole files: what reading refuses, and that writing leaves the old bytes or the new ones and
// never a temporary file.
#include "engine/base/file.h"

#include <gtest/gtest.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <optional>

#include "tests/support/temporary_folder.h"

namespace enginery {
namespace {

namespace fs = std::filesystem;

class FileTest : public ::testing::Test {
 protected:
  // Names of everything in the folder, hidden files too.
  std::vector<std::string> entries() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_.path))
      names.push_back(entry.path().filename().string());
    return names;
  }
  fs::path at(const std::string& name) const { return folder_.path / name; }

 private:
  test::TemporaryFolder folder_;
};

TEST_F(FileTest, ReadsBackEveryByteThatItWrote) {
  for (const std::string& bytes :
       {std::string(), std::string("\0\n\xff", 3), std::string(100'000, 'x')}) {
    ASSERT_TRUE(write_file(at("f"), bytes).ok());
    const auto read = read_file(at("f"));
    ASSERT_TRUE(read.ok());
    EXPECT_TRUE(*read == bytes) << bytes.size() << " bytes";
  }
  EXPECT_EQ(entries(), std::vector<std::string>{"f"});
}

TEST_F(FileTest, WritesWithTheModeThatIsAskedFor) {
  ASSERT_TRUE(write_file(at("secret"), "x", 0600).ok());
  EXPECT_EQ(fs::status(at("secret")).permissions(), fs::perms(0600));
  ASSERT_TRUE(write_file(at("secret"), "x").ok());
  EXPECT_EQ(fs::status(at("secret")).permissions(), fs::perms(0644));
}

TEST_F(FileTest, NamesTheFileThatIsNotThere) {
  const auto none = read_file(at("none"));
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().code, ErrorCode::not_found);
  EXPECT_NE(none.error().message.find(at("none").string()), std::string::npos);
}

TEST_F(FileTest, RefusesAFolderAndAFileThatIsTooLarge) {
  EXPECT_EQ(read_file(at(".")).error().code, ErrorCode::invalid_argument);
  ASSERT_TRUE(write_file(at("f"), "12345").ok());
  EXPECT_TRUE(read_file(at("f"), 5).ok());
  const auto large = read_file(at("f"), 4);
  ASSERT_FALSE(large.ok());
  EXPECT_EQ(large.error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(large.error().message, "read " + at("f").string() + ": 5 bytes, at most 4 are allowed");
}

// Files of /proc have no size of their own: they are read to their end, and the limit holds for
// them.
TEST_F(FileTest, ReadsAFileWithoutASizeToItsEnd) {
  const auto status = read_file("/proc/self/status");
  ASSERT_TRUE(status.ok());
  EXPECT_NE(status->find("VmRSS"), std::string::npos);
  EXPECT_EQ(read_file("/proc/self/status", 10).error().code, ErrorCode::invalid_argument);
}

TEST_F(FileTest, AFailedWriteLeavesTheOldBytesAndNothingElse) {
  fs::create_directory(at("taken"));
  std::ofstream(at("taken") / "inside") << "x";
  const Status status = write_file(at("taken"), "new");
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::storage);
  EXPECT_EQ(entries(), std::vector<std::string>{"taken"});
}

TEST_F(FileTest, SaysThatTheFolderIsMissing) {
  const Status status = write_file(at("no/such/f"), "x");
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::storage);
  EXPECT_NE(status.error().message.find(at("no/such").string() + " does not exist"),
            std::string::npos)
      << status.error().message;
}

TEST_F(FileTest, MakesFoldersOnTheWayAndMindsAFileInTheWay) {
  EXPECT_TRUE(make_folder(at("a/b/c"), 0700).ok());
  EXPECT_EQ(fs::status(at("a/b/c")).permissions(), fs::perms(0700));
  EXPECT_TRUE(make_folder(at("a/b/c")).ok()) << "it is there already";
  EXPECT_EQ(fs::status(at("a/b/c")).permissions(), fs::perms(0700)) << "and stays as it is";
  ASSERT_TRUE(write_file(at("f"), "x").ok());
  EXPECT_EQ(make_folder(at("f")).error().code, ErrorCode::storage);
  EXPECT_EQ(make_folder(at("f/g")).error().code, ErrorCode::storage);
}

// A service or a cron job has no HOME; a signing key in /tmp would be everybody's.
TEST(DataFolder, WithoutHomeIsTheUsersOwnAndNotWorldWritable) {
  const std::vector<std::string> names{"HOME", "ENGINERY_HOME", "XDG_DATA_HOME"};
  std::vector<std::optional<std::string>> before;
  for (const std::string& name : names) {
    const char* value = std::getenv(name.c_str());
    before.push_back(value ? std::optional<std::string>(value) : std::nullopt);
    unsetenv(name.c_str());
  }
  const fs::path folder = data_folder();
  for (size_t i = 0; i < names.size(); ++i)
    if (before[i]) setenv(names[i].c_str(), before[i]->c_str(), 1);
  EXPECT_FALSE(folder.string().starts_with("/tmp")) << folder;
  const passwd* user = getpwuid(getuid());
  if (user) {
    EXPECT_EQ(folder, fs::path(user->pw_dir) / ".local/share/enginery");
  }
}

TEST(ErrnoError, TellsAMissingFileFromOtherTroubles) {
  EXPECT_EQ(errno_error("open x", ENOENT).code, ErrorCode::not_found);
  EXPECT_EQ(errno_error("open x", ENOSPC).code, ErrorCode::storage);
  EXPECT_EQ(errno_error("open x", EACCES).message, "open x: Permission denied");
}

}  // namespace
}  // namespace enginery
