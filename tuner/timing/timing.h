// Timings: what was measured for one tactic on one problem on one device, and the store that keeps
// them.
//
// Where: written by the tuner as it goes, so that a killed tuning resumes. The worker implements
// the store over the farm's catalog, a local build over the local one; read_only_store.h is a
// decorator. Threads: timings are plain values, stores are thread-safe.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "engine/device/failure.h"
#include "engine/device/measurer.h"

namespace enginery {

// Of some samples, in microseconds.
struct TimingStatistics {
  int samples = 0;
  double median_us = 0, mean_us = 0, deviation_us = 0, p95_us = 0, least_us = 0;
  double low_us = 0, high_us = 0;  // 95 % confidence interval of the median (order statistics)
};

// All zeros for no samples.
TimingStatistics summarize(std::vector<double> samples_us);

// The probe's tactic, and its time on the scale of a race's samples; "guard" and "guard_us" in
// JSON. Empty and 0 in entries older than these fields.
struct ProbeTime {
  std::string tactic;
  double us = 0;
};

// One tactic's result on one problem: its statistics or why it failed. Its JSON has a field for
// each member; fields are never renamed, new ones are added and older entries lack them.
struct Timing {
  std::string tactic;   // tactic_key
  std::string failure;  // what happened, in words; empty when it ran and its numbers were right
  TimingStatistics statistics;
  double error = 0;  // relative error against the reference
  double probe_ratio =
      1;  // the probe's time during the samples over its best; "guard_ratio" in JSON
  DeviceState state;
  std::string worker;                               // who measured
  double unix_seconds = 0;                          // when
  FailureKind failure_kind = FailureKind::unknown;  // meaningful with a failure only
  uint64_t seed = 0;  // of the numbers that it was checked on; 0 in entries older than this field
  ProbeTime probe;    // what relates the samples to those of another race
  // The median with weights and code out of the caches, as behind other layers; 0: not measured.
  double cold_us = 0;
  int disturbed_samples = 0;  // taken while the device was throttled, for want of better ones
  int attempts = 0;           // how often it failed so far; meaningful with a failure only
};

// The tactic's timing among those of one problem; null where there is none.
const Timing* find_timing(const std::vector<Timing>& timings, const std::string& tactic);

// How often the tactic has failed so far, by its timing among those of one problem.
int failures_of(const std::vector<Timing>& timings, const std::string& tactic);

std::string to_json(const Timing& timing);
// Numbers and words that are missing count as 0 and empty. Errors: corrupt_data (no tactic in it).
Result<Timing> parse_timing(std::string_view json);

// The key of a device with its software: its SKU and a "field=value" line for each hardware and
// software property. A change of any of them is a miss. These bytes are kept in catalogs.
std::string device_key(const DeviceInfo& info);

// What became of the wish to measure a problem (TimingStore::take).
struct Taking {
  bool taken = true;  // false: another tuning measures it just now
  int sharers = 1;    // how many tunings share the work, this one included
};

// The timings of device keys, by problem. Implementations are thread-safe; errors: storage and what
// an implementation's transport fails with.
class TimingStore {
 public:
  virtual ~TimingStore() = default;
  // All tactics' timings of one problem (a problem key, or a network's), in no particular order;
  // empty where there is none. An entry that cannot be read counts as absent.
  virtual Result<std::vector<Timing>> find(const std::string& device,
                                           const std::string& problem) = 0;
  // Keeps the timing in place of an earlier one of the same tactic.
  virtual Status put(const std::string& device, const std::string& problem,
                     const Timing& timing) = 0;
  // Asked by the tuner before it measures what `find` did not have. Errors: not_found, from a store
  // over which nothing may be measured (read_only_store.h).
  virtual Status admit_miss(const std::string& device, const std::string& problem,
                            const std::string& tactic) {
    (void)device, (void)problem, (void)tactic;
    return {};
  }
  // Asked by the tuner before it measures a problem of which it lacks timings: several tunings of
  // one network may share the work. Whoever takes a problem has it in hand, and gives back the one
  // that it had before, whose timings others find from then on. `left`: how many problems this
  // tuning lacks as yet, with this one.
  virtual Result<Taking> take(const std::string& device, const std::string& problem, int left) {
    (void)device, (void)problem, (void)left;
    return Taking{};
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
