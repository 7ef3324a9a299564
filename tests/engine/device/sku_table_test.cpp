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
  for (const char* name :
       {"cpu-sse41", "cpu-avx", "cpu-avx2", "cpu-avx512", "cpu-avx512-vnni", "cpu-avx512-bf16",
        "cpu-amx", "h200", "h100-sxm", "a100-sxm-80g", "v100-sxm2-16g", "p4", "t4", "l4",
        "orin-agx-64g", "orin-nx-16g", "xavier-agx"}) {
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

// Structural names are what GPUs get that the table does not have; engine files hold them.
TEST(SkuNames, ReadBackWhereTheyAreStructural) {
  const auto row = resolve_sku_name("cuda-sm86-84sm-24g");
  ASSERT_TRUE(row);
  EXPECT_EQ(row->compute_capability, 86);
  EXPECT_EQ(row->sm_count, 84);
  EXPECT_EQ(row->memory_gib, 24);
  EXPECT_EQ(row->name, structural_sku_name(86, 84, 24));
  EXPECT_EQ(resolve_sku_name("h200")->sm_count, 132) << "the table's names are names, too";
}

TEST(SkuNames, AreNoneWhereTheyCouldBeSpelledOtherwise) {
  for (const char* name :
       {"", "cuda", "cuda-sm86", "cuda-sm86-84sm-24", "cuda-sm86-84sm-24gb", "cuda-sm086-84sm-24g",
        "cuda-sm86-084sm-24g", "cuda-sm86-84sm-024g", " cuda-sm86-84sm-24g", "CUDA-sm86-84sm-24g",
        "cuda-sm86-0sm-24g", "cuda-sm86-84sm-0g", "cuda-sm30-84sm-24g", "cuda-sm86--4sm-24g",
        "h201"}) {
    EXPECT_FALSE(resolve_sku_name(name)) << name;
  }
}

TEST(SkuTable, ListsInstructionSetsInAscendingOrderAndGpusWithTheirNumbers) {
  CpuIsa before = CpuIsa::sse41;
  std::set<int> pci_ids;
  for (const SkuRow& row : sku_table()) {
    if (row.kind == DeviceKind::cpu) {
      EXPECT_GE(row.isa, before) << row.name;
      before = row.isa;
      EXPECT_EQ(row.name, "cpu-" + std::string(to_string(row.isa)));
      continue;
    }
    EXPECT_GT(row.sm_count, 0) << row.name;
    EXPECT_GT(row.memory_gib, 0) << row.name;
    for (int id : row.pci_ids)
      EXPECT_TRUE(pci_ids.insert(id).second) << row.name << " shares an id";
  }
}

TEST(SimilarSkus, ListTheNamesThatBeginSoFirst) {
  EXPECT_EQ(similar_skus("a100"),
            (std::vector<std::string>{"a100-sxm-80g", "a100-sxm-40g", "a100-pcie-80g"}));
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
