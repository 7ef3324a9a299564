#include "cache/private_folder.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>

#include "cache/catalog.h"
#include "engine/base/file.h"
#include "tests/support/temporary_folder.h"

namespace enginery {
namespace {

namespace fs = std::filesystem;

unsigned mode_of(const fs::path& path) {
  struct stat info {};
  EXPECT_EQ(stat(path.c_str(), &info), 0) << path;
  return info.st_mode & 07777;
}

struct PrivateFolder : testing::Test {
  test::TemporaryFolder place;
  fs::path folder = place.path / "data";
  void make(unsigned mode) const {
    fs::create_directories(folder);
    ASSERT_EQ(chmod(folder.c_str(), mode), 0);
  }
};

TEST_F(PrivateFolder, IsMadeForItsOwnerAlone) {
  ASSERT_TRUE(make_private_folder(folder).ok());
  EXPECT_EQ(mode_of(folder), 0700u);
}

TEST_F(PrivateFolder, ThatOthersCouldReadIsClosedToThem) {
  make(0755);
  ASSERT_TRUE(make_private_folder(folder).ok());
  EXPECT_EQ(mode_of(folder), 0700u);
}

// A folder for everyone, or a person's home, is given by mistake at most.
TEST_F(PrivateFolder, IsNotMadeOfASharedOneOrOfAHome) {
  make(01777);
  ASSERT_TRUE(make_private_folder(folder).ok());
  EXPECT_EQ(mode_of(folder), 01777u);
  make(0755);
  const char* before = std::getenv("HOME");
  const std::string home = before ? before : "";
  setenv("HOME", folder.c_str(), 1);
  const Status made = make_private_folder(folder);
  before ? setenv("HOME", home.c_str(), 1) : unsetenv("HOME");
  ASSERT_TRUE(made.ok());
  EXPECT_EQ(mode_of(folder), 0755u);
}

// By its number: who has it open sees what comes into it later.
TEST_F(PrivateFolder, IsEmptiedAndStaysTheSame) {
  make(0755);
  fs::create_directories(folder / "deep/deeper");
  ASSERT_TRUE(write_file(place.path / "elsewhere", "kept").ok());
  fs::create_symlink(place.path / "elsewhere", folder / "link");
  struct stat before {
  }, after{};
  ASSERT_EQ(stat(folder.c_str(), &before), 0);
  ASSERT_TRUE(make_empty_folder(folder).ok());
  ASSERT_EQ(stat(folder.c_str(), &after), 0);
  EXPECT_EQ(before.st_ino, after.st_ino);
  EXPECT_TRUE(fs::is_empty(folder));
  EXPECT_EQ(mode_of(folder), 0700u);
  EXPECT_EQ(*read_file(place.path / "elsewhere"), "kept");
}

TEST_F(PrivateFolder, NamesWhatIsInTheWay) {
  ASSERT_TRUE(write_file(folder, "a file").ok());
  const Status made = make_private_folder(folder);
  ASSERT_FALSE(made.ok());
  EXPECT_NE(made.error().message.find(folder.string()), std::string::npos);
}

// A catalog of an earlier version was readable by every account of the machine.
TEST_F(PrivateFolder, IsACatalogsWithAllThatItHolds) {
  make(0755);
  {
    auto catalog = Catalog::open(folder);
    ASSERT_TRUE(catalog.ok()) << catalog.error().message;
    ASSERT_TRUE((*catalog)->blobs().put(as_bytes(Bytes(200'000, 'm'))).ok());
  }
  for (const char* name : {"sha256", "tmp", "quarantine"})
    ASSERT_EQ(chmod((folder / name).c_str(), 0755), 0);
  for (const char* name : {"catalog.db"}) ASSERT_EQ(chmod((folder / name).c_str(), 0644), 0);
  const auto catalog = Catalog::open(folder);
  ASSERT_TRUE(catalog.ok());
  EXPECT_EQ(mode_of(folder), 0700u);
  for (const char* name : {"sha256", "tmp", "quarantine"})
    EXPECT_EQ(mode_of(folder / name), 0700u) << name;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().filename().string().starts_with("catalog.db")) {
      EXPECT_EQ(mode_of(entry.path()), 0600u) << entry.path();
    }
  }
}

}  // namespace
}  // namespace enginery
