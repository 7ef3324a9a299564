#include "worker/timing/pipe_timing_store.h"

#include "worker/runner/runner_messages.h"

namespace enginery {

Result<std::vector<Timing>> PipeTimingStore::find(const std::string& device,
                                                  const std::string& problem) {
  const std::lock_guard lock(mutex_);
  CHECK_OK(out_.write(to_line(WantTimings{device, problem})));
  TRY(const std::string line, read_line(in_fd_, lines_));
  TRY(const KnownTimings known, parse_known_timings(line));
  std::vector<Timing> out;
  for (const std::string& entry : known.entries) {
    if (auto timing = parse_timing(entry); timing.ok()) out.push_back(std::move(*timing));
  }
  return out;
}

Result<Taking> PipeTimingStore::take(const std::string& device, const std::string& problem,
                                     int left) {
  const std::lock_guard lock(mutex_);
  CHECK_OK(out_.write(to_line(WantProblem{device, problem, left})));
  TRY(const std::string line, read_line(in_fd_, lines_));
  return parse_taking(line);
}

Status PipeTimingStore::put(const std::string& device, const std::string& problem,
                            const Timing& timing) {
  return out_.write(to_line(RunnerTiming{device, problem, timing.tactic, to_json(timing),
                                         static_cast<int64_t>(timing.unix_seconds * 1e9)}));
}

}  // namespace enginery
