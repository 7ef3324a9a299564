#include "tuner/measurement_fixture.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <map>
#include <numeric>
#include <tuple>

#include "engine/device/format_convert.h"
#include "engine/device/measurer.h"
#include "tuner/random_data.h"
#include "tuner/sampled_reference.h"

namespace enginery {
namespace {

constexpr int64_t kRedZoneBytes = 256;
constexpr uint8_t kRedZoneByte = 0xa5;
constexpr int64_t kCheckedElements = 4096;
// Smaller weights stay in the inner caches whatever runs between.
constexpr int64_t kMinRingWeights = 256 << 10;
constexpr int64_t kMaxRingCopies = 8;
constexpr int kMaxSmallCopies = 4;  // of smaller weights: only their addresses differ
// How much further into its allocation each placement puts a buffer. Not a multiple of a page,
// since allocations begin at pages.
constexpr int64_t kPlacementStep = 37 * 256;
constexpr int64_t kMaxPlacedWorkspace = 1 << 20;  // larger ones have one placement
constexpr int kMaxLaunchesABatch = 2000;
constexpr char kOutside[] = "wrote outside its buffer (red zone)";

// An upper bound of what a tensor takes in any format: its widest type, its channels padded to the
// widest block.
int64_t max_bytes(const TensorType& type) {
  const Format widest{element_bytes(type.type) > 4 ? type.type : DataType::float32,
                      {LayoutKind::blocked, 16}};
  return std::max<int64_t>({physical_bytes(type.dims, widest), bytes_of(type), 1});
}

int64_t weight_bytes(const Problem& problem) {
  int64_t bytes = 0;
  for (const TensorDesc& d : problem.inputs) bytes += d.constant ? bytes_of(d.type) : 0;
  return bytes;
}

// What a launch reads and writes besides weights, at most.
int64_t activation_bytes(const Problem& problem) {
  int64_t bytes = 0;
  for (const TensorDesc& d : problem.inputs)
    bytes += d.present && !d.constant ? max_bytes(d.type) : 0;
  for (const TensorDesc& d : problem.outputs) bytes += max_bytes(d.type);
  return bytes;
}

// The largest power of two up to `count`. With powers of two, placements and copies of weights that
// take turns need no more launches than the larger of the two numbers.
int power_of_two(int64_t count) {
  return static_cast<int>(std::bit_floor(static_cast<uint64_t>(count)));
}

// The largest difference over the largest expected value, against what the precision allows.
CheckedResult compare(const Tensor& result, const std::vector<double>& expected, double bar) {
  auto wrong = [](const std::string& reason) {
    return CheckedResult{0, reason, FailureKind::wrong_result};
  };
  double difference = 0, largest = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    const double y = result.data<double>()[i], r = expected[i];
    if (y == r || (std::isnan(y) && std::isnan(r))) {
      largest = std::isfinite(r) ? std::max(largest, std::abs(r)) : largest;
      continue;
    }
    const double d = std::abs(y - r);
    if (!std::isfinite(d))
      return wrong("an output element is " + std::to_string(y) + ", expected " + std::to_string(r));
    difference = std::max(difference, d);
    largest = std::max(largest, std::abs(r));
  }
  const double error = largest > 0 ? difference / largest : difference;
  if (error > bar)
    return wrong("relative error " + std::to_string(error) + " is above " + std::to_string(bar));
  return {error, "", FailureKind::unknown};
}

}  // namespace

double error_bar(Precision compute) {
  switch (compute) {
    case Precision::fp32:
      return 5e-4;  // Winograd's transforms cost a digit; direct sums stay near 1e-6
    case Precision::tf32:
    case Precision::fp16:
      return 1e-2;
    case Precision::bf16:
    case Precision::int8:
      return 5e-2;
  }
  return 0;
}

