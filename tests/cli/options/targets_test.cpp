#include "cli/options/targets.h"

#include <gtest/gtest.h>

#include "engine/device/sku_table.h"

namespace enginery {
namespace {

TEST(Targets, UnknownNamesAreUsageAndThisIsTheFirstLocalOne) {
  const auto unknown = resolve_targets({"cpu-avx3"});
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(unknown.error().code, ErrorCode::usage);
  EXPECT_NE(unknown.error().message.find("did you mean"), std::string::npos);
  const auto resolved = resolve_targets({"p4", "this", "p4"});
  ASSERT_TRUE(resolved.ok());
  EXPECT_EQ(*resolved, (std::vector<std::string>{"p4", local_skus().front().name}));
  EXPECT_EQ(resolve_targets({}).error().code, ErrorCode::usage);
}

TEST(Targets, ThisAndItsNameAreOneTarget) {
  const std::string name = local_skus().front().name;
  const auto resolved = resolve_targets({"this", name, "this"});
  ASSERT_TRUE(resolved.ok());
  EXPECT_EQ(*resolved, std::vector<std::string>{name});
}

TEST(CheckSku, KnowsTheTableAndRefusesTheRest) {
  for (const SkuRow& row : sku_table()) EXPECT_TRUE(check_sku(row.name).ok()) << row.name;
  EXPECT_EQ(check_sku("this").error().code, ErrorCode::usage);
  EXPECT_EQ(check_sku("").error().code, ErrorCode::usage);
}

}  // namespace
}  // namespace enginery
