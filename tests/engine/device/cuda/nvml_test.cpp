// What is read of a card beside the driver's own calls. The driver's version where NVML is missing
// is in each timing's key, so it must be found and must be the version alone.
#include <gtest/gtest.h>

#include "engine/device/cuda/nvml.h"

namespace enginery {
namespace {

TEST(KernelModuleVersion, IsTheVersionAlone) {
  EXPECT_EQ(kernel_module_version("NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.95.05  Tue "
                                  "Sep 23 10:11:16 UTC 2025\n"
                                  "GCC version:  gcc version 12.2.0 (Debian 12.2.0-14)\n"),
            "580.95.05");
  EXPECT_EQ(kernel_module_version(
                "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  550.54  Release Build\n"),
            "550.54");
}

TEST(KernelModuleVersion, IsEmptyWhereTheFirstLineHasNone) {
  EXPECT_EQ(kernel_module_version(""), "");
  EXPECT_EQ(kernel_module_version("NVRM version: unknown x86_64 build 12\n580.95.05\n"), "");
}

TEST(ForeignShare, IsThatOfTheOtherProcesses) {
  const auto used = [](unsigned pid, unsigned percent) {
    NvmlProcessUtilization out;
    out.pid = pid;
    out.sm = percent;
    return out;
  };
  EXPECT_DOUBLE_EQ(foreign_share({used(7, 60), used(8, 10), used(8, 25), used(9, 5)}, 7), 0.3);
  EXPECT_DOUBLE_EQ(foreign_share({used(7, 100)}, 7), 0);
  EXPECT_DOUBLE_EQ(foreign_share({used(7, 1), used(8, 90), used(9, 90)}, 7), 1);
  EXPECT_DOUBLE_EQ(foreign_share({used(8, 90)}, 7), 0) << "8 may be this process's other number";
  EXPECT_DOUBLE_EQ(foreign_share({}, 7), 0);
}

}  // namespace
}  // namespace enginery
