#include "tuner/lab.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>
#include <tuple>

#include "engine/device/format_convert.h"
#include "engine/device/timed_unit.h"
#include "tuner/random_data.h"
#include "tuner/sampled_reference.h"

namespace enginery {
namespace {

constexpr int64_t kRedZoneBytes = 256;
constexpr uint8_t kRedZoneByte = 0xa5;
constexpr int64_t kCheckedElements = 4096;
constexpr int64_t kMinRingWeights =
    256 << 10;  // smaller weights stay in the inner caches whatever runs between
constexpr int64_t kMaxRingCopies = 8;
constexpr int kMaxSmallCopies = 4;        // of smaller ones, for the sake of where they lie
constexpr int64_t kPlaceStep = 37 * 256;  // so much further within its allocation lies a buffer in
                                          // the next place: pages begin alike
constexpr int64_t kMaxPlacedWorkspace = 1 << 20;  // larger ones lie in one place
constexpr int kMaxLaunchesAUnit = 2000;

// An upper bound of what a tensor takes in any format: its widest type, its channels padded to the
// widest block.
int64_t most_bytes(const TensorType& type) {
  const Format widest{element_bytes(type.type) > 4 ? type.type : DataType::float32,
                      {LayoutKind::blocked, 16}};
  return std::max<int64_t>({physical_bytes(type.dims, widest), bytes_of(type), 1});
}

int64_t weight_bytes(const Problem& problem) {
  int64_t bytes = 0;
  for (const TensorDesc& d : problem.inputs) bytes += d.constant ? bytes_of(d.type) : 0;
  return bytes;
}

// What a launch reads and writes beside weights, at most.
int64_t activation_bytes(const Problem& problem) {
  int64_t bytes = 0;
  for (const TensorDesc& d : problem.inputs)
    bytes += d.present && !d.constant ? most_bytes(d.type) : 0;
  for (const TensorDesc& d : problem.outputs) bytes += most_bytes(d.type);
  return bytes;
}

// At most so many: places and copies of weights in turn make as many launches as the larger of the
// two.
int power_of_two(int64_t count) {
  return static_cast<int>(std::bit_floor(static_cast<uint64_t>(count)));
}

Error wrong(const std::string& reason) {
  return {ErrorCode::internal, reason};
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

struct Lab::State {
  Problem problem;
  Device& device;
  uint64_t seed;
  std::unique_ptr<Stream> stream;
  std::vector<Tensor> inputs;
  std::vector<const Tensor*> weights, values;  // constants only; everything present
  int places = 1;  // of inputs, outputs and small workspaces: launches take them in turn
  std::map<std::tuple<size_t, Format, int>, DeviceMemory> placed;  // by input, format, place
  std::vector<int64_t> elements;
  std::optional<std::vector<double>> expected;
  std::vector<std::unique_ptr<CommandList>> sequences;  // borrowed by lanes
  // Shared by all candidates, which run one at a time: outputs by index and place; the largest
  // workspace so far by place.
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
  // Where one candidate reads and writes, in one place.
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
      places = power_of_two(std::clamp<int64_t>(room, 1, measurer->placements()));
    }
    return {};
  }

  // Host bytes to the device, waiting for the copy.
  Status upload(void* to, const void* from, int64_t bytes) {
    CHECK_OK(device.copy(*stream, to, from, static_cast<size_t>(bytes), CopyKind::to_device));
    return stream->synchronize();
  }

  Result<const void*> input_in(size_t index, const Format& format, int place) {
    auto found = placed.find({index, format, place});
    const int64_t offset = place * kPlaceStep;
    if (found == placed.end()) {
      int64_t bytes = std::max<int64_t>(physical_bytes(inputs[index].dims(), format), 1);
      TRY(DeviceMemory memory, device.allocate(static_cast<size_t>(bytes + offset)));
      char* to = static_cast<char*>(memory.data()) + offset;
      if (place == 0) {
        std::vector<char> host(static_cast<size_t>(bytes));
        to_physical(inputs[index], format, host.data());
        CHECK_OK(upload(to, host.data(), bytes));
      } else {  // converting is slow: once is enough
        TRY(const void* first, input_in(index, format, 0));
        CHECK_OK(device.copy(*stream, to, first, static_cast<size_t>(bytes), CopyKind::on_device));
      }
      found = placed.emplace(std::tuple(index, format, place), std::move(memory)).first;
    }
    return static_cast<const void*>(static_cast<const char*>(found->second.data()) + offset);
  }

