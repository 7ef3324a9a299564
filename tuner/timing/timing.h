// Timings: what was measured for one tactic on one problem on one device, and the store that keeps
// them.
//
// Where: written by the tuner as it goes, so that a killed tuning resumes; the worker implements
// the store over the farm's catalog, a local build over the local one.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "engine/device/device.h"

namespace enginery {

struct TimingStatistics {
  int samples = 0;
  double median_us = 0, mean_us = 0, deviation_us = 0, p95_us = 0, least_us = 0;
  double low_us = 0, high_us = 0;  // 95 % confidence interval of the median (order statistics)
};

TimingStatistics summarize(std::vector<double> samples_us);

// One tactic's result on one problem: its statistics or why it failed.
struct Timing {
  std::string tactic;   // tactic_key
  std::string failure;  // empty when it ran and its numbers were right
  TimingStatistics statistics;
  double error = 0;        // relative error against the reference
  double guard_ratio = 1;  // guard kernel during the samples over its best
  DeviceState state;
  std::string worker;       // who measured
  double unix_seconds = 0;  // when
};

// The tactic's timing among those of one problem; null where there is none.
const Timing* find_timing(const std::vector<Timing>& timings, const std::string& tactic);

std::string to_json(const Timing& timing);
Result<Timing> parse_timing(std::string_view json);

// Key of a device with its software: "field=value" lines of its hardware and software facts.
// Another key is a miss.
std::string device_key(const DeviceInfo& info);

// The timings of one device key, by problem. Thread-safe.
class TimingStore {
 public:
  virtual ~TimingStore() = default;
  virtual Result<std::vector<Timing>> find(const std::string& device,
                                           const std::string& problem) = 0;
  virtual Status put(const std::string& device, const std::string& problem,
                     const Timing& timing) = 0;
  // Asked by the tuner before it measures what `find` did not have. Errors: not_found, from a store
  // over which nothing may be measured (read_only_store.h).
  virtual Status admit_miss(const std::string& device, const std::string& problem,
                            const std::string& tactic) {
    (void)device, (void)problem, (void)tactic;
    return {};
  }
};

// A store that lives as long as the process: `--timing-cache none`, tests.
class MemoryTimingStore final : public TimingStore {
 public:
  Result<std::vector<Timing>> find(const std::string& device, const std::string& problem) override;
  Status put(const std::string& device, const std::string& problem, const Timing& timing) override;

 private:
  std::mutex mutex_;
  std::map<std::pair<std::string, std::string>, std::map<std::string, Timing>> entries_;
};

}  // namespace enginery
