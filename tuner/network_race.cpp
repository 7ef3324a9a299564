#include "tuner/network_race.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>

#include "engine/runtime/execution.h"
#include "engine/runtime/sample_inputs.h"

namespace enginery {
namespace {

// On an H200 one engine loaded twice is 1 % apart (standard deviation), by where its memory lies;
// the mean of several, half of that.
constexpr double kNetworkTie = 1.01;
constexpr int kMaxCopies = 4;
// Networks take longer than tactics, and fewer of them race: they may run on for longer.
constexpr int kMaxExtraRounds = 400;
constexpr double kMaxExtraUs = 1e6;
// All launches of a race: a round of four BERT-base on two CPU cores takes most of a second.
constexpr double kMaxUs = 3e6;

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

std::string selection_key(const Network& network, const TacticSelection& selection) {
  Sha256 hash;
  for (const size_t a : selection.cover) {
    hash.update("instead of " + std::to_string(network.alternatives[a].replaces[0]) + "\n");
    for (const NetworkNode& node : network.alternatives[a].instead)
      hash.update(node.problem.key() + "\n");
  }
  for (const Tactic& t : selection.tactics) hash.update(tactic_key(t) + "\n");
  for (const auto& [key, t] : selection.reformats)
    hash.update(std::to_string(key.value) + " " + tactic_key(t) + "\n");
  if (selection.streams > 1) hash.update("streams " + std::to_string(selection.streams));
  return "assignment " + hash.finish().hex().substr(0, 32);
}

}  // namespace

// One network with its buffers in several placements, where its speed depends on them.
struct NetworkCandidate {
  std::vector<std::unique_ptr<Execution>> copies;
  std::vector<Tensor> host;

  Status add(const std::shared_ptr<const Program>& program) {
    TRY(auto made, Execution::make(program));
    Execution& execution = *copies.emplace_back(std::move(made));
    const Plan& plan = program->plan();
    std::vector<const void*> inputs;
    std::vector<void*> outputs;
    for (Tensor& input : sample_inputs(plan))
      inputs.push_back(host.emplace_back(std::move(input)).raw());
    for (const int t : plan.outputs) {
      const TensorType& type = plan.tensors[static_cast<size_t>(t)].type;
      outputs.push_back(host.emplace_back(type.type, type.dims).mutable_bytes());
    }
    return execution.run(inputs, outputs);
  }

