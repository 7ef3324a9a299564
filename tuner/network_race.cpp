#include "tuner/network_race.h"

#include <algorithm>
#include <optional>
#include <set>

#include "engine/base/clock.h"
#include "engine/runtime/execution.h"
#include "engine/runtime/sample_input.h"

namespace enginery {
namespace {

// On an H200 one engine loaded twice is 1 % apart (standard deviation), by where its memory lies;
// the mean of several, half of that.
constexpr double kNetworkTie = 1.01;
constexpr int kMaxCopies = 4;

// The structure that a whole-network timing belongs to: problems and wiring, no names, no weights.
std::string network_key(const Network& network) {
  Sha256 hash;
  for (const NetworkNode& node : network.nodes) {
    hash.update(node.problem.key() + " @");
    for (ValueId v : node.inputs)
      hash.update(" " + std::to_string(v == kNoValue || network.graph.constant(v) ? -1 : v));
    hash.update(" ->");
    for (ValueId v : node.outputs) hash.update(" " + std::to_string(v));
    hash.update("\n");
  }
  return "network " + hash.finish().hex();
}

std::string assignment_key(const Assignment& assignment) {
  Sha256 hash;
  for (const Tactic& t : assignment.tactics) hash.update(tactic_key(t) + "\n");
  for (const auto& [key, t] : assignment.reformats)
    hash.update(std::to_string(key.value) + " " + tactic_key(t) + "\n");
  if (assignment.streams > 1) hash.update("streams " + std::to_string(assignment.streams));
  return "assignment " + hash.finish().hex().substr(0, 32);
}

// One network in several places, where its speed depends on them.
struct Contender {
  std::vector<std::unique_ptr<Execution>> copies;
  std::vector<Tensor> host;

  Status add(const std::shared_ptr<const Program>& program) {
    TRY(auto made, Execution::make(program));
    Execution& execution = *copies.emplace_back(std::move(made));
    std::vector<const void*> inputs;
    std::vector<void*> outputs;
    auto buffer = [&](int tensor) {
      const TensorType& type = program->plan().tensors[static_cast<size_t>(tensor)].type;
      return host.emplace_back(sample_input(type)).mutable_bytes();
    };
    for (int t : program->plan().inputs) inputs.push_back(buffer(t));
    for (int t : program->plan().outputs) outputs.push_back(buffer(t));
    return execution.run(inputs, outputs);
  }

