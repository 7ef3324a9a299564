#include "engine/device/cpu/cpu_measurer.h"

#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <sstream>

#include "engine/base/file.h"
#include "engine/device/cpu/cpu_stream.h"

namespace enginery {
namespace {

// /proc/stat counts in ticks of 10 ms: over a shorter interval its difference says nothing.
constexpr double kShortestInterval_s = 0.1;
constexpr double kMinResolvableUs = 50;

double seconds(const timeval& t) {
  return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
}

double own_cpu_seconds() {
  rusage self{}, children{};
  getrusage(RUSAGE_SELF, &self);
  getrusage(RUSAGE_CHILDREN, &children);
  return seconds(self.ru_utime) + seconds(self.ru_stime) + seconds(children.ru_utime) +
         seconds(children.ru_stime);
}

double now_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Busy time of `cores` since the machine started, stolen time included; negative when it cannot be
// read.
double busy_seconds(const std::vector<int>& cores) {
  auto stat = read_file("/proc/stat", 1 << 20);
  if (!stat.ok()) return -1;
  std::istringstream lines(*stat);
  std::string line;
  double ticks = 0;
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    std::string label;
    words >> label;
    if (!label.starts_with("cpu") || label.size() == 3) continue;
    if (std::find(cores.begin(), cores.end(), std::atoi(label.c_str() + 3)) == cores.end())
      continue;
    double user = 0, nice = 0, system = 0, idle = 0, wait = 0, irq = 0, soft = 0, steal = 0;
    words >> user >> nice >> system >> idle >> wait >> irq >> soft >> steal;
    ticks += user + nice + system + irq + soft + steal;
  }
  return ticks / static_cast<double>(sysconf(_SC_CLK_TCK));
}

double clock_mhz(int core) {
  std::string folder =
      "/sys/devices/system/cpu/cpu" + std::to_string(core) + "/cpufreq/scaling_cur_freq";
  auto text = read_file(folder, 64);
  return text.ok() ? std::atof(text->c_str()) / 1000 : 0;
}

class CpuMeasurer final : public Measurer {
 public:
  explicit CpuMeasurer(std::vector<int> cores) : cores_(std::move(cores)) { remember(); }

  Result<double> time_us(Stream& stream, CommandList& list) override {
    ComputeScope scope(stream);
    auto start = std::chrono::steady_clock::now();
    CHECK_OK(list.launch(stream));
    std::chrono::duration<double, std::micro> elapsed = std::chrono::steady_clock::now() - start;
    return elapsed.count();
  }

  double min_resolvable_us() const override { return kMinResolvableUs; }

  DeviceState state() override {
    const std::lock_guard lock(mutex_);
    double elapsed = now_seconds() - at_s_;
    if (elapsed >= kShortestInterval_s) {
      double before_busy = busy_s_, before_own = own_s_;
      remember();
      double foreign = (busy_s_ - before_busy) - (own_s_ - before_own);
      double available = elapsed * static_cast<double>(cores_.size());
      foreign_load_ = busy_s_ < 0 ? 0 : std::clamp(foreign / available, 0.0, 1.0);
    }
    DeviceState state;
    state.clock_mhz = clock_mhz(cores_[0]);
    state.foreign_load = foreign_load_;
    return state;
  }

 private:
  void remember() {
    at_s_ = now_seconds();
    busy_s_ = busy_seconds(cores_);
    own_s_ = own_cpu_seconds();
  }

  const std::vector<int> cores_;
  std::mutex mutex_;  // over what is remembered
  double at_s_ = 0, busy_s_ = 0, own_s_ = 0, foreign_load_ = 0;
};

}  // namespace

std::unique_ptr<Measurer> make_cpu_measurer(std::vector<int> cores) {
  return std::make_unique<CpuMeasurer>(std::move(cores));
}

}  // namespace enginery