  // Mean of the copies, in microseconds.
  Result<double> time_us() const {
    double sum = 0;
    for (const auto& copy : copies) {
      TRY(const double us, copy->time_us());
      sum += us;
    }
    return sum / static_cast<double>(copies.size());
  }
};

namespace {

// What the raced networks have in common, by copies of a network: each copy is to have other
// addresses than the others.
using SharedSteps = std::array<PreparedSteps, kMaxCopies>;

// Every copy gets weights of its own where all copies of them fit into the cache; larger weights
// are read from all over the memory anyway.
Result<std::unique_ptr<NetworkCandidate>> prepare_network(const Network& network,
                                                          const TacticSelection& selection,
                                                          const MeasuringContext& context,
                                                          SharedSteps& shared) {
  Device& device = context.device();
  TRY(const Plan plan, make_plan(network, selection));
  const auto make = [&](int copy) {
    return Program::make(plan, device, context.sources(), {}, PlanWeights::keep,
                         &shared[static_cast<size_t>(copy)]);
  };
  TRY(auto program, make(0));
  auto out = std::make_unique<NetworkCandidate>();
  CHECK_OK(out->add(program));
  const Measurer* measurer = device.measurer();
  const int copies = std::min(measurer ? measurer->placements() : 1, kMaxCopies);
  auto fit = [&](int64_t bytes) { return copies * bytes <= device.info().cache_bytes; };
  for (int i = 1; i < copies && fit(plan.arena_bytes); ++i) {
    if (fit(plan.arena_bytes + program->packed_weight_bytes())) {
      TRY(program, make(i));
    }
    CHECK_OK(out->add(program));
  }
  return out;
}

}  // namespace

struct NetworkRace::Field {
  SharedSteps shared;
  std::vector<std::string> names;  // selection_key of each
  std::vector<Candidate> candidates;
  std::vector<std::unique_ptr<NetworkCandidate>> networks;  // of those that could be prepared
  // As for tactics: a lack of memory is not the network's fault, and is not kept.
  std::optional<Error> out_of_memory;
  std::set<std::string> without_memory;
  std::set<std::string> failed_before;  // the store has why
};

Result<size_t> NetworkRace::fastest(const Network& network,
                                    const std::vector<TacticSelection>& selections) {
  const std::string key = network_key(network);
  TRY(std::vector<Timing> timings, context_.find(key));
  auto known = [&](const TacticSelection& s) {
    return find_timing(timings, selection_key(network, s));
  };
  const auto missing = std::find_if_not(selections.begin(), selections.end(), known);
  if (missing != selections.end()) {
    CHECK_OK(context_.admit_miss(key, selection_key(network, *missing)));
    CHECK_OK(measure(network, selections, key, timings));
    TRY(timings, context_.find(key));
  } else {
    context_.counts().timings_reused += static_cast<int>(selections.size());
  }
  auto median = [&](const TacticSelection& s) {
    const Timing* t = known(s);
    return t && t->failure.empty() ? t->statistics.median_us : kInfinity;
  };
  double least = kInfinity;
  for (const TacticSelection& s : selections) least = std::min(least, median(s));
  if (least == kInfinity)
    return Error{ErrorCode::internal,
                 "no candidate network runs: " + known(selections[0])->failure};
  auto ties = [&](const TacticSelection& s) { return median(s) <= least * kNetworkTie; };
  return static_cast<size_t>(std::find_if(selections.begin(), selections.end(), ties) -
                             selections.begin());
}

Result<double> NetworkRace::median_us(const Network& network, const TacticSelection& selection) {
  TRY([[maybe_unused]] const size_t only, fastest(network, {selection}));
  TRY(const std::vector<Timing> timings, context_.find(network_key(network)));
  const Timing* timing = find_timing(timings, selection_key(network, selection));
  ENSURE(timing != nullptr, "a network that was raced has its time in the store");
  return timing->statistics.median_us;
}

// Adds one network to the field; one that failed before, or fails now, as a candidate that only
// says why.
Status NetworkRace::enter(const Network& network, const TacticSelection& selection,
                          const std::string& key, const std::vector<Timing>& past, Field& field) {
  const std::string& name = field.names.emplace_back(selection_key(network, selection));
  Result<std::unique_ptr<NetworkCandidate>> made = Error{ErrorCode::internal, ""};
  const Timing* before = find_timing(past, name);
  context_.in_flight(key, name, [&] {
    if (before && !before->failure.empty()) {
      made = Error{ErrorCode::internal, before->failure};
      field.failed_before.insert(name);
    } else {
      made = prepare_network(network, selection, context_, field.shared);
    }
  });
  if (made) {
    const NetworkCandidate* prepared = field.networks.emplace_back(std::move(*made)).get();
    field.candidates.push_back(
        {[prepared] { return prepared->time_us(); }, static_cast<int>(prepared->copies.size())});
    return {};
  }
  if (context_.lost_device(made.error())) {
    CHECK_OK(store_one(key, name,
                       {.failure = made.error().message, .failure_kind = FailureKind::fault}));
    return Error{ErrorCode::device_lost, made.error().message};
  }
  if (made.error().code == ErrorCode::out_of_memory) {
    field.out_of_memory = made.error();
    field.without_memory.insert(name);
  }
  field.candidates.push_back({[error = made.error()]() -> Result<double> { return error; }});
  return {};
}

Status NetworkRace::measure(const Network& network, const std::vector<TacticSelection>& selections,
                            const std::string& key, const std::vector<Timing>& past) {
  const TimedScope timed(context_.counts().networks_s, context_.clock());
  const TunerOptions& options = context_.options();
  const auto count = static_cast<int>(selections.size());
  options.progress({"network", 0, count});
  CHECK_OK(context_.probe());  // before the memory is full
  Field field;
  for (const TacticSelection& s : selections) CHECK_OK(enter(network, s, key, past, field));
  RaceRules rules;
  rules.max_us = kMaxUs;
  rules.max_extra_rounds = kMaxExtraRounds;
  rules.max_extra_us = kMaxExtraUs;
  rules.in_flight = context_.turns_in_flight(key, field.names);
  TRY(const auto raced, context_.race_beside_probe("network", field.candidates, rules));
  CHECK_OK(store(key, field, raced));
  const bool none_ran = std::none_of(raced.begin(), raced.end(),
                                     [](const CandidateResult& r) { return r.failure.empty(); });
  if (field.out_of_memory && none_ran) return *field.out_of_memory;
  options.progress({"network", count, count});
  return {};
}

// All results; where one network lost the device only that one, since the others are incomplete.
Status NetworkRace::store(const std::string& key, const Field& field,
                          const std::vector<CandidateResult>& raced) {
  const auto lost = std::find_if(raced.begin(), raced.end(),
                                 [](const CandidateResult& r) { return r.lost_device(); });
  for (size_t i = 0; i < raced.size(); ++i) {
    const bool complete = lost == raced.end() || raced[i].lost_device();
    const std::string& name = field.names[i];
    const bool is_news =
        !field.without_memory.contains(name) && !field.failed_before.contains(name);
    if (complete && is_news) CHECK_OK(store_one(key, name, raced[i]));
  }
  if (lost != raced.end()) return Error{ErrorCode::device_lost, lost->failure};
  return {};
}

Status NetworkRace::store_one(const std::string& key, const std::string& name,
                              const CandidateResult& result) {
  Timing t;
  t.tactic = name;
  t.statistics = summarize(result.samples_us);
  note_race(result, t);
  return context_.store(key, {std::move(t)});
}

}  // namespace enginery