  Result<DeviceMemory> output_memory(size_t index, int place) {
    auto found = outputs.find({index, place});
    if (found != outputs.end()) return found->second;
    TRY(DeviceMemory memory, allocate_guarded(most_bytes(problem.outputs[index].type), place));
    return outputs.emplace(std::pair(index, place), memory).first->second;
  }

  Result<DeviceMemory> workspace_memory(int64_t bytes, int place) {
    DeviceMemory& largest = workspaces[place];
    if (guarded_bytes(bytes, place) > largest.bytes()) {
      TRY(largest, allocate_guarded(bytes, place));
    }
    return largest;
  }

  static size_t guarded_bytes(int64_t bytes, int place) {
    return static_cast<size_t>(bytes + 2 * kRedZoneBytes + place * kPlaceStep);
  }

  Result<DeviceMemory> allocate_guarded(int64_t bytes, int place) {
    return device.allocate(guarded_bytes(bytes, place));
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

  Status check_red_zones(const Guarded& g) {
    for (const void* zone :
         {static_cast<const void*>(g.begin()), static_cast<const void*>(g.end())}) {
      TRY(auto bytes, download(zone, kRedZoneBytes));
      bool intact =
          std::all_of(bytes.begin(), bytes.end(), [](uint8_t b) { return b == kRedZoneByte; });
      if (!intact) return wrong("wrote outside its buffer (red zone)");
    }
    return {};
  }

  // Inputs in the tactic's formats; an in-place operand shares the output's memory, as it will in
  // an engine.
  Result<Buffers*> buffers_of(const LabCandidate& candidate, int place) {
    const Tactic& tactic = *candidate.tactic;
    if (auto known = buffers.find({&tactic, place}); known != buffers.end())
      return known->second.get();
    auto out = std::make_unique<Buffers>();
    for (size_t i = 0; i < inputs.size(); ++i) {
      bool fed = problem.inputs[i].present && !problem.inputs[i].constant;
      out->inputs.push_back(nullptr);
      if (fed) {
        TRY(out->inputs.back(), input_in(i, tactic.inputs[i], place));
      }
    }
    for (size_t i = 0; i < problem.outputs.size(); ++i) {
      const TensorType& type = problem.outputs[i].type;
      TRY(DeviceMemory memory, output_memory(i, place));
      out->guarded.push_back({std::move(memory),
                              std::max<int64_t>(physical_bytes(type.dims, tactic.outputs[i]), 1),
                              place * kPlaceStep});
      out->outputs.push_back(out->guarded.back().data());
    }
    int64_t workspace =
        std::max<int64_t>({tactic.workspace_bytes, candidate.copies[0]->workspace_bytes(), 1});
    if (place > 0 && workspace > kMaxPlacedWorkspace) {
      TRY(const Buffers* first, buffers_of(candidate, 0));
      out->workspace = first->workspace;
    } else {
      TRY(DeviceMemory memory, workspace_memory(workspace, place));
      out->workspace = {std::move(memory), workspace, place * kPlaceStep};
    }
    return buffers.emplace(std::pair(&tactic, place), std::move(out)).first->second.get();
  }

  // Poisoned outputs and workspace, a fresh in-place operand, one launch.
  Status run_once(const LabCandidate& candidate, Buffers& b) {
    for (const Guarded& g : b.guarded) CHECK_OK(poison(g));
    CHECK_OK(poison(b.workspace));
    std::vector<const void*> in = b.inputs;
    if (int operand = candidate.tactic->in_place_operand; operand >= 0) {
      const void*& place = in[static_cast<size_t>(operand)];
      CHECK_OK(device.copy(*stream, b.outputs[0], place, static_cast<size_t>(b.guarded[0].bytes),
                           CopyKind::on_device));
      place = b.outputs[0];
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

Lab::Lab(std::unique_ptr<State> state) : state_(std::move(state)) {}
Lab::~Lab() = default;

Result<std::unique_ptr<Lab>> Lab::make(const Problem& problem, Device& device, uint64_t seed) {
  auto state = std::make_unique<State>(problem, device, seed);
  CHECK_OK(state->make_inputs());
  return std::unique_ptr<Lab>(new Lab(std::move(state)));
}

int Lab::places() const {
  return state_->places;
}

Result<LabCandidate> Lab::prepare(const TacticSource& source, const Tactic& tactic) const {
  LabCandidate out{&tactic, {}};
  int64_t bytes = weight_bytes(state_->problem);
  int64_t cache = std::max<int64_t>(state_->device.info().cache_bytes, 1);
  const int copies =
      bytes < kMinRingWeights
          ? std::min(state_->places, kMaxSmallCopies)
          : power_of_two(std::clamp<int64_t>(2 * (cache / bytes), 2, kMaxRingCopies));
  TRY(out.copies.emplace_back(), source.prepare(state_->problem, tactic, state_->weights));
  for (int i = 1; i < copies; ++i) {
    TRY(auto copy, out.copies[0]->copy());
    if (!copy) {
      TRY(copy, source.prepare(state_->problem, tactic, state_->weights));
    }
    out.copies.push_back(std::move(copy));
  }
  return out;
}

Result<double> Lab::check(const LabCandidate& candidate) {
  State& s = *state_;
  const Tactic& tactic = *candidate.tactic;
  TRY(State::Buffers * b, s.buffers_of(candidate, 0));
  CHECK_OK(s.run_once(candidate, *b));
  for (const State::Guarded& output : b->guarded) CHECK_OK(s.check_red_zones(output));
  auto intact = s.check_red_zones(b->workspace);
  if (!intact.ok()) return intact.error().within("workspace");
  if (!s.expected) {
    TRY(s.expected, sampled_reference(s.problem, s.values, s.elements));
  }
  TRY(Tensor result, s.read_elements(b->guarded[0], tactic.outputs[0]));
  double difference = 0, largest = 0;
  for (size_t i = 0; i < s.elements.size(); ++i) {
    double y = result.data<double>()[i], r = (*s.expected)[i];
    if (y == r || (std::isnan(y) && std::isnan(r))) {
      largest = std::isfinite(r) ? std::max(largest, std::abs(r)) : largest;
      continue;
    }
    double d = std::abs(y - r);
    if (!std::isfinite(d))
      return wrong("an output element is " + std::to_string(y) + ", expected " + std::to_string(r));
    difference = std::max(difference, d);
    largest = std::max(largest, std::abs(r));
  }
  double error = largest > 0 ? difference / largest : difference;
  if (error > error_bar(tactic.compute)) {
    return wrong("relative error " + std::to_string(error) + " is above " +
                 std::to_string(error_bar(tactic.compute)));
  }
  return error;
}

Result<Lane> Lab::lane(const LabCandidate& candidate) {
  State& s = *state_;
  Measurer* measurer = s.device.measurer();
  if (!measurer) return Error{ErrorCode::unsupported, "this device cannot measure"};
  struct Place {
    std::vector<const void*> inputs;
    std::vector<void*> outputs;
    void* workspace;
  };
  std::vector<Place> places;
  for (int place = 0; place < s.places; ++place) {
    TRY(const State::Buffers* b, s.buffers_of(candidate, place));
    places.push_back({b->inputs, b->outputs, b->workspace.data()});
    if (int operand = candidate.tactic->in_place_operand; operand >= 0)
      places.back().inputs[static_cast<size_t>(operand)] = b->outputs[0];
  }
  const int ring = static_cast<int>(std::lcm(candidate.copies.size(), places.size()));
  auto enqueue = [places = std::move(places), copies = candidate.copies](Stream& stream,
                                                                         int launch) {
    const auto turn = static_cast<size_t>(launch);
    const Place& place = places[turn % places.size()];
    return copies[turn % copies.size()]->enqueue(stream,
                                                 {place.inputs, place.outputs, place.workspace});
  };
  TRY(TimedUnit unit,
      record_unit(s.device, *s.stream, enqueue, ring, kMaxLaunchesAUnit / ring + 1));
  CommandList* sequence = s.sequences.emplace_back(std::move(unit.sequence)).get();
  return Lane{[measurer, &s, sequence, launches = unit.launches]() -> Result<double> {
    TRY(double total, measurer->time_us(*s.stream, *sequence));
    return total / launches;
  }};
}

}  // namespace enginery
