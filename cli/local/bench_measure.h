// The measuring of `bench`: runs of an engine on random data, their times and what they say.
#pragma once

#include <optional>
#include <vector>

#include "enginery/engine.h"

namespace enginery {

struct BenchOptions {
  int64_t least_iterations = 10;
  double least_seconds = 3;
  double warm_up_ms = 200;
  int streams = 1;  // contexts, each on a thread of its own
  uint64_t seed = 1;
  bool transfers = true;  // copies to and from the device count
};

struct BenchSamples {
  std::vector<double>
      milliseconds;  // of every run, all streams, in the order of their end within a stream
  double elapsed_seconds = 0;  // of the measured part, wall time
};

struct LatencySummary {
  double min_ms = 0, mean_ms = 0, p25_ms = 0, median_ms = 0, p75_ms = 0, p90_ms = 0, p95_ms = 0,
         p99_ms = 0, max_ms = 0;
};

// Linear interpolation between order statistics (NumPy's default). Requires at least one sample.
LatencySummary summarize_latency(std::vector<double> milliseconds);

// Runs until both least_iterations and least_seconds are reached, in every stream. Inputs are
// random, never zeros.
Result<BenchSamples> measure(const Engine& engine, const BenchOptions& options);

// One run of each engine after the other, in one process, until both are reached: whatever the
// device does, it does to all. Milliseconds by engine, then by run. `streams` is not used.
Result<std::vector<std::vector<double>>> measure_in_turns(const std::vector<const Engine*>& engines,
                                                          const BenchOptions& options);

// Each layer's median device time in microseconds, on random data.
Result<std::vector<double>> measure_layers(const Engine& engine, uint64_t seed, int rounds);

}  // namespace enginery
