// What our CPU kernels offer is pinned: tactic ids and formats are in engine files and timing
// stores, and the order and the estimates decide builds that measure nothing.
#include <gtest/gtest.h>

#include <algorithm>

#include "engine/tactics/cpu/kernel/cpu_kernel_source.h"
#include "tests/support/offer_text.h"

namespace enginery {
namespace {

// Offers need no such CPU: only their kernels do.
class CpuKernelOffers : public testing::TestWithParam<const char*> {};

TEST_P(CpuKernelOffers, AreThoseOfTheGoldenFile) {
  DeviceInfo info;
  info.sku = GetParam();
  info.threads = 4;
  auto source = make_cpu_kernel_source(info);
  ASSERT_TRUE(source.ok()) << source.error().message;
  expect_golden(offer_text(**source, {Precision::fp32, Precision::bf16}),
                "tests/engine/tactics/golden/kernel-" + info.sku + ".txt");
}

INSTANTIATE_TEST_SUITE_P(Skus, CpuKernelOffers,
                         testing::Values("cpu-sse41", "cpu-avx2", "cpu-avx512", "cpu-avx512-bf16",
                                         "cpu-amx"),
                         [](const auto& sku) {
                           std::string name = sku.param;
                           name.erase(0, name.find('-') + 1);
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace enginery
