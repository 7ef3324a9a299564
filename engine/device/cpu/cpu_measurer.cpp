#include "engine/device/cpu/cpu_measurer.h"

#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <sstream>

#include "engine/base/file.h"
#include "engine/device/cpu/cpu_stream.h"

namespace enginery {
namespace {

// /proc/stat counts in ticks of 10 ms: over a shorter interval its difference says nothing.
constexpr double kShortestInterval_s = 0.1;
constexpr double kMinUnitUs = 50;
constexpr int64_t kMinFlushBytes = int64_t{32} << 20, kMaxFlushBytes = int64_t{512} << 20;

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
  CpuMeasurer(std::vector<int> cores, int64_t cache_bytes) : cores_(std::move(cores)) {
    // Twice the last level: a cache that is not strictly least-recently-used forgets only then.
    flush_bytes_ = std::clamp(2 * cache_bytes, kMinFlushBytes, kMaxFlushBytes);
    remember();
  }

  Result<double> time_us(Stream& stream, CommandList& sequence) override {
    ComputeScope scope(stream);
    auto start = std::chrono::steady_clock::now();
    CHECK_OK(sequence.launch(stream));
    std::chrono::duration<double, std::micro> elapsed = std::chrono::steady_clock::now() - start;
    return elapsed.count();
  }

  double least_unit_us() const override { return kMinUnitUs; }

  DeviceState state() override {
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

  Status flush_caches(Stream& stream) override {
    ComputeScope scope(stream);
    buffer_.resize(static_cast<size_t>(flush_bytes_) / sizeof(uint64_t));
    constexpr int64_t kLineWords = 64 / sizeof(uint64_t);
    auto* words = buffer_.data();
    int64_t n = static_cast<int64_t>(buffer_.size());
    uint64_t value = ++flushes_;
    // Written, not read: lines in the modified state displace everything in every level of each
    // core that takes part.
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i += kLineWords) words[i] = value;
    return {};
  }

 private:
  void remember() {
    at_s_ = now_seconds();
    busy_s_ = busy_seconds(cores_);
    own_s_ = own_cpu_seconds();
  }

  const std::vector<int> cores_;
  int64_t flush_bytes_ = 0;
  uint64_t flushes_ = 0;
  std::vector<uint64_t> buffer_;
  double at_s_ = 0, busy_s_ = 0, own_s_ = 0, foreign_load_ = 0;
};

}  // namespace

std::unique_ptr<Measurer> make_cpu_measurer(std::vector<int> cores, int64_t cache_bytes) {
  return std::make_unique<CpuMeasurer>(std::move(cores), cache_bytes);
}

}  // namespace enginery
