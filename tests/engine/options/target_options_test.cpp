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

TEST(ReaderName, NamesTheSourcesThatReadAModel) {
  const std::string begin = builder_name() + " graph=", name = reader_name();
  ASSERT_TRUE(name.starts_with(begin)) << name;
  EXPECT_EQ(name.size(), begin.size() + 16) << name;
  EXPECT_EQ(name.find_first_not_of("0123456789abcdef", begin.size()), std::string::npos) << name;
}

}  // namespace
}  // namespace enginery
