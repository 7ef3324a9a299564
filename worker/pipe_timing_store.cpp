#include "worker/pipe_timing_store.h"

#include "worker/timing_keys.h"

namespace enginery {

Result<PipeTimingStore::Problems*> PipeTimingStore::device_locked(const std::string& device) {
  if (const auto known = devices_.find(device); known != devices_.end()) return &known->second;
  TRY(auto fetched, fetch_(device));
  Problems problems;
  for (const KnownTiming& known : fetched) {
    if (auto timing = parse_timing(known.entry); timing.ok()) {
      const std::string tactic = timing->tactic;
      problems[known.problem][tactic] = std::move(*timing);
    }
  }
  return &devices_.emplace(device, std::move(problems)).first->second;
}

Result<std::vector<Timing>> PipeTimingStore::find(const std::string& device, const std::string& problem) {
  const std::lock_guard lock(mutex_);
  TRY(const Problems* problems, device_locked(device));
  std::vector<Timing> out;
  if (const auto found = problems->find(timing_problem_key(problem).digest()); found != problems->end()) {
    for (const auto& [tactic, timing] : found->second) out.push_back(timing);
  }
  return out;
}

Status PipeTimingStore::put(const std::string& device, const std::string& problem, const Timing& timing) {
  const std::lock_guard lock(mutex_);
  TRY(Problems* problems, device_locked(device));
  (*problems)[timing_problem_key(problem).digest()][timing.tactic] = timing;
  return say_({device, problem, timing.tactic, to_json(timing), static_cast<int64_t>(timing.unix_seconds * 1e9)});
}

}  // namespace enginery
