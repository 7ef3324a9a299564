#include "engine/options/memory_pools.h"

#include <gtest/gtest.h>

namespace enginery {
namespace {

TEST(MemoryPools, CountMiBOrTheUnitThatIsSaid) {
  const struct {
    const char* text;
    int64_t bytes;
  } rows[] = {
      {"workspace:3", 3 << 20},    {"3", 3 << 20},         {"workspace:3M", 3 << 20},
      {"workspace:7B", 7},         {"workspace:2k", 2048}, {"workspace:1.5K", 1536},
      {"workspace:0.5G", 1 << 29}, {"workspace:0", 0},     {"workspace:1,workspace:2", 2 << 20}};
  for (const auto& row : rows) {
    const auto pools = parse_memory_pools(row.text);
    ASSERT_TRUE(pools.ok()) << pools.error().message;
    EXPECT_EQ(pools->workspace, row.bytes) << row.text;
    EXPECT_EQ(parse_memory_pools(to_text(*pools)).value(), *pools);
  }
}

TEST(MemoryPools, SetNoLimitWhereNothingIsSaid) {
  EXPECT_EQ(parse_memory_pools("")->workspace, std::nullopt);
  EXPECT_EQ(to_text(MemoryPools()), "");
}

TEST(MemoryPools, RefuseOtherPoolsAndWhatIsNoSize) {
  for (const char* text :
       {"dlaSRAM:1", "tacticSharedMem:48", ":1", "workspace:", "workspace:x", "workspace:-1",
        "workspace:+1", "workspace:1MB", "workspace:1T", "workspace:1e3", "workspace:nan",
        "workspace:2097152G", "workspace: 1"}) {
    const auto pools = parse_memory_pools(text);
    ASSERT_FALSE(pools.ok()) << text;
    EXPECT_EQ(pools.error().code, ErrorCode::usage) << text;
  }
}

}  // namespace
}  // namespace enginery
