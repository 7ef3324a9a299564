// The measuring of `bench`: runs of an engine on random data, their times and what they say.
//
// Where: below the verb, above the public runtime. Threads: free functions; nothing else should run
// on the device meanwhile, because its times are what is measured.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "enginery/engine.h"

namespace enginery {

struct BenchOptions {
  int64_t min_iterations = 10;  // measuring goes on until this and min_seconds are both reached
  double min_seconds = 3;
  double warm_up_ms = 200;
  int streams = 1;    // execution contexts, each on a thread of its own
  uint64_t seed = 1;  // of the random inputs
  std::function<bool()> cancelled = [] { return false; };  // asked after each round
  bool transfers = true;  // whether copies to and from the device are part of the time
};

struct BenchSamples {
  // Of every run: stream after stream, in the order of the runs within a stream.
  std::vector<double> milliseconds;
  // The measured part's wall time: what throughput is computed with.
  double elapsed_seconds = 0;
};

struct LatencySummary {
  double min_ms = 0, mean_ms = 0, p25_ms = 0, median_ms = 0, p75_ms = 0, p90_ms = 0, p95_ms = 0,
         p99_ms = 0, max_ms = 0;
};

// Percentiles by linear interpolation between order statistics (NumPy's default, type 7 of Hyndman
// and Fan 1996). Requires at least one sample.
LatencySummary summarize_latency(std::vector<double> milliseconds);

// Runs until both min_iterations and min_seconds are reached, in every stream. Inputs are random,
// because zeros make some processors faster. Errors: as ExecutionContext::run; cancelled.
Result<BenchSamples> measure(const Engine& engine, const BenchOptions& options);

// The same for several engines of one process, one run of each in every round: a clock or a
// temperature that changes, changes for all of them. Milliseconds by engine, then by round; one
// stream, whatever `streams` says.
Result<std::vector<std::vector<double>>> measure_interleaved(
    const std::vector<const Engine*>& engines, const BenchOptions& options);

// Each layer's median device time in microseconds, on random data.
Result<std::vector<double>> measure_layers(const Engine& engine, uint64_t seed, int rounds);

}  // namespace enginery