  // Mean of the copies.
  Result<double> time_us() const {
    double sum = 0;
    for (const auto& copy : copies) {
      TRY(double us, copy->time_us());
      sum += us;
    }
    return sum / static_cast<double>(copies.size());
  }
};

// Weights lie in other places, too, where all copies of them stay in the cache; larger ones come
// from everywhere anyway.
Result<std::unique_ptr<Contender>> prepare_contender(const Network& network,
                                                     const Assignment& assignment, Device& device,
                                                     const TacticSources& sources) {
  TRY(Plan plan, make_plan(network, assignment));
  TRY(auto program, Program::make(plan, device, sources));
  auto out = std::make_unique<Contender>();
  CHECK_OK(out->add(program));
  const Measurer* measurer = device.measurer();
  const int copies = std::min(measurer ? measurer->placements() : 1, kMaxCopies);
  auto fit = [&](int64_t bytes) { return copies * bytes <= device.info().cache_bytes; };
  for (int i = 1; i < copies && fit(plan.arena_bytes); ++i) {
    if (fit(plan.arena_bytes + program->packed_weight_bytes())) {
      TRY(program, Program::make(plan, device, sources));
    }
    CHECK_OK(out->add(program));
  }
  return out;
}

}  // namespace

Result<size_t> NetworkRace::fastest(const Network& network,
                                    const std::vector<Assignment>& assignments) {
  std::string key = network_key(network);
  TRY(auto timings, store_.find(problems_.device_key(), key));
  auto known = [&](const Assignment& a) { return find_timing(timings, assignment_key(a)); };
  bool all_known = std::all_of(assignments.begin(), assignments.end(),
                               [&](const Assignment& a) { return known(a); });
  if (!all_known) {
    const auto missing = std::find_if_not(assignments.begin(), assignments.end(),
                                          [&](const Assignment& a) { return known(a); });
    CHECK_OK(store_.admit_miss(problems_.device_key(), key, assignment_key(*missing)));
    CHECK_OK(measure(network, assignments, key, timings));
    TRY(timings, store_.find(problems_.device_key(), key));
  } else {
    counts_.timings_reused += static_cast<int>(assignments.size());
  }
  auto median = [&](const Assignment& a) {
    const Timing* t = known(a);
    return t && t->failure.empty() ? t->statistics.median_us : kInfinity;
  };
  double least = kInfinity;
  for (const Assignment& a : assignments) least = std::min(least, median(a));
  if (least == kInfinity)
    return Error{ErrorCode::internal,
                 "no candidate network runs: " + known(assignments[0])->failure};
  auto ties = [&](const Assignment& a) { return median(a) <= least * kNetworkTie; };
  return static_cast<size_t>(std::find_if(assignments.begin(), assignments.end(), ties) -
                             assignments.begin());
}

Status NetworkRace::measure(const Network& network, const std::vector<Assignment>& assignments,
                            const std::string& key, const std::vector<Timing>& past) {
  const TimedScope timed(counts_.networks_s);
  options_.progress({"network", 0, static_cast<int>(assignments.size())});
  TRY(Lane guard, problems_.guard());
  std::vector<std::unique_ptr<Contender>> contenders;
  std::vector<Lane> lanes;
  std::optional<Error>
      full;  // as for tactics: no memory is not the network's fault, and is not kept
  std::set<std::string> without_memory;
  for (const Assignment& a : assignments) {
    std::string name = assignment_key(a);
    const Timing* failed = find_timing(past, name);
    if (failed && failed->failure.empty()) failed = nullptr;
    options_.trial({problems_.device_key(), key, name, false});
    auto made = failed ? Error{ErrorCode::internal, failed->failure}
                       : prepare_contender(network, a, device_, sources_);
    options_.trial({problems_.device_key(), key, name, true});
    if (!made && problems_.lost_device(made.error())) {
      CHECK_OK(keep(key, name, {{}, made.error().message}));
      return Error{ErrorCode::device_lost, made.error().message};
    }
    if (!made && made.error().code == ErrorCode::out_of_memory) {
      full = made.error();
      without_memory.insert(name);
    }
    if (!made) {
      lanes.push_back({[error = made.error()]() -> Result<double> { return error; }});
      continue;
    }
    const Contender* contender = contenders.emplace_back(std::move(*made)).get();
    lanes.push_back({[contender] { return contender->time_us(); }});
  }
  RaceRules rules;
  rules.most_extra_rounds = 400;
  rules.most_extra_us = 1e6;
  rules.cancelled = options_.cancelled;
  TRY(auto raced, race(lanes, guard, rules));
  auto lost =
      std::find_if(raced.begin(), raced.end(), [](const LaneResult& r) { return r.lost_device; });
  for (size_t i = 0; i < raced.size(); ++i) {
    const std::string name = assignment_key(assignments[i]);
    bool complete = lost == raced.end() || raced[i].lost_device;
    if (complete && !without_memory.contains(name)) CHECK_OK(keep(key, name, raced[i]));
  }
  if (lost != raced.end()) return Error{ErrorCode::device_lost, lost->failure};
  bool none_ran = std::none_of(raced.begin(), raced.end(),
                               [](const LaneResult& r) { return r.failure.empty(); });
  if (full && none_ran) return *full;
  options_.progress(
      {"network", static_cast<int>(assignments.size()), static_cast<int>(assignments.size())});
  return {};
}

Status NetworkRace::keep(const std::string& key, const std::string& name,
                         const LaneResult& result) {
  Timing t;
  t.tactic = name;
  t.failure = result.failure;
  t.statistics = summarize(result.samples_us);
  t.guard_ratio = result.guard_ratio;
  problems_.record(t, problems_.device_state());
  ++counts_.timings_measured;
  return store_.put(problems_.device_key(), key, t);
}

}  // namespace enginery
