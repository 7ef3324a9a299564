#include "cli/bench_measure.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <random>
#include <thread>

#include "cli/engine_session.h"

namespace enginery {
namespace {

using SteadyClock = std::chrono::steady_clock;

double seconds_since(SteadyClock::time_point start) { return std::chrono::duration<double>(SteadyClock::now() - start).count(); }

// Floats in [-1, 1); integers 0 or 1, which every index and mask takes.
Tensor random_tensor(const TensorType& type, std::mt19937_64& random) {
  Tensor values(DataType::float32, type.dims);
  std::uniform_real_distribution<float> real(-1, 1);
  std::bernoulli_distribution coin;
  for (float& value : values.mutable_data<float>()) value = is_floating(type.type) ? real(random) : static_cast<float>(coin(random));
  return convert(values, type.type);
}

void fill(Buffers& buffers, const EngineInfo& info, uint64_t seed) {
  std::mt19937_64 random(seed);
  for (size_t i = 0; i < info.inputs.size(); ++i) buffers.set_input(i, random_tensor(info.inputs[i].type, random));
}

// One stream's work. Without transfers the inputs of one run stay on the device and only the launch is timed.
Result<std::vector<double>> run_stream(const Engine& engine, const BenchOptions& options, uint64_t seed) {
  TRY(ExecutionContext context, engine.create_context());
  Buffers buffers(engine.info());
  fill(buffers, engine.info(), seed);
  const auto outputs = buffers.fresh_outputs();
  auto once = [&]() -> Result<double> {
    if (!options.transfers) {
      TRY(const double us, context.time_us());
      return us / 1000;
    }
    const auto start = SteadyClock::now();
    CHECK_OK(context.run(buffers.inputs(), outputs));
    return seconds_since(start) * 1000;
  };
  CHECK_OK(context.run(buffers.inputs(), outputs));
  const auto warm_up = SteadyClock::now();
  while (seconds_since(warm_up) * 1000 < options.warm_up_ms) {
    TRY(const double ignored, once());
    (void)ignored;
  }
  std::vector<double> samples;
  const auto start = SteadyClock::now();
  while (static_cast<int64_t>(samples.size()) < options.least_iterations || seconds_since(start) < options.least_seconds) {
    TRY(const double ms, once());
    samples.push_back(ms);
  }
  return samples;
}

double quantile(const std::vector<double>& sorted, double share) {
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<size_t>(place);
  const size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], place - static_cast<double>(below));
}

}  // namespace

LatencySummary summarize_latency(std::vector<double> ms) {
  ENSURE(!ms.empty(), "a summary of no samples");
  std::sort(ms.begin(), ms.end());
  const double mean = std::accumulate(ms.begin(), ms.end(), 0.0) / static_cast<double>(ms.size());
  return {ms.front(),         mean,
          quantile(ms, 0.25), quantile(ms, 0.5),
          quantile(ms, 0.75), quantile(ms, 0.9),
          quantile(ms, 0.95), quantile(ms, 0.99),
          ms.back()};
}

Result<BenchSamples> measure(const Engine& engine, const BenchOptions& options) {
  if (options.streams == 1) {
    TRY(auto alone, run_stream(engine, options, options.seed));
    const double seconds = std::accumulate(alone.begin(), alone.end(), 0.0) / 1000;
    return BenchSamples{std::move(alone), seconds};
  }
  std::vector<std::optional<Result<std::vector<double>>>> results(static_cast<size_t>(options.streams));
  std::vector<std::thread> threads;
  for (size_t i = 0; i < results.size(); ++i) {
    threads.emplace_back([&, i] { results[i].emplace(run_stream(engine, options, options.seed + i)); });
  }
  for (std::thread& thread : threads) thread.join();
  BenchSamples all;
  for (auto& result : results) {
    if (!result->ok()) return result->error();
    const auto& samples = result->value();
    // Streams overlap, so the time that counts is the longest one's.
    all.elapsed_seconds = std::max(all.elapsed_seconds, std::accumulate(samples.begin(), samples.end(), 0.0) / 1000);
    all.milliseconds.insert(all.milliseconds.end(), samples.begin(), samples.end());
  }
  return all;
}

Result<std::vector<double>> measure_layers(const Engine& engine, uint64_t seed, int rounds) {
  TRY(ExecutionContext context, engine.create_context());
  Buffers buffers(engine.info());
  fill(buffers, engine.info(), seed);
  CHECK_OK(context.run(buffers.inputs(), buffers.fresh_outputs()));
  return context.profile(rounds);
}

}  // namespace enginery
