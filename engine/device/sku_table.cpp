#include "engine/device/sku_table.h"

#include <algorithm>
#include <cstdio>

namespace enginery {
namespace {

SkuRow cpu(const char* name, CpuIsa isa) {
  SkuRow row;
  row.name = name;
  row.isa = isa;
  return row;
}

struct Chip {
  int compute_capability, sm_count, memory_gib;
};

SkuRow gpu(const char* name, Chip chip, std::vector<int> pci_ids = {}) {
  SkuRow row;
  row.name = name;
  row.kind = DeviceKind::cuda;
  row.compute_capability = chip.compute_capability;
  row.sm_count = chip.sm_count;
  row.memory_gib = chip.memory_gib;
  row.pci_ids = std::move(pci_ids);
  return row;
}

size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0]++;
    for (size_t j = 1; j <= b.size(); ++j) {
      size_t substituted = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
    }
  }
  return row[b.size()];
}

std::vector<SkuRow> make_table() {
  return {
      cpu("cpu-sse41", CpuIsa::sse41),
      cpu("cpu-avx", CpuIsa::avx),
      cpu("cpu-avx2", CpuIsa::avx2),
      cpu("cpu-avx512", CpuIsa::avx512),
      cpu("cpu-avx512-vnni", CpuIsa::avx512_vnni),
      cpu("cpu-avx512-bf16", CpuIsa::avx512_bf16),
      cpu("cpu-amx", CpuIsa::amx),
      // name, {compute capability, SMs, memory in GiB}, PCI device ids
      gpu("h200", {90, 132, 141}, {0x2335}),
      gpu("h100-sxm", {90, 132, 80}, {0x2330}),
      gpu("h100-pcie", {90, 114, 80}, {0x2331}),
      gpu("a100-sxm-80g", {80, 108, 80}, {0x20b2}),
      gpu("a100-sxm-40g", {80, 108, 40}, {0x20b0}),
      gpu("a100-pcie-80g", {80, 108, 80}, {0x20b5}),
      gpu("a100-pcie-40g", {80, 108, 40}, {0x20f1}),
      gpu("a30", {80, 56, 24}, {0x20b7}),
      gpu("a10", {86, 72, 24}, {0x2236}),
      gpu("l40s", {89, 142, 48}, {0x26b9}),
      gpu("l4", {89, 58, 24}, {0x27b8}),
      gpu("t4", {75, 40, 16}, {0x1eb8}),
      gpu("v100-sxm2-16g", {70, 80, 16}, {0x1db1}),
      gpu("v100-sxm2-32g", {70, 80, 32}, {0x1db5}),
      gpu("v100-pcie-16g", {70, 80, 16}, {0x1db4}),
      gpu("p100-sxm2-16g", {60, 56, 16}, {0x15f9}),
      gpu("p40", {61, 30, 24}, {0x1b38}),
      gpu("p4", {61, 20, 8}, {0x1bb3}),
      gpu("orin-agx-64g", {87, 16, 64}),
      gpu("orin-agx-32g", {87, 14, 32}),
      gpu("orin-nx-16g", {87, 8, 16}),
      gpu("orin-nx-8g", {87, 8, 8}),
      gpu("orin-nano-8g", {87, 8, 8}),
      gpu("xavier-agx", {72, 8, 32}),
      gpu("xavier-nx", {72, 6, 8}),
  };
}

}  // namespace

const std::vector<SkuRow>& sku_table() {
  static const std::vector<SkuRow> table = make_table();
  return table;
}

const SkuRow* find_sku(const std::string& name) {
  for (const SkuRow& row : sku_table()) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

std::string structural_sku_name(int compute_capability, int sm_count, int memory_gib) {
  return "cuda-sm" + std::to_string(compute_capability) + "-" + std::to_string(sm_count) + "sm-" +
         std::to_string(memory_gib) + "g";
}

std::optional<SkuRow> resolve_sku_name(const std::string& name) {
  if (const SkuRow* row = find_sku(name)) return *row;
  int compute_capability = 0, sm_count = 0, memory_gib = 0;
  if (std::sscanf(name.c_str(), "cuda-sm%3d-%4dsm-%5dg", &compute_capability, &sm_count,
                  &memory_gib) != 3)
    return {};
  bool sensible = compute_capability >= 50 && sm_count > 0 && memory_gib > 0;
  if (!sensible || name != structural_sku_name(compute_capability, sm_count, memory_gib)) return {};
  return gpu(name.c_str(), {compute_capability, sm_count, memory_gib});
}

std::vector<std::string> similar_skus(const std::string& name) {
  constexpr size_t kMost = 3;
  std::vector<std::pair<size_t, std::string>> ranked;
  for (const SkuRow& row : sku_table()) {
    size_t distance = edit_distance(name, row.name);
    bool extends = !name.empty() && row.name.starts_with(name);
    if (extends || distance <= std::max<size_t>(2, row.name.size() / 3)) {
      ranked.emplace_back(extends ? 0 : distance, row.name);
    }
  }
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](auto& a, auto& b) { return a.first < b.first; });
  std::vector<std::string> names;
  for (size_t i = 0; i < std::min(kMost, ranked.size()); ++i) names.push_back(ranked[i].second);
  return names;
}

}  // namespace enginery
