#include "tuner/measurement_fixture.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "engine/device/measurer.h"

namespace enginery {
namespace {

// Smaller weights stay in the inner caches whatever runs between.
constexpr int64_t kMinRingWeights = 256 << 10;
constexpr int64_t kMaxRingCopies = 16, kMaxPackedAnew = 8;
constexpr int kMaxSmallCopies = 4;  // of smaller weights: only their addresses differ
constexpr int kMaxLaunchesABatch = 2000;
// A cold sample takes that long, or that many launches: each has a sweep of the caches before it.
constexpr double kColdSampleUs = 400, kLeastUs = 0.05;
constexpr int kMaxColdLaunches = 8;

// The largest power of two up to `count`. With powers of two, placements and copies of weights that
// take turns need no more launches than the larger of the two numbers.
int power_of_two(int64_t count) {
  return static_cast<int>(std::bit_floor(static_cast<uint64_t>(count)));
}

// Of inputs, outputs and small workspaces: launches take them in turn.
int placements_for(const Problem& problem, Device& device) {
  const Measurer* measurer = device.measurer();
  if (!measurer) return 1;
  const int64_t room = device.info().cache_bytes / (2 * activation_bytes(problem));
  return power_of_two(std::clamp<int64_t>(room, 1, measurer->placements()));
}

// Launches of one tactic: each takes the next placement and the next copy of the weights.
struct Turns {
  std::vector<LaunchPlace> places;
  std::vector<std::shared_ptr<const PreparedTactic>> copies;

  const LaunchPlace& place(int launch) const {
    return places[static_cast<size_t>(launch) % places.size()];
  }
  Status enqueue(Stream& stream, int launch) const {
    const LaunchPlace& at = place(launch);
    return copies[static_cast<size_t>(launch) % copies.size()]->enqueue(
        stream, {at.inputs, at.outputs, at.workspace});
  }
  int ring() const { return static_cast<int>(std::lcm(copies.size(), places.size())); }
};

// What stands in for the layers of a network before a launch: it writes as much as the caches hold,
// then reads the inputs, where they fit.
struct StandIn {
  Device& device;
  DeviceMemory memory;
  std::vector<int64_t> input_bytes;  // parallel to a place's inputs; 0: left alone

  Status enqueue(Stream& stream, const LaunchPlace& at) const {
    CHECK_OK(device.fill(stream, memory.data(), 0, memory.bytes()));
    for (size_t i = 0; i < input_bytes.size(); ++i) {
      if (input_bytes[i] == 0) continue;
      CHECK_OK(device.copy(stream, memory.data(), at.inputs[i], static_cast<size_t>(input_bytes[i]),
                           CopyKind::on_device));
    }
    return {};
  }
};

// Of the inputs that a layer before would have written, where all of them stay in the caches.
std::vector<int64_t> bytes_to_read(const Problem& problem, const Tactic& tactic, int64_t cache) {
  std::vector<int64_t> out;
  int64_t sum = 0;
  for (size_t i = 0; i < problem.inputs.size(); ++i) {
    const TensorDesc& d = problem.inputs[i];
    const bool is_fed = d.present && !d.constant;
    out.push_back(is_fed ? physical_bytes(d.type.dims, tactic.inputs[i]) : 0);
    sum += out.back();
  }
  if (2 * sum > cache) out.assign(out.size(), 0);
  return out;
}

}  // namespace

struct MeasurementFixture::State {
  Device& device;
  std::unique_ptr<Probe> probe;
  DeviceMemory swept;                               // what a stand-in writes
  std::vector<std::unique_ptr<CommandList>> lists;  // borrowed by candidates

