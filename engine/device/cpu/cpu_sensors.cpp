#include "engine/device/cpu/cpu_sensors.h"

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "engine/base/file.h"

namespace enginery {
namespace {

namespace fs = std::filesystem;

// Names of drivers whose chips measure a CPU (Documentation/hwmon of Linux).
constexpr const char* kCpuChips[] = {"coretemp", "k10temp", "zenpower", "cpu_thermal"};

std::vector<fs::path> entries(const fs::path& folder, std::string_view prefix) {
  std::vector<fs::path> out;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored))
    if (entry.path().filename().string().starts_with(prefix)) out.push_back(entry.path());
  return out;
}

// 0 where it cannot be read.
double number_in(const fs::path& file) {
  const auto text = read_file(file, 64);
  return text.ok() ? std::atof(text->c_str()) : 0;
}

class CpuSensors final : public DeviceSensors {
 public:
  explicit CpuSensors(const fs::path& sys) {
    for (const fs::path& cpu : entries(sys / "devices/system/cpu", "cpu"))
      if (const fs::path clock = cpu / "cpufreq/scaling_cur_freq"; number_in(clock) > 0)
        clocks_.push_back(clock);
    for (const fs::path& chip : entries(sys / "class/hwmon", "hwmon")) {
      const auto name = read_file(chip / "name", 64);
      const bool is_cpu = name.ok() && std::any_of(std::begin(kCpuChips), std::end(kCpuChips),
                                                   [&](const char* one) {
                                                     return *name == std::string(one) + "\n";
                                                   });
      if (!is_cpu) continue;
      for (const fs::path& sensor : entries(chip, "temp"))
        if (sensor.filename().string().ends_with("_input")) temperatures_.push_back(sensor);
    }
  }

  DeviceState read() override {
    DeviceState state;
    for (const fs::path& clock : clocks_) state.clock_mhz += number_in(clock) / 1e3;
    if (!clocks_.empty()) state.clock_mhz /= static_cast<double>(clocks_.size());
    for (const fs::path& sensor : temperatures_)
      state.temperature_c = std::max(state.temperature_c, number_in(sensor) / 1e3);
    return state;
  }

 private:
  std::vector<fs::path> clocks_, temperatures_;
};

}  // namespace

std::unique_ptr<DeviceSensors> open_cpu_sensors(fs::path sys) {
  return std::make_unique<CpuSensors>(sys);
}

}  // namespace enginery
