#include "engine/device/sku_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "engine/device/cpu/cpu_properties.h"

namespace enginery {
namespace {

TEST(SkuTable, NamesAreUniqueAndFound) {
  std::set<std::string> names;
  for (const SkuRow& row : sku_table()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_EQ(find_sku(row.name), &row);
    if (row.kind == DeviceKind::cuda) {
      EXPECT_GE(row.compute_capability, 50) << row.name;
    }
  }
  for (const char* name : {"cpu-sse41", "cpu-avx", "cpu-avx2", "cpu-avx512", "cpu-avx512-vnni",
                           "cpu-amx", "h200", "h100-sxm", "a100-sxm-80g", "v100-sxm2-16g", "p4",
                           "t4", "l4", "orin-agx-64g", "orin-nx-16g", "xavier-agx"}) {
    EXPECT_NE(find_sku(name), nullptr) << name;
  }
  EXPECT_EQ(find_sku("cpu"), nullptr);
}

TEST(SkuTable, SimilarNamesComeNearestFirst) {
  EXPECT_EQ(similar_skus("cpu-avx511").at(0), "cpu-avx512");
  EXPECT_EQ(similar_skus("h20").at(0), "h200");
  EXPECT_TRUE(similar_skus("something-quite-different").empty());
  EXPECT_LE(similar_skus("cpu-avx").size(), 3u);
}

TEST(LocalSkus, ListsTheCpusFromTheHighestDown) {
  std::vector<CpuIsa> listed;
  for (const LocalSku& sku : local_skus()) {
    if (sku.kind == DeviceKind::cpu) listed.push_back(find_sku(sku.name)->isa);
  }
  EXPECT_TRUE(std::is_sorted(listed.rbegin(), listed.rend()));
  std::vector<CpuIsa> supported = supported_cpu_isas();
  std::reverse(supported.begin(), supported.end());
  EXPECT_EQ(listed, supported);
}

}  // namespace
}  // namespace enginery