  Result<Turns> turns(const PreparedCandidate& prepared) const {
    Turns out{{}, prepared.copies};
    ProblemBuffers& buffers = probe->buffers();
    for (int placement = 0; placement < buffers.placements(); ++placement) {
      TRY(out.places.emplace_back(),
          buffers.place(*prepared.tactic, *prepared.copies[0], placement));
    }
    return out;
  }
};

MeasurementFixture::MeasurementFixture(std::unique_ptr<State> state) : state_(std::move(state)) {}
MeasurementFixture::~MeasurementFixture() = default;

Result<std::unique_ptr<MeasurementFixture>> MeasurementFixture::make(const Problem& problem,
                                                                     Device& device,
                                                                     uint64_t seed) {
  auto state = std::make_unique<State>(State{device, nullptr, {}, {}});
  TRY(state->probe, Probe::make(problem, device, {ProbeKind::symmetric, seed}, {},
                                placements_for(problem, device)));
  return std::make_unique<MeasurementFixture>(std::move(state));
}

int MeasurementFixture::placements() const {
  return state_->probe->buffers().placements();
}

Result<PreparedCandidate> MeasurementFixture::prepare(const TacticSource& source,
                                                      const Tactic& tactic) const {
  const State& s = *state_;
  PreparedCandidate out{&tactic, {}};
  TRY(out.copies.emplace_back(), s.probe->prepare(source, tactic));
  const int64_t bytes = out.copies[0]->weight_bytes();
  const int64_t cache = std::max<int64_t>(s.device.info().cache_bytes, 1);
  auto size = static_cast<size_t>(
      bytes < kMinRingWeights
          ? std::min(placements(), kMaxSmallCopies)
          : power_of_two(std::clamp<int64_t>(2 * (cache / bytes), 2, kMaxRingCopies)));
  while (out.copies.size() < size) {
    TRY(auto copy, out.copies[0]->copy());
    if (!copy) {
      size = std::min<size_t>(size, kMaxPackedAnew);
      TRY(copy, s.probe->prepare(source, tactic));
    }
    out.copies.push_back(std::move(copy));
  }
  return out;
}

Result<CheckedResult> MeasurementFixture::check(const PreparedCandidate& prepared) {
  return state_->probe->check(*prepared.tactic, *prepared.copies[0], 1);
}

Result<Candidate> MeasurementFixture::candidate(const PreparedCandidate& prepared) {
  State& s = *state_;
  Measurer* measurer = s.device.measurer();
  if (!measurer) return Error{ErrorCode::unsupported, "this device cannot measure"};
  ProblemBuffers& buffers = s.probe->buffers();
  TRY(const Turns turns, s.turns(prepared));
  auto enqueue = [turns](Stream& stream, int launch) { return turns.enqueue(stream, launch); };
  TRY(LaunchBatch batch, record_batch(s.device, buffers.stream(), enqueue, turns.ring(),
                                      kMaxLaunchesABatch / turns.ring() + 1));
  CommandList* list = s.lists.emplace_back(std::move(batch.list)).get();
  return Candidate{[measurer, &buffers, list, launches = batch.launches]() -> Result<double> {
                     TRY(const double total, measurer->time_us(buffers.stream(), *list));
                     return total / launches;
                   },
                   batch.launches};
}

Result<Candidate> MeasurementFixture::cold_candidate(const PreparedCandidate& prepared, double us) {
  State& s = *state_;
  Measurer* measurer = s.device.measurer();
  if (!measurer || measurer->sweep_bytes() == 0)
    return Error{ErrorCode::unsupported, "this device takes no cold times"};
  const Problem& problem = s.probe->problem();
  const int64_t largest = std::max(measurer->sweep_bytes(), s.device.info().cache_bytes);
  if (!s.swept.data()) {
    TRY(s.swept, s.device.allocate(static_cast<size_t>(largest)));
  }
  TRY(const Turns turns, s.turns(prepared));
  const StandIn stand_in{s.device, s.swept,
                         bytes_to_read(problem, *prepared.tactic, s.device.info().cache_bytes)};
  const int launches = static_cast<int>(
      std::clamp(kColdSampleUs / std::max(us, kLeastUs), 1.0, double{kMaxColdLaunches}));
  Stream& stream = s.probe->buffers().stream();
  auto record = [&](bool with_tactic) -> Result<CommandList*> {
    TRY(auto list, s.device.record(stream, [=](Stream& recorded) -> Status {
      for (int i = 0; i < launches; ++i) {
        CHECK_OK(stand_in.enqueue(recorded, turns.place(i)));
        if (with_tactic) CHECK_OK(turns.enqueue(recorded, i));
      }
      return {};
    }));
    return s.lists.emplace_back(std::move(list)).get();
  };
  TRY(CommandList* const both, record(true));
  TRY(CommandList* const alone, record(false));
  return Candidate{[measurer, &stream, both, alone, launches]() -> Result<double> {
    TRY(const double together, measurer->time_us(stream, *both));
    TRY(const double before, measurer->time_us(stream, *alone));
    return std::max((together - before) / launches, kLeastUs);
  }};
}

}  // namespace enginery
