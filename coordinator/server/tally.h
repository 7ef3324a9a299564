// What has happened in the farm since the coordinator started, counted.
//
// Where: QueueDriver turns row changes into ticks, ControlServer counts them once they are durable,
// farm_metrics.h shows the sums. Threads: Tally is thread-safe; ticks are values.
#pragma once

#include <chrono>
#include <map>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "coordinator/store/queue_rows.h"
#include "coordinator/web/openmetrics.h"
#include "engine/base/clock.h"

namespace enginery {

// One more of something; `labels` in the order of its family's.
struct Tick {
  enum class Kind {
    job_opened,
    job_ended,      // state
    event,          // kind
    attempt_ended,  // outcome
    target_ended,   // state, source
    timings,        // measured or reused: `count` of them
    step_queued,    // number of the step
    step_leased,    // number of the step
  };
  Kind kind = Kind::event;
  std::vector<std::string> labels = {};
  uint64_t count = 1;
  bool operator==(const Tick&) const = default;
};

// What a row change counts as; nothing, one or several ticks are appended.
void append_ticks(const RowChange& row, std::vector<Tick>& ticks);

// The sums at one moment. Keys are the ticks' labels.
struct TallySums {
  using Counts = std::map<std::vector<std::string>, uint64_t>;
  uint64_t jobs_submitted = 0, jobs_open = 0;
  Counts jobs_ended, events, attempts_ended, targets_ended, timings;
  MetricHistogram step_wait{{0.01, 0.1, 1, 10, 60, 600, 3600}};         // s from queued to leased
  MetricHistogram commit{{0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 1}};  // s of one transaction
};

class Tally {
 public:
  // The jobs that had not ended when the queue was loaded.
  void loaded(uint64_t open_jobs);
  // Ticks that are durable, in their order.
  void count(const std::vector<Tick>& ticks, Nanoseconds now);
  void committed(Nanoseconds took);
  TallySums sums() const;

 private:
  void count_one(const Tick& tick, Nanoseconds now);

  mutable std::mutex mutex_;
  TallySums sums_;
  std::unordered_map<std::string, Nanoseconds> queued_at_;  // steps that nobody took yet
};

}  // namespace enginery
