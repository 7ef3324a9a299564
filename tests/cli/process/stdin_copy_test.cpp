// What comes through a pipe is a file for as long as it is needed.
#include "cli/process/stdin_copy.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <optional>

#include "engine/base/file.h"

namespace enginery {
namespace {

TEST(StdinCopy, HoldsAllThatWasReadAndGoesWithItsOwner) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const std::string text(50'000, 'x');  // less than a pipe holds
  ASSERT_EQ(::write(ends[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
  ::close(ends[1]);
  std::optional<std::filesystem::path> path;
  {
    auto made = StdinCopy::make(ends[0]);
    ASSERT_TRUE(made.ok()) << made.error().message;
    const StdinCopy kept = std::move(*made);
    path = kept.path();
    EXPECT_EQ(read_file(*path).value(), text);
  }
  EXPECT_FALSE(std::filesystem::exists(*path));
  ::close(ends[0]);
}

TEST(StdinCopy, SaysWhatCannotBeRead) {
  const auto made = StdinCopy::make(-1);
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().code, ErrorCode::storage);
  EXPECT_NE(made.error().message.find("stdin"), std::string::npos);
}

}  // namespace
}  // namespace enginery