struct MeasurementFixture::State {
  Problem problem;
  Device& device;
  uint64_t seed;
  std::unique_ptr<Stream> stream;
  std::vector<Tensor> inputs;
  std::vector<const Tensor*> weights, values;  // constants only; everything present
  int placements = 1;  // of inputs, outputs and small workspaces: launches take them in turn
  std::map<std::tuple<size_t, Format, int>, DeviceMemory> placed;  // by input, format, placement
  std::vector<int64_t> elements;
  std::optional<std::vector<double>> expected;
  std::vector<std::unique_ptr<CommandList>> lists;  // borrowed by candidates
  // Shared by all candidates, which run one at a time: outputs by index and placement; the
  // largest workspace so far by placement.
  std::map<std::pair<size_t, int>, DeviceMemory> outputs;
  std::map<int, DeviceMemory> workspaces;
  // Part of a device allocation with red zones on both sides; the allocation may be larger, and
  // others may use it later.
  struct Guarded {
    DeviceMemory memory;
    int64_t bytes = 0;
    int64_t offset = 0;  // of the first red zone
    void* begin() const { return static_cast<char*>(memory.data()) + offset; }
    void* data() const { return static_cast<char*>(begin()) + kRedZoneBytes; }
    void* end() const { return static_cast<char*>(data()) + bytes; }
  };
  // Where one candidate reads and writes, in one placement.
  struct Buffers {
    std::vector<const void*> inputs;
    std::vector<void*> outputs;
    std::vector<Guarded> guarded;
    Guarded workspace;
  };
  std::map<std::pair<const Tactic*, int>, std::unique_ptr<Buffers>> buffers;

  State(const Problem& p, Device& d, uint64_t s) : problem(p), device(d), seed(s) {}

  Status make_inputs() {
    for (size_t i = 0; i < problem.inputs.size(); ++i) {
      inputs.push_back(problem.inputs[i].present ? random_input(problem, i, seed) : Tensor());
    }
    for (size_t i = 0; i < problem.inputs.size(); ++i) {
      values.push_back(problem.inputs[i].present ? &inputs[i] : nullptr);
      weights.push_back(problem.inputs[i].constant ? &inputs[i] : nullptr);
    }
    elements = sample_elements(problem.outputs[0].type.dims, kCheckedElements, seed);
    TRY(stream, device.create_stream());
    if (const Measurer* measurer = device.measurer()) {
      const int64_t room = device.info().cache_bytes / (2 * activation_bytes(problem));
      placements = power_of_two(std::clamp<int64_t>(room, 1, measurer->placements()));
    }
    return {};
  }

  // Host bytes to the device, waiting for the copy.
  Status upload(void* to, const void* from, int64_t bytes) {
    CHECK_OK(device.copy(*stream, to, from, static_cast<size_t>(bytes), CopyKind::to_device));
    return stream->synchronize();
  }

  Result<const void*> input_in(size_t index, const Format& format, int placement) {
    auto found = placed.find({index, format, placement});
    const int64_t offset = placement * kPlacementStep;
    if (found == placed.end()) {
      int64_t bytes = std::max<int64_t>(physical_bytes(inputs[index].dims(), format), 1);
      TRY(DeviceMemory memory, device.allocate(static_cast<size_t>(bytes + offset)));
      char* to = static_cast<char*>(memory.data()) + offset;
      if (placement == 0) {
        std::vector<char> host(static_cast<size_t>(bytes));
        to_physical(inputs[index], format, host.data());
        CHECK_OK(upload(to, host.data(), bytes));
      } else {  // converting is slow: once is enough
        TRY(const void* first, input_in(index, format, 0));
        CHECK_OK(device.copy(*stream, to, first, static_cast<size_t>(bytes), CopyKind::on_device));
      }
      found = placed.emplace(std::tuple(index, format, placement), std::move(memory)).first;
    }
    return static_cast<const void*>(static_cast<const char*>(found->second.data()) + offset);
  }

  Result<DeviceMemory> output_memory(size_t index, int placement) {
    auto found = outputs.find({index, placement});
    if (found != outputs.end()) return found->second;
    TRY(DeviceMemory memory, allocate_guarded(max_bytes(problem.outputs[index].type), placement));
    return outputs.emplace(std::pair(index, placement), memory).first->second;
  }

  Result<DeviceMemory> workspace_memory(int64_t bytes, int placement) {
    DeviceMemory& largest = workspaces[placement];
    if (guarded_bytes(bytes, placement) > largest.bytes()) {
      TRY(largest, allocate_guarded(bytes, placement));
    }
    return largest;
  }

  static size_t guarded_bytes(int64_t bytes, int placement) {
    return static_cast<size_t>(bytes + 2 * kRedZoneBytes + placement * kPlacementStep);
  }

  Result<DeviceMemory> allocate_guarded(int64_t bytes, int placement) {
    return device.allocate(guarded_bytes(bytes, placement));
  }

