#include "worker/timing/farm_timing_store.h"

#include "pipeline/keys.h"

namespace enginery {

FarmTimingStore::Tactics& FarmTimingStore::problem_locked(const std::string& device,
                                                          const std::string& problem) {
  const auto [known, is_new] = known_.try_emplace({device, problem});
  if (!is_new && !is_shared_) return known->second;
  const Digest name = timing_problem_key(problem).digest();
  for (const TimingEntry& entry : fetch_(timing_device_key(device).digest(), name)) {
    auto timing = parse_timing(entry.entry);
    if (!timing.ok() || entry.problem != name) continue;
    const std::string tactic = timing->tactic;
    known->second.try_emplace(tactic, std::move(*timing));  // what was measured here may be newer
  }
  return known->second;
}

Result<std::vector<Timing>> FarmTimingStore::find(const std::string& device,
                                                  const std::string& problem) {
  const std::lock_guard lock(mutex_);
  std::vector<Timing> out;
  for (const auto& [tactic, timing] : problem_locked(device, problem)) out.push_back(timing);
  return out;
}

Status FarmTimingStore::put(const std::string& device, const std::string& problem,
                            const Timing& timing) {
  const std::lock_guard lock(mutex_);
  problem_locked(device, problem)[timing.tactic] = timing;
  send_({device, problem, timing.tactic, to_json(timing),
         static_cast<int64_t>(timing.unix_seconds * 1e9)});
  return {};
}

Result<Taking> FarmTimingStore::take(const std::string&, const std::string& problem, int left) {
  const std::lock_guard lock(mutex_);
  const Taking taking = take_(timing_problem_key(problem).digest(), left);
  is_shared_ = is_shared_ || taking.sharers > 1;
  return taking;
}

}  // namespace enginery
