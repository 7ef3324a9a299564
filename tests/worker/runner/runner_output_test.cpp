// A runner's outputs are files of a process that nobody trusts: nothing else is read in their name.
#include "worker/runner/runner_output.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/base/file.h"
#include "tests/support/temporary_folder.h"

namespace enginery {
namespace {

struct RunnerOutput : testing::Test {
  test::TemporaryFolder place;
  std::filesystem::path folder = place.path / "outputs", secret = place.path / "secret";
  void SetUp() override {
    std::filesystem::create_directory(folder);
    ASSERT_TRUE(write_file(secret, "the key").ok());
  }
  // What was reported of the file with these bytes.
  static NamedBlob named(const std::string& name, const Bytes& bytes) {
    return {name, sha256(bytes), bytes.size()};
  }
  std::string refusal(const NamedBlob& output) const {
    const auto read = read_output(folder, output);
    EXPECT_FALSE(read.ok()) << output.name;
    return read.ok() ? "" : read.error().message;
  }
};

TEST_F(RunnerOutput, IsARegularFileOfAPlainNameInTheFolder) {
  for (const Bytes& bytes : {Bytes(), Bytes("choices"), Bytes(1 << 20, 'x')}) {
    ASSERT_TRUE(write_file(folder / "choices-1.txt", bytes).ok());
    const auto read = read_output(folder, named("choices-1.txt", bytes));
    ASSERT_TRUE(read.ok()) << read.error().message;
    EXPECT_EQ(*read, bytes);
  }
}

// Each of these names reached the file before: it was uploaded, and only then compared.
TEST_F(RunnerOutput, IsNotWhatABadNameReaches) {
  for (const std::string& name :
       {secret.string(), std::string("../secret"), std::string("./choices"), std::string(".."),
        std::string(""), std::string(".hidden"), std::string("a/b"), std::string("Choices")})
    EXPECT_NE(refusal(named(name, "the key")).find("has a bad name"), std::string::npos) << name;
}

TEST_F(RunnerOutput, IsNoLink) {
  ASSERT_EQ(symlink(secret.c_str(), (folder / "choices").c_str()), 0);
  EXPECT_NE(refusal(named("choices", "the key")).find("is a link"), std::string::npos);
  ASSERT_EQ(link(secret.c_str(), (folder / "content").c_str()), 0);
  EXPECT_NE(refusal(named("content", "the key")).find("another name"), std::string::npos);
}

TEST_F(RunnerOutput, IsNotInAFolderThatWasReplacedByALink) {
  ASSERT_TRUE(write_file(place.path / "choices", "elsewhere").ok());
  std::filesystem::remove_all(folder);
  ASSERT_EQ(symlink(place.path.c_str(), folder.c_str()), 0);
  EXPECT_FALSE(read_output(folder, named("choices", "elsewhere")).ok());
}

TEST_F(RunnerOutput, IsNoPipeAndNoFolder) {
  ASSERT_EQ(mkfifo((folder / "pipe").c_str(), 0600), 0);
  EXPECT_NE(refusal(named("pipe", "")).find("no regular file"), std::string::npos);
  std::filesystem::create_directory(folder / "folder");
  EXPECT_NE(refusal(named("folder", "")).find("no regular file"), std::string::npos);
}

TEST_F(RunnerOutput, HasTheSizeAndTheBytesThatWereReported) {
  ASSERT_TRUE(write_file(folder / "choices", "choices").ok());
  EXPECT_NE(refusal(named("choices", "longer choices")).find("not the 14"), std::string::npos);
  EXPECT_NE(refusal(named("choices", "CHOICES")).find("changed"), std::string::npos);
  EXPECT_NE(refusal(named("absent", "")).find("is not there"), std::string::npos);
  NamedBlob huge = named("choices", "choices");
  huge.size_bytes = kMaxOutputBytes + 1;
  EXPECT_NE(refusal(huge).find("too large"), std::string::npos);
}

}  // namespace
}  // namespace enginery