  // Red zones around bytes that hold NaN in every floating format.
  Status poison(const Guarded& g) {
    CHECK_OK(device.fill(*stream, g.begin(), kRedZoneByte, kRedZoneBytes));
    CHECK_OK(device.fill(*stream, g.data(), 0xff, static_cast<size_t>(g.bytes)));
    return device.fill(*stream, g.end(), kRedZoneByte, kRedZoneBytes);
  }

  Result<std::vector<uint8_t>> download(const void* from, int64_t bytes) {
    std::vector<uint8_t> host(static_cast<size_t>(bytes));
    CHECK_OK(device.copy(*stream, host.data(), from, host.size(), CopyKind::to_host));
    CHECK_OK(stream->synchronize());
    return host;
  }

  Result<bool> red_zones_intact(const Guarded& g) {
    for (const void* zone :
         {static_cast<const void*>(g.begin()), static_cast<const void*>(g.end())}) {
      TRY(const auto bytes, download(zone, kRedZoneBytes));
      const bool intact =
          std::all_of(bytes.begin(), bytes.end(), [](uint8_t b) { return b == kRedZoneByte; });
      if (!intact) return false;
    }
    return true;
  }

  // Inputs in the tactic's formats; an in-place operand shares the output's memory, as it will in
  // an engine.
  Result<Buffers*> buffers_of(const PreparedCandidate& candidate, int placement) {
    const Tactic& tactic = *candidate.tactic;
    if (auto known = buffers.find({&tactic, placement}); known != buffers.end())
      return known->second.get();
    auto out = std::make_unique<Buffers>();
    for (size_t i = 0; i < inputs.size(); ++i) {
      bool fed = problem.inputs[i].present && !problem.inputs[i].constant;
      out->inputs.push_back(nullptr);
      if (fed) {
        TRY(out->inputs.back(), input_in(i, tactic.inputs[i], placement));
      }
    }
    for (size_t i = 0; i < problem.outputs.size(); ++i) {
      const TensorType& type = problem.outputs[i].type;
      TRY(DeviceMemory memory, output_memory(i, placement));
      out->guarded.push_back({std::move(memory),
                              std::max<int64_t>(physical_bytes(type.dims, tactic.outputs[i]), 1),
                              placement * kPlacementStep});
      out->outputs.push_back(out->guarded.back().data());
    }
    int64_t workspace =
        std::max<int64_t>({tactic.workspace_bytes, candidate.copies[0]->workspace_bytes(), 1});
    if (placement > 0 && workspace > kMaxPlacedWorkspace) {
      TRY(const Buffers* first, buffers_of(candidate, 0));
      out->workspace = first->workspace;
    } else {
      TRY(DeviceMemory memory, workspace_memory(workspace, placement));
      out->workspace = {std::move(memory), workspace, placement * kPlacementStep};
    }
    return buffers.emplace(std::pair(&tactic, placement), std::move(out)).first->second.get();
  }

  // Poisoned outputs and workspace, a fresh in-place operand, one launch.
  Status run_once(const PreparedCandidate& candidate, Buffers& b) {
    for (const Guarded& g : b.guarded) CHECK_OK(poison(g));
    CHECK_OK(poison(b.workspace));
    std::vector<const void*> in = b.inputs;
    if (int operand = candidate.tactic->in_place_operand; operand >= 0) {
      const void*& input = in[static_cast<size_t>(operand)];
      CHECK_OK(device.copy(*stream, b.outputs[0], input, static_cast<size_t>(b.guarded[0].bytes),
                           CopyKind::on_device));
      input = b.outputs[0];
    }
    CHECK_OK(candidate.copies[0]->enqueue(*stream, {in, b.outputs, b.workspace.data()}));
    return stream->synchronize();
  }

  // The checked elements of the first output, as float64.
  Result<Tensor> read_elements(const Guarded& output, const Format& format) {
    TRY(auto bytes, download(output.data(), output.bytes));
    const Placement placement(problem.outputs[0].type.dims, format.layout);
    const auto size = static_cast<size_t>(element_bytes(format.type));
    Tensor stored(format.type, {static_cast<int64_t>(elements.size())});
    auto* to = static_cast<uint8_t*>(stored.mutable_bytes());
    for (int64_t e : elements) {
      std::memcpy(to, bytes.data() + static_cast<size_t>(placement.offset(e)) * size, size);
      to += size;
    }
    return convert(stored, DataType::float64);
  }
};

