#include "engine/device/cuda/gpu_specs.h"

#include <cstdlib>
#include <vector>

namespace enginery {
namespace {

// cc, fp32, tf32, fp16 (tensor cores with float32 sums) FLOP a clock and SM; KiB shared a block, a
// SM; threads a SM
const std::vector<SmLimits>& sm_table() {
  static const std::vector<SmLimits> table = {
      {60, 128, 0, 0, 48, 64, 2048},          {61, 256, 0, 0, 48, 96, 2048},
      {70, 128, 0, 1024, 96, 96, 2048},       {72, 128, 0, 1024, 96, 96, 2048},
      {75, 128, 0, 1024, 64, 64, 1024},       {80, 128, 1024, 2048, 163, 164, 2048},
      {86, 256, 256, 512, 99, 100, 1536},     {87, 256, 512, 1024, 163, 164, 1536},
      {89, 256, 256, 512, 99, 100, 1536},     {90, 256, 2048, 4096, 227, 228, 2048},
      {100, 256, 2048, 4096, 227, 228, 2048}, {103, 256, 2048, 4096, 227, 228, 2048},
      {110, 256, 1024, 2048, 227, 228, 1536}, {120, 256, 256, 512, 99, 100, 1536},
  };
  return table;
}

// sku, boost MHz, L2 KiB, GB/s
const std::vector<GpuSpecs>& specs_table() {
  static const std::vector<GpuSpecs> table = {
      {"h200", 1980, 61440, 4800},
      {"h100-sxm", 1980, 51200, 3350},
      {"h100-pcie", 1755, 51200, 2000},
      {"a100-sxm-80g", 1410, 40960, 2039},
      {"a100-sxm-40g", 1410, 40960, 1555},
      {"a100-pcie-80g", 1410, 40960, 1935},
      {"a100-pcie-40g", 1410, 40960, 1555},
      {"a30", 1440, 24576, 933},
      {"a10", 1695, 6144, 600},
      {"l40s", 2520, 98304, 864},
      {"l4", 2040, 49152, 300},
      {"t4", 1590, 4096, 320},
      {"v100-sxm2-16g", 1530, 6144, 900},
      {"v100-sxm2-32g", 1530, 6144, 900},
      {"v100-pcie-16g", 1380, 6144, 900},
      {"p100-sxm2-16g", 1480, 4096, 732},
      {"p40", 1531, 3072, 347},
      {"p4", 1114, 2048, 192},
      {"orin-agx-64g", 1300, 4096, 205},
      {"orin-agx-32g", 930, 4096, 205},
      {"orin-nx-16g", 918, 2048, 102},
      {"orin-nx-8g", 765, 2048, 102},
      {"orin-nano-8g", 625, 2048, 68},
      {"xavier-agx", 1377, 512, 137},
      {"xavier-nx", 1100, 512, 60},
  };
  return table;
}

}  // namespace

SmLimits sm_limits(int compute_capability) {
  // Of a generation that is not in the table no more is taken for granted than every one since 8.0
  // has.
  SmLimits best = compute_capability < 80
                      ? SmLimits{compute_capability, 128}
                      : SmLimits{compute_capability, 128, 256, 512, 99, 100, 1536};
  for (const SmLimits& row : sm_table()) {
    const bool same_generation = row.compute_capability / 10 == compute_capability / 10;
    if (same_generation && row.compute_capability <= compute_capability) best = row;
  }
  return best;
}

GpuSpecs gpu_specs(const SkuRow& row) {
  const GpuSpecs* nearest = nullptr;
  int distance = 0;
  for (const GpuSpecs& specs : specs_table()) {
    if (specs.sku == row.name) return specs;
    const SkuRow* known = find_sku(specs.sku);
    if (!known) continue;
    int d = 1000 * std::abs(known->compute_capability - row.compute_capability) +
            std::abs(known->sm_count - row.sm_count);
    if (!nearest || d < distance) nearest = &specs, distance = d;
  }
  GpuSpecs specs = *nearest;
  specs.sku = row.name;
  return specs;
}

void set_peaks(DeviceInfo& info, double clock_mhz) {
  SmLimits limits = sm_limits(info.compute_capability);
  double clocks = clock_mhz * 1e6 * info.compute_units;
  info.float32_flops = clocks * limits.float32_flops_per_clock;
  info.tf32_flops = clocks * limits.tf32_flops_per_clock;
  info.float16_flops = clocks * limits.float16_flops_per_clock;
}

}  // namespace enginery
