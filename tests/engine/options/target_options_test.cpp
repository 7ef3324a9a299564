#include "engine/options/target_options.h"

#include <gtest/gtest.h>

#include "engine/options/toolchain.h"

namespace enginery {
namespace {

TEST(TargetOptions, ThreadsAreANumberForACpuAndNoFactOfAGpu) {
  EXPECT_GT(options_for("cpu-avx2", {}).threads, 0);
  BuildOptions four;
  four.threads = 4;
  EXPECT_EQ(options_for("cpu-avx2", four).threads, 4);
  EXPECT_EQ(options_for("h200", four).threads, 0);
}

TEST(TargetOptions, KnowACpuByItsName) {
  EXPECT_TRUE(is_cpu_sku("cpu-avx2"));
  EXPECT_FALSE(is_cpu_sku("h200"));
  EXPECT_FALSE(is_cpu_sku("toaster"));
}

TEST(ToolchainText, AddsWhatTheDeviceHasAndNamesEachFactOnce) {
  DeviceInfo info;
  info.software = {{"driver", "550;54"}, {"kernels", "another"}};
  const std::string text = toolchain_text(DeviceKind::cuda, &info);
  EXPECT_TRUE(text.starts_with("enginery=")) << text;
  EXPECT_NE(text.find(";driver=550,54"), std::string::npos) << text;
  EXPECT_EQ(text.find("another"), std::string::npos) << text;
  EXPECT_EQ(toolchain_text(DeviceKind::cuda, nullptr) + ";driver=550,54", text);
}

}  // namespace
}  // namespace enginery
