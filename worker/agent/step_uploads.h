// StepUploads: hands a running step's log and timings to the coordinator within a second, on a
// thread of its own, so that a slow or absent coordinator never holds up the runner. Thread-safe.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string_view>
#include <thread>

#include "worker/agent/farm_connection.h"
#include "worker/runner/runner_messages.h"

namespace enginery {

class StepUploads {
 public:
  // `cancelled` is asked by the thread: then what is left is dropped.
  StepUploads(const FarmAddress& address, StepRef ref, std::function<bool()> cancelled);
  ~StepUploads();  // drops what is left
  StepUploads(const StepUploads&) = delete;

  // Appends a line to the step's log. Lines beyond 1 MiB that wait for an absent coordinator are
  // dropped and counted.
  void log(const std::string& line);
  // Hands a timing on within a second, so that neither a killed runner nor a killed agent loses it.
  void timing(const RunnerTiming& timing);
  // Waits until all that was said before has arrived, `timeout` at most.
  void flush(std::chrono::milliseconds timeout);

 private:
  void run();
  void send_timings(const std::vector<RunnerTiming>& timings);
  void send_log(std::string_view text);

  const StepRef ref_;
  const std::function<bool()> cancelled_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string log_;
  std::vector<RunnerTiming> timings_;
  bool sending_ = false, hurry_ = false, stop_ = false;
  uint64_t log_offset_ = 0, log_dropped_ = 0;
  FarmConnection farm_;
  std::thread thread_;
};

}  // namespace enginery
