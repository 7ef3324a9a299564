// What the tests of our CPU kernels share: random values, and one run for every instruction set
// that this machine has.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>

#include "engine/device/sku_table.h"
#include "engine/kernels/cpu/dispatch.h"

namespace enginery {

constexpr float kInfinite = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

inline std::vector<float> values(int64_t count, unsigned seed = 1) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> out(static_cast<size_t>(count));
  for (float& v : out) v = uniform(random);
  return out;
}

inline float at(const std::vector<float>& v, int64_t i) {
  return v.at(static_cast<size_t>(i));
}
inline float& at(std::vector<float>& v, int64_t i) {
  return v.at(static_cast<size_t>(i));
}

// Every test of it runs once for each instruction set (cpu_kernels_test.cpp instantiates it).
class CpuKernelsTest : public testing::TestWithParam<CpuIsa> {
 protected:
  const CpuKernels& kernels() const { return cpu_kernels_for(GetParam()); }
};

// Instruction sets of this machine that have kernels of their own.
inline std::vector<CpuIsa> isas_here() {
  std::vector<CpuIsa> out;
  for (const CpuIsa isa : {CpuIsa::sse41, CpuIsa::avx, CpuIsa::avx2, CpuIsa::avx512}) {
    const auto skus = local_skus();
    const bool here = std::ranges::any_of(skus, [&](const LocalSku& sku) {
      const SkuRow* row = find_sku(sku.name);
      return row && row->kind == DeviceKind::cpu && row->isa == isa;
    });
    if (here) out.push_back(isa);
  }
  return out;
}

inline std::string isa_name(const testing::TestParamInfo<CpuIsa>& info) {
  constexpr const char* kNames[] = {"sse41", "avx", "avx2", "avx512"};
  return kNames[static_cast<size_t>(info.param)];
}

}  // namespace enginery
