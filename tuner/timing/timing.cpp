#include "tuner/timing/timing.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace enginery {

TimingStatistics summarize(std::vector<double> samples) {
  TimingStatistics out;
  if (samples.empty()) return out;
  std::sort(samples.begin(), samples.end());
  const auto n = static_cast<double>(samples.size());
  double sum = 0, squares = 0;
  for (const double s : samples) {
    sum += s;
    squares += s * s;
  }
  auto at = [&](double rank) { return samples[static_cast<size_t>(std::clamp(rank, 0.0, n - 1))]; };
  out.samples = static_cast<int>(samples.size());
  out.mean_us = sum / n;
  out.deviation_us = std::sqrt(std::max(0.0, squares / n - out.mean_us * out.mean_us));
  out.median_us = at(std::floor((n - 1) / 2));
  out.p95_us = at(std::ceil(n * 0.95) - 1);
  out.least_us = samples.front();
  const double spread = 0.98 * std::sqrt(n);  // ranks n/2 -+ 1.96 sqrt(n)/2
  out.low_us = at(std::floor(n / 2 - spread));
  out.high_us = at(std::ceil(n / 2 + spread));
  return out;
}

const Timing* find_timing(const std::vector<Timing>& timings, const std::string& tactic) {
  auto found = std::find_if(timings.begin(), timings.end(),
                            [&](const Timing& t) { return t.tactic == tactic; });
  return found == timings.end() ? nullptr : &*found;
}

int failures_of(const std::vector<Timing>& timings, const std::string& tactic) {
  const Timing* found = find_timing(timings, tactic);
  // Entries older than the count failed once.
  return found && !found->failure.empty() ? std::max(found->attempts, 1) : 0;
}

std::string to_json(const Timing& t) {
  nlohmann::json json = {{"tactic", t.tactic},
                         {"samples", t.statistics.samples},
                         {"median_us", t.statistics.median_us},
                         {"mean_us", t.statistics.mean_us},
                         {"deviation_us", t.statistics.deviation_us},
                         {"p95_us", t.statistics.p95_us},
                         {"least_us", t.statistics.least_us},
                         {"low_us", t.statistics.low_us},
                         {"high_us", t.statistics.high_us},
                         {"error", t.error},
                         {"guard_ratio", t.probe_ratio},
                         {"worker", t.worker},
                         {"unix_seconds", t.unix_seconds},
                         {"clock_mhz", t.state.clock_mhz},
                         {"memory_clock_mhz", t.state.memory_clock_mhz},
                         {"temperature_c", t.state.temperature_c},
                         {"power_w", t.state.power_w},
                         {"throttle_bits", t.state.throttle_bits},
                         {"foreign_load", t.state.foreign_load},
                         {"seed", t.seed},
                         {"guard", t.probe.tactic},
                         {"guard_us", t.probe.us},
                         {"cold_us", t.cold_us},
                         {"disturbed_samples", t.disturbed_samples}};
  if (!t.failure.empty()) {
    json["failure"] = t.failure;
    json["failure_kind"] = to_string(t.failure_kind);
    json["attempts"] = t.attempts;
  }
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Result<Timing> parse_timing(std::string_view text) {
  auto json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object() || !json.contains("tactic") || !json["tactic"].is_string()) {
    return Error{ErrorCode::corrupt_data, "a timing entry is not a JSON object with a tactic"};
  }
  auto number = [&](const char* name) {
    auto found = json.find(name);
    return found != json.end() && found->is_number() ? found->get<double>() : 0.0;
  };
  auto word = [&](const char* name) {
    auto found = json.find(name);
    return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  Timing t;
  t.tactic = word("tactic");
  t.failure = word("failure");
  t.failure_kind = parse_failure_kind(word("failure_kind"));
  t.statistics = {static_cast<int>(number("samples")),
                  number("median_us"),
                  number("mean_us"),
                  number("deviation_us"),
                  number("p95_us"),
                  number("least_us"),
                  number("low_us"),
                  number("high_us")};
  t.error = number("error");
  t.probe_ratio = number("guard_ratio");
  t.state = {number("clock_mhz"),
             number("memory_clock_mhz"),
             number("temperature_c"),
             number("power_w"),
             static_cast<uint64_t>(number("throttle_bits")),
             number("foreign_load")};
  t.worker = word("worker");
  t.unix_seconds = number("unix_seconds");
  t.seed = static_cast<uint64_t>(std::max(0.0, number("seed")));
  t.probe = {word("guard"), number("guard_us")};
  t.cold_us = number("cold_us");
  t.disturbed_samples = static_cast<int>(number("disturbed_samples"));
  t.attempts = static_cast<int>(number("attempts"));
  return t;
}

std::string device_key(const DeviceInfo& info) {
  std::string key = "sku=" + info.sku + "\n";
  for (const Properties* properties : {&info.hardware, &info.software}) {
    for (const auto& [name, value] : *properties) key += name + "=" + value + "\n";
  }
  return key;
}

Result<std::vector<Timing>> MemoryTimingStore::find(const std::string& device,
                                                    const std::string& problem) {
  std::lock_guard lock(mutex_);
  std::vector<Timing> out;
  if (auto found = entries_.find({device, problem}); found != entries_.end()) {
    for (const auto& [tactic, timing] : found->second) out.push_back(timing);
  }
  return out;
}

Status MemoryTimingStore::put(const std::string& device, const std::string& problem,
                              const Timing& timing) {
  std::lock_guard lock(mutex_);
  entries_[{device, problem}][timing.tactic] = timing;
  return {};
}

}  // namespace enginery
