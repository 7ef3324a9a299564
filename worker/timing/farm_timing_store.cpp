#include "worker/timing/farm_timing_store.h"

#include "pipeline/keys.h"

namespace enginery {

FarmTimingStore::Problems& FarmTimingStore::device_locked(const std::string& device) {
  if (const auto known = devices_.find(device); known != devices_.end()) return known->second;
  Problems problems;
  for (const TimingEntry& entry : fetch_(timing_device_key(device).digest())) {
    if (auto timing = parse_timing(entry.entry); timing.ok()) {
      const std::string tactic = timing->tactic;
      problems[entry.problem][tactic] = std::move(*timing);
    }
  }
  return devices_.emplace(device, std::move(problems)).first->second;
}

Result<std::vector<Timing>> FarmTimingStore::find(const std::string& device,
                                                  const std::string& problem) {
  const std::lock_guard lock(mutex_);
  const Problems& problems = device_locked(device);
  std::vector<Timing> out;
  if (const auto found = problems.find(timing_problem_key(problem).digest());
      found != problems.end()) {
    for (const auto& [tactic, timing] : found->second) out.push_back(timing);
  }
  return out;
}

Status FarmTimingStore::put(const std::string& device, const std::string& problem,
                            const Timing& timing) {
  const std::lock_guard lock(mutex_);
  device_locked(device)[timing_problem_key(problem).digest()][timing.tactic] = timing;
  send_({device, problem, timing.tactic, to_json(timing),
         static_cast<int64_t>(timing.unix_seconds * 1e9)});
  return {};
}

}  // namespace enginery
