// What data sheets say of GPUs: for the roofline of cards that are here, and for cards that engines
// are built for elsewhere.
//
// Where: fingerprint.h makes a DeviceInfo of them; kernel families ask for the limits of an SM.
// Threads: constant tables and pure functions.
#pragma once

#include <string>

#include "engine/device/device.h"
#include "engine/device/sku_table.h"

namespace enginery {

// Limits of a compute capability. Source: CUDA C programming guide, tables of arithmetic throughput
// and technical limits.
struct SmLimits {
  int compute_capability = 0;
  int float32_flops_per_clock = 0, tf32_flops_per_clock = 0,
      float16_flops_per_clock = 0;  // one SM; 0: no such units
  int shared_kib_per_block = 48, shared_kib_per_sm = 64;
  int threads_per_sm = 2048;
};
// The row of the compute capability, or of the newest one before it in its generation (its first
// digits). Of an unknown generation: what every one since 8.0 has, so that no kernel is built that
// such a card could not launch.
SmLimits sm_limits(int compute_capability);

// A card's own figures, where enginery has to know them without the card.
struct GpuSpecs {
  std::string sku;
  int boost_mhz = 0, l2_kib = 0, gigabytes_per_second = 0;
};
// The specs of a SKU; a structural SKU gets the figures of the nearest known card of its compute
// capability.
GpuSpecs gpu_specs(const SkuRow& row);

// Fills the roofline of `info`, in operations a second and 0 where the SM has no such units, from
// its compute capability, units and the clock.
void set_peaks(DeviceInfo& info, double clock_mhz);

}  // namespace enginery
