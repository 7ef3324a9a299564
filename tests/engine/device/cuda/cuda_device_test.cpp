// A GPU that is not here: engines can be compiled for it, and everything else says so.
#include "engine/device/cuda/cuda_device.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace enginery {
namespace {

std::unique_ptr<Device> compile_only(const std::string& sku) {
  DeviceOptions options;
  options.compile_only = true;
  return open_device(sku, options).value();
}

TEST(CompileOnlyDevice, IsOpenedForAnyGpuSku) {
  for (const SkuRow& row : sku_table()) {
    if (row.kind != DeviceKind::cuda) continue;
    const auto device = compile_only(row.name);
    EXPECT_EQ(device->info().sku, row.name);
    EXPECT_EQ(device->info().compute_capability, row.compute_capability);
    EXPECT_FALSE(static_cast<CudaDevice&>(*device).present());
    EXPECT_EQ(device->measurer(), nullptr) << "nothing can be timed";
  }
  EXPECT_EQ(compile_only("cuda-sm90-60sm-96g")->info().compute_units, 60);
}

TEST(CompileOnlyDevice, RunsNothing) {
  const auto device = compile_only("h200");
  const auto expect_absent = [](const auto& result) {
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().code, ErrorCode::incompatible);
    EXPECT_NE(result.error().message.find("use device h200: it is not here"), std::string::npos);
  };
  expect_absent(device->allocate(16));
  expect_absent(device->create_stream());
  expect_absent(static_cast<CudaDevice&>(*device).upload("bytes"));
  expect_absent(static_cast<CudaDevice&>(*device).make_current());
}

// Libraries that can serve no card that is not here are no facts of its timings.
TEST(CompileOnlyDevice, HasOnlyTheCompilersFacts) {
  const auto device = compile_only("a10");
  std::vector<std::string> names;
  for (const auto& [name, value] : device->info().software) {
    names.push_back(name);
    EXPECT_FALSE(value.empty()) << name;
  }
  EXPECT_EQ(names, (std::vector<std::string>{"driver", "cuda", "nvrtc", "kernels"}));
}

TEST(Gpu, IsUnavailableWithoutADriver) {
  if (Driver::open().ok()) GTEST_SKIP() << "this machine has a driver";
  const auto device = open_device("h200", {});
  ASSERT_FALSE(device.ok());
  EXPECT_EQ(device.error().code, ErrorCode::unavailable);
  EXPECT_NE(device.error().message.find("open device h200"), std::string::npos);
  const auto skus = local_skus();
  EXPECT_TRUE(
      std::ranges::none_of(skus, [](const LocalSku& sku) { return sku.kind == DeviceKind::cuda; }));
}

TEST(Lazy, OpensOnceAndRepeatsTheFailure) {
  int opened = 0;
  Lazy<int> good, bad;
  for (int i = 0; i < 3; ++i) {
    const auto value = good.get([&]() -> Result<int> { return ++opened; });
    ASSERT_TRUE(value.ok());
    EXPECT_EQ(**value, 1);
    const auto failed = bad.get([&]() -> Result<int> {
      return Error{ErrorCode::unavailable, "attempt " + std::to_string(++opened)};
    });
    ASSERT_FALSE(failed.ok());
    EXPECT_EQ(failed.error().message, "attempt 2");
  }
  EXPECT_EQ(opened, 2);
}

TEST(NvrtcTarget, IsTheSmWithItsOwnInstructionsFrom90) {
  EXPECT_EQ(nvrtc_target(61, CodeKind::cubin), "sm_61");
  EXPECT_EQ(nvrtc_target(61, CodeKind::ptx), "compute_61");
  EXPECT_EQ(nvrtc_target(90, CodeKind::cubin), "sm_90a");
  EXPECT_EQ(nvrtc_target(90, CodeKind::ptx), "compute_90a");
}

TEST(Nvrtc, GivesTheCompilersLogForTextThatDoesNotCompile) {
  const auto nvrtc = Nvrtc::open(80);
  if (!nvrtc.ok()) GTEST_SKIP() << nvrtc.error().message;
  const auto output =
      nvrtc->compile("__global__ void kernel() { undeclared(); }", 80, CodeKind::ptx, {});
  ASSERT_FALSE(output.ok());
  EXPECT_EQ(output.error().code, ErrorCode::internal);
  EXPECT_NE(output.error().message.find("undeclared"), std::string::npos) << output.error().message;
  const auto right =
      nvrtc->compile("extern \"C\" __global__ void kernel() {}", 80, CodeKind::ptx, {});
  ASSERT_TRUE(right.ok()) << right.error().message;
  EXPECT_NE(right->code.find(".target sm_80"), std::string::npos);
}

TEST(Nvrtc, SaysWhichVersionsNoLongerServeAnSm) {
  const auto nvrtc = Nvrtc::open(30);
  ASSERT_FALSE(nvrtc.ok());
  EXPECT_EQ(nvrtc.error().code, ErrorCode::unavailable);
  EXPECT_NE(nvrtc.error().message.find("find an NVRTC that compiles for sm_30"), std::string::npos);
}

}  // namespace
}  // namespace enginery
