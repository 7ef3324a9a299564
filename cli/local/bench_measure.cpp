#include "cli/local/bench_measure.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <random>
#include <span>
#include <thread>

#include "cli/local/engine_session.h"

namespace enginery {
namespace {

using SteadyClock = std::chrono::steady_clock;

double seconds_since(SteadyClock::time_point start) {
  return std::chrono::duration<double>(SteadyClock::now() - start).count();
}

// Floats in [-1, 1); integers 0 or 1, which every index and mask takes.
Tensor random_tensor(const TensorType& type, std::mt19937_64& random) {
  Tensor values(DataType::float32, type.dims);
  std::uniform_real_distribution<float> real(-1, 1);
  std::bernoulli_distribution coin;
  for (float& value : values.mutable_data<float>())
    value = is_floating(type.type) ? real(random) : static_cast<float>(coin(random));
  return convert(values, type.type);
}

void fill(Buffers& buffers, const EngineInfo& info, uint64_t seed) {
  std::mt19937_64 random(seed);
  for (size_t i = 0; i < info.inputs.size(); ++i)
    buffers.set_input(i, random_tensor(info.inputs[i].type, random));
}

// One context of an engine and its random inputs. Without transfers the inputs of one run stay on
// the device and only the launch is timed.
class Runs {
 public:
  static Result<std::unique_ptr<Runs>> make(const Engine& engine, const BenchOptions& options) {
    TRY(ExecutionContext context, engine.create_context());
    auto runs = std::make_unique<Runs>(std::move(context), engine.info(), options.transfers);
    fill(runs->buffers_, engine.info(), options.seed);
    runs->outputs_ = runs->buffers_.fresh_outputs();
    CHECK_OK(runs->context_.run(runs->buffers_.inputs(), runs->outputs_));
    return runs;
  }
  Runs(ExecutionContext context, const EngineInfo& info, bool transfers)
      : context_(std::move(context)), buffers_(info), transfers_(transfers) {}

  Result<double> once_ms() {
    if (!transfers_) {
      TRY(const double us, context_.time_us());
      return us / 1000;
    }
    const auto start = SteadyClock::now();
    CHECK_OK(context_.run(buffers_.inputs(), outputs_));
    return seconds_since(start) * 1000;
  }

  Result<std::vector<double>> layers_us(int rounds) { return context_.profile(rounds); }

 private:
  ExecutionContext context_;
  Buffers buffers_;
  std::span<void* const> outputs_;
  bool transfers_;
};

Result<std::vector<double>> run_stream(const Engine& engine, BenchOptions options, uint64_t seed) {
  options.seed = seed;
  TRY(auto samples, measure_interleaved({&engine}, options));
  return std::move(samples[0]);
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
  std::vector<std::optional<Result<std::vector<double>>>> results(
      static_cast<size_t>(options.streams));
  std::vector<std::thread> threads;
  for (size_t i = 0; i < results.size(); ++i) {
    threads.emplace_back(
        [&, i] { results[i].emplace(run_stream(engine, options, options.seed + i)); });
  }
  for (std::thread& thread : threads) thread.join();
  BenchSamples all;
  for (auto& result : results) {
    if (!result->ok()) return result->error();
    const auto& samples = result->value();
    // Streams overlap, so the time that counts is the longest one's.
    all.elapsed_seconds =
        std::max(all.elapsed_seconds, std::accumulate(samples.begin(), samples.end(), 0.0) / 1000);
    all.milliseconds.insert(all.milliseconds.end(), samples.begin(), samples.end());
  }
  return all;
}

Result<std::vector<std::vector<double>>> measure_interleaved(
    const std::vector<const Engine*>& engines, const BenchOptions& options) {
  std::vector<std::unique_ptr<Runs>> runs;
  for (const Engine* engine : engines) {
    TRY(runs.emplace_back(), Runs::make(*engine, options));
  }
  const auto warm_up = SteadyClock::now();
  while (seconds_since(warm_up) * 1000 < options.warm_up_ms) {
    for (const auto& one : runs) {
      TRY([[maybe_unused]] const double ignored, one->once_ms());
    }
  }
  std::vector<std::vector<double>> samples(engines.size());
  const auto start = SteadyClock::now();
  for (int64_t round = 0;
       round < options.min_iterations || seconds_since(start) < options.min_seconds; ++round) {
    if (options.cancelled())
      return Error{ErrorCode::cancelled,
                   "measuring was stopped after " + std::to_string(round) + " runs"};
    for (size_t i = 0; i < runs.size(); ++i) {
      TRY(samples[i].emplace_back(), runs[i]->once_ms());
    }
  }
  return samples;
}

Result<std::vector<double>> measure_layers(const Engine& engine, uint64_t seed, int rounds) {
  BenchOptions options;
  options.seed = seed;
  TRY(auto runs, Runs::make(engine, options));
  return runs->layers_us(rounds);
}

}  // namespace enginery
