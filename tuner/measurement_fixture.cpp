#include "tuner/measurement_fixture.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "engine/device/measurer.h"

namespace enginery {
namespace {

// Smaller weights stay in the inner caches whatever runs between.
constexpr int64_t kMinRingWeights = 256 << 10;
constexpr int64_t kMaxRingCopies = 8;
constexpr int kMaxSmallCopies = 4;  // of smaller weights: only their addresses differ
constexpr int kMaxLaunchesABatch = 2000;

int64_t weight_bytes(const Problem& problem) {
  int64_t bytes = 0;
  for (const TensorDesc& d : problem.inputs) bytes += d.constant ? bytes_of(d.type) : 0;
  return bytes;
}

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

}  // namespace

struct MeasurementFixture::State {
  Device& device;
  std::unique_ptr<Probe> probe;
  std::vector<std::unique_ptr<CommandList>> lists;  // borrowed by candidates
};

MeasurementFixture::MeasurementFixture(std::unique_ptr<State> state) : state_(std::move(state)) {}
MeasurementFixture::~MeasurementFixture() = default;

Result<std::unique_ptr<MeasurementFixture>> MeasurementFixture::make(const Problem& problem,
                                                                     Device& device,
                                                                     uint64_t seed) {
  auto state = std::make_unique<State>(State{device, nullptr, {}});
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
  const int64_t bytes = weight_bytes(s.probe->problem());
  const int64_t cache = std::max<int64_t>(s.device.info().cache_bytes, 1);
  const int copies =
      bytes < kMinRingWeights
          ? std::min(placements(), kMaxSmallCopies)
          : power_of_two(std::clamp<int64_t>(2 * (cache / bytes), 2, kMaxRingCopies));
  TRY(out.copies.emplace_back(), s.probe->prepare(source, tactic));
  for (int i = 1; i < copies; ++i) {
    TRY(auto copy, out.copies[0]->copy());
    if (!copy) {
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
  std::vector<LaunchPlace> turns;  // one for each placement
  for (int placement = 0; placement < buffers.placements(); ++placement) {
    TRY(turns.emplace_back(), buffers.place(*prepared.tactic, *prepared.copies[0], placement));
  }
  const int ring = static_cast<int>(std::lcm(prepared.copies.size(), turns.size()));
  auto enqueue = [turns = std::move(turns), copies = prepared.copies](Stream& stream, int launch) {
    const auto number = static_cast<size_t>(launch);
    const LaunchPlace& at = turns[number % turns.size()];
    return copies[number % copies.size()]->enqueue(stream, {at.inputs, at.outputs, at.workspace});
  };
  TRY(LaunchBatch batch,
      record_batch(s.device, buffers.stream(), enqueue, ring, kMaxLaunchesABatch / ring + 1));
  CommandList* list = s.lists.emplace_back(std::move(batch.list)).get();
  return Candidate{[measurer, &buffers, list, launches = batch.launches]() -> Result<double> {
    TRY(const double total, measurer->time_us(buffers.stream(), *list));
    return total / launches;
  }};
}

}  // namespace enginery
