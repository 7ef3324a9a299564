// Whether the catalog takes a row and a blob.
#include "coordinator/server/health.h"

#include <gtest/gtest.h>

#include "tests/coordinator/farm_fixture.h"

namespace enginery {
namespace {

TEST(TryCatalog, LeavesNothingBehind) {
  const TemporaryFolder folder;
  const auto catalog = must(Catalog::open(folder.path));
  for (int i = 0; i < 3; ++i) {
    const Status tried = try_catalog(*catalog);
    ASSERT_TRUE(tried.ok()) << tried.error().message;
  }
  EXPECT_TRUE(must(catalog->blobs().list()).empty());
  EXPECT_EQ(must(catalog->database().find_integer("SELECT count(*) FROM pin")), 0);
}

TEST(TryCatalog, SaysWhatCannotBeWritten) {
  const TemporaryFolder folder;
  const auto catalog = must(Catalog::open(folder.path));
  std::filesystem::rename(folder.path / "sha256", folder.path / "away");
  const Status away = try_catalog(*catalog);
  ASSERT_FALSE(away.ok());
  EXPECT_TRUE(away.error().message.starts_with("write a blob")) << away.error().message;
  const auto reader = must(Catalog::open_reader(*catalog));
  EXPECT_FALSE(try_catalog(*reader).ok());
}

}  // namespace
}  // namespace enginery
