// What a CPU's sensors say, from a folder like Linux's /sys.
#include "engine/device/sensors.h"

#include <gtest/gtest.h>

#include "engine/base/file.h"
#include "engine/device/cpu/cpu_sensors.h"
#include "tests/support/temporary_folder.h"

namespace enginery {
namespace {

struct CpuSensorsTest : testing::Test {
  test::TemporaryFolder sys;
  void put(const std::string& file, const std::string& text) const {
    ASSERT_TRUE(make_folder((sys.path / file).parent_path()).ok());
    ASSERT_TRUE(write_file(sys.path / file, text).ok());
  }
};

TEST_F(CpuSensorsTest, SayTheMeanClockAndTheHottestOfTheCpus) {
  put("devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "2000000\n");
  put("devices/system/cpu/cpu1/cpufreq/scaling_cur_freq", "3000000\n");
  put("devices/system/cpu/cpufreq/boost", "1\n");
  put("class/hwmon/hwmon0/name", "nvme\n");
  put("class/hwmon/hwmon0/temp1_input", "90000\n");
  put("class/hwmon/hwmon1/name", "coretemp\n");
  put("class/hwmon/hwmon1/temp1_input", "48000\n");
  put("class/hwmon/hwmon1/temp2_input", "51000\n");
  put("class/hwmon/hwmon1/temp2_crit", "100000\n");
  const DeviceState state = open_cpu_sensors(sys.path)->read();
  EXPECT_EQ(state.clock_mhz, 2500);
  EXPECT_EQ(state.temperature_c, 51);
  EXPECT_EQ(state.power_w, 0) << "nobody but root may read it";
  EXPECT_EQ(state.throttle_bits, 0u);
}

TEST_F(CpuSensorsTest, OfAMachineWithoutAnySayNothing) {
  const DeviceState state = open_cpu_sensors(sys.path / "nothing")->read();
  EXPECT_EQ(state.clock_mhz, 0);
  EXPECT_EQ(state.temperature_c, 0);
}

TEST(Sensors, OfACardThatIsNotHereSayNothing) {
  EXPECT_EQ(open_sensors("gpu-ffff:ff:1f.7")->read().clock_mhz, 0);
}

}  // namespace
}  // namespace enginery