MeasurementFixture::MeasurementFixture(std::unique_ptr<State> state) : state_(std::move(state)) {}
MeasurementFixture::~MeasurementFixture() = default;

Result<std::unique_ptr<MeasurementFixture>> MeasurementFixture::make(const Problem& problem,
                                                                     Device& device,
                                                                     uint64_t seed) {
  auto state = std::make_unique<State>(problem, device, seed);
  CHECK_OK(state->make_inputs());
  return std::make_unique<MeasurementFixture>(std::move(state));
}

int MeasurementFixture::placements() const {
  return state_->placements;
}

Result<PreparedCandidate> MeasurementFixture::prepare(const TacticSource& source,
                                                      const Tactic& tactic) const {
  const State& s = *state_;
  PreparedCandidate out{&tactic, {}};
  const int64_t bytes = weight_bytes(s.problem);
  const int64_t cache = std::max<int64_t>(s.device.info().cache_bytes, 1);
  const int copies =
      bytes < kMinRingWeights
          ? std::min(s.placements, kMaxSmallCopies)
          : power_of_two(std::clamp<int64_t>(2 * (cache / bytes), 2, kMaxRingCopies));
  TRY(out.copies.emplace_back(), source.prepare(s.problem, tactic, s.weights));
  for (int i = 1; i < copies; ++i) {
    TRY(auto copy, out.copies[0]->copy());
    if (!copy) {
      TRY(copy, source.prepare(s.problem, tactic, s.weights));
    }
    out.copies.push_back(std::move(copy));
  }
  return out;
}

Result<CheckedResult> MeasurementFixture::check(const PreparedCandidate& prepared) {
  State& s = *state_;
  TRY(State::Buffers * b, s.buffers_of(prepared, 0));
  CHECK_OK(s.run_once(prepared, *b));
  for (const State::Guarded& output : b->guarded) {
    TRY(const bool intact, s.red_zones_intact(output));
    if (!intact) return CheckedResult{0, kOutside, FailureKind::red_zone};
  }
  TRY(const bool intact, s.red_zones_intact(b->workspace));
  if (!intact)
    return CheckedResult{0, "workspace: " + std::string(kOutside), FailureKind::red_zone};
  if (!s.expected) {
    TRY(s.expected, sampled_reference(s.problem, s.values, s.elements));
  }
  TRY(const Tensor result, s.read_elements(b->guarded[0], prepared.tactic->outputs[0]));
  return compare(result, *s.expected, error_bar(prepared.tactic->compute));
}

Result<Candidate> MeasurementFixture::candidate(const PreparedCandidate& prepared) {
  State& s = *state_;
  Measurer* measurer = s.device.measurer();
  if (!measurer) return Error{ErrorCode::unsupported, "this device cannot measure"};
  struct Addresses {
    std::vector<const void*> inputs;
    std::vector<void*> outputs;
    void* workspace;
  };
  std::vector<Addresses> turns;  // one for each placement
  for (int placement = 0; placement < s.placements; ++placement) {
    TRY(const State::Buffers* b, s.buffers_of(prepared, placement));
    turns.push_back({b->inputs, b->outputs, b->workspace.data()});
    if (const int operand = prepared.tactic->in_place_operand; operand >= 0)
      turns.back().inputs[static_cast<size_t>(operand)] = b->outputs[0];
  }
  const int ring = static_cast<int>(std::lcm(prepared.copies.size(), turns.size()));
  auto enqueue = [turns = std::move(turns), copies = prepared.copies](Stream& stream, int launch) {
    const auto number = static_cast<size_t>(launch);
    const Addresses& at = turns[number % turns.size()];
    return copies[number % copies.size()]->enqueue(stream, {at.inputs, at.outputs, at.workspace});
  };
  TRY(LaunchBatch batch,
      record_batch(s.device, *s.stream, enqueue, ring, kMaxLaunchesABatch / ring + 1));
  CommandList* list = s.lists.emplace_back(std::move(batch.list)).get();
  return Candidate{[measurer, &s, list, launches = batch.launches]() -> Result<double> {
    TRY(const double total, measurer->time_us(*s.stream, *list));
    return total / launches;
  }};
}

}  // namespace enginery
