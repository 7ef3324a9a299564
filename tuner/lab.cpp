#include "tuner/lab.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "engine/device/format_convert.h"
#include "tuner/random_data.h"
#include "tuner/sampled_reference.h"

namespace enginery {
namespace {

constexpr int64_t kRedZoneBytes = 256;
constexpr uint8_t kRedZoneByte = 0xa5;
constexpr int64_t kCheckedElements = 4096;
constexpr int64_t kLeastRingWeights = 256 << 10;  // smaller weights stay in the inner caches whatever runs between
constexpr int64_t kMostRingCopies = 8;
constexpr int kMostLaunchesAUnit = 2000;

// Device memory with red zones on both sides.
struct Guarded {
  DeviceMemory memory;
  int64_t bytes = 0;
  void* data() const { return static_cast<char*>(memory.data()) + kRedZoneBytes; }
};

int64_t weight_bytes(const Problem& problem) {
  int64_t bytes = 0;
  for (const TensorDesc& d : problem.inputs) bytes += d.constant ? bytes_of(d.type) : 0;
  return bytes;
}

Error wrong(const std::string& reason) {
  return {ErrorCode::internal, reason};
}

}  // namespace

double error_bar(Precision compute) {
  switch (compute) {
    case Precision::fp32: return 5e-4;  // Winograd's transforms cost a digit; direct sums stay near 1e-6
    case Precision::tf32:
    case Precision::fp16: return 1e-2;
    case Precision::bf16:
    case Precision::int8: return 5e-2;
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
  std::map<std::pair<size_t, Format>, DeviceMemory> placed;
  std::vector<int64_t> elements;
  std::optional<std::vector<double>> expected;
  std::vector<std::unique_ptr<Sequence>> sequences;  // borrowed by lanes
  struct Buffers {
    std::vector<const void*> inputs;
    std::vector<void*> outputs;
    std::vector<Guarded> owned;
    Guarded workspace;
  };
  std::vector<std::unique_ptr<Buffers>> buffers;

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
    return {};
  }

  // Host bytes to the device, waiting for the copy.
  Status upload(void* to, const void* from, int64_t bytes) {
    CHECK_OK(device.copy(*stream, to, from, static_cast<size_t>(bytes), CopyKind::to_device));
    return stream->synchronize();
  }

  Result<const void*> input_in(size_t index, const Format& format) {
    auto found = placed.find({index, format});
    if (found != placed.end()) return static_cast<const void*>(found->second.data());
    int64_t bytes = std::max<int64_t>(physical_bytes(inputs[index].dims(), format), 1);
    std::vector<char> host(static_cast<size_t>(bytes));
    to_physical(inputs[index], format, host.data());
    TRY(DeviceMemory memory, device.allocate(host.size()));
    CHECK_OK(upload(memory.data(), host.data(), bytes));
    return static_cast<const void*>(placed.emplace(std::pair(index, format), memory).first->second.data());
  }

  // Red zones around bytes that hold NaN in every floating format.
  Result<Guarded> guarded(int64_t bytes) {
    Guarded out{{}, bytes};
    std::vector<uint8_t> host(static_cast<size_t>(bytes + 2 * kRedZoneBytes), kRedZoneByte);
    std::fill_n(host.begin() + kRedZoneBytes, bytes, 0xff);
    TRY(out.memory, device.allocate(host.size()));
    CHECK_OK(upload(out.memory.data(), host.data(), static_cast<int64_t>(host.size())));
    return out;
  }

  Result<std::vector<uint8_t>> download(const Guarded& guarded) {
    std::vector<uint8_t> host(static_cast<size_t>(guarded.bytes + 2 * kRedZoneBytes));
    CHECK_OK(device.copy(*stream, host.data(), guarded.memory.data(), host.size(), CopyKind::to_host));
    CHECK_OK(stream->synchronize());
    auto intact = [&](size_t from) {
      return std::all_of(host.begin() + static_cast<std::ptrdiff_t>(from),
                         host.begin() + static_cast<std::ptrdiff_t>(from) + kRedZoneBytes,
                         [](uint8_t b) { return b == kRedZoneByte; });
    };
    if (!intact(0) || !intact(host.size() - kRedZoneBytes)) return wrong("wrote outside its buffer (red zone)");
    host.erase(host.begin(), host.begin() + kRedZoneBytes);
    host.resize(static_cast<size_t>(guarded.bytes));
    return host;
  }

  // Inputs in the tactic's formats, fresh outputs; an in-place operand shares the output's memory, as it will in an engine.
  Result<Buffers*> set_up(const LabCandidate& candidate) {
    const Tactic& tactic = *candidate.tactic;
    auto out = std::make_unique<Buffers>();
    for (size_t i = 0; i < inputs.size(); ++i) {
      bool fed = problem.inputs[i].present && !problem.inputs[i].constant;
      out->inputs.push_back(nullptr);
      if (fed) {
        TRY(out->inputs.back(), input_in(i, tactic.inputs[i]));
      }
    }
    for (size_t i = 0; i < problem.outputs.size(); ++i) {
      int64_t bytes = std::max<int64_t>(physical_bytes(problem.outputs[i].type.dims, tactic.outputs[i]), 1);
      TRY(Guarded output, guarded(bytes));
      out->outputs.push_back(output.data());
      out->owned.push_back(std::move(output));
    }
    if (tactic.in_place_operand >= 0) {
      size_t operand = static_cast<size_t>(tactic.in_place_operand);
      CHECK_OK(device.copy(*stream, out->outputs[0], out->inputs[operand], static_cast<size_t>(out->owned[0].bytes), CopyKind::on_device));
      out->inputs[operand] = out->outputs[0];
    }
    TRY(out->workspace, guarded(std::max<int64_t>({tactic.workspace_bytes, candidate.copies[0]->workspace_bytes(), 1})));
    return buffers.emplace_back(std::move(out)).get();
  }
};

Lab::Lab(std::unique_ptr<State> state) : state_(std::move(state)) {}
Lab::~Lab() = default;

Result<std::unique_ptr<Lab>> Lab::make(const Problem& problem, Device& device, uint64_t seed) {
  auto state = std::make_unique<State>(problem, device, seed);
  CHECK_OK(state->make_inputs());
  return std::unique_ptr<Lab>(new Lab(std::move(state)));
}

Result<LabCandidate> Lab::prepare(const TacticSource& source, const Tactic& tactic) const {
  LabCandidate out{&tactic, {}};
  int64_t bytes = weight_bytes(state_->problem);
  int64_t cache = std::max<int64_t>(state_->device.info().cache_bytes, 1);
  int64_t copies = bytes < kLeastRingWeights ? 1 : std::clamp<int64_t>(cache / bytes + 1, 2, kMostRingCopies);
  for (int64_t i = 0; i < copies; ++i) {
    TRY(out.copies.emplace_back(), source.prepare(state_->problem, tactic, state_->weights));
  }
  return out;
}

Result<double> Lab::check(const LabCandidate& candidate) {
  State& s = *state_;
  const Tactic& tactic = *candidate.tactic;
  TRY(State::Buffers* b, s.set_up(candidate));
  CHECK_OK(candidate.copies[0]->enqueue(*s.stream, {b->inputs, b->outputs, b->workspace.data()}));
  CHECK_OK(s.stream->synchronize());
  TRY(auto bytes, s.download(b->owned[0]));
  auto workspace = s.download(b->workspace);
  if (!workspace) return workspace.error().within("workspace");
  if (!s.expected) {
    TRY(s.expected, sampled_reference(s.problem, s.values, s.elements));
  }
  const Dims& dims = s.problem.outputs[0].type.dims;
  Tensor result = convert(from_physical(bytes.data(), dims, tactic.outputs[0]), DataType::float64);
  double difference = 0, largest = 0;
  for (size_t i = 0; i < s.elements.size(); ++i) {
    double y = result.data<double>()[static_cast<size_t>(s.elements[i])], r = (*s.expected)[i];
    if (y == r || (std::isnan(y) && std::isnan(r))) {
      largest = std::isfinite(r) ? std::max(largest, std::abs(r)) : largest;
      continue;
    }
    double d = std::abs(y - r);
    if (!std::isfinite(d)) return wrong("an output element is " + std::to_string(y) + ", expected " + std::to_string(r));
    difference = std::max(difference, d);
    largest = std::max(largest, std::abs(r));
  }
  double error = largest > 0 ? difference / largest : difference;
  if (error > error_bar(tactic.compute)) {
    return wrong("relative error " + std::to_string(error) + " is above " + std::to_string(error_bar(tactic.compute)));
  }
  return error;
}

Result<Lane> Lab::lane(const LabCandidate& candidate) {
  State& s = *state_;
  Measurer* measurer = s.device.measurer();
  if (!measurer) return Error{ErrorCode::unsupported, "this device cannot measure"};
  TRY(State::Buffers* b, s.set_up(candidate));
  auto record = [&](int launches) {
    return s.device.record(*s.stream, [&s, b, copies = candidate.copies, launches](Stream& stream) -> Status {
      for (int i = 0; i < launches; ++i) {
        const PreparedTactic& copy = *copies[static_cast<size_t>(i) % copies.size()];
        CHECK_OK(copy.enqueue(stream, {b->inputs, b->outputs, b->workspace.data()}));
      }
      return {};
    });
  };
  int ring = static_cast<int>(candidate.copies.size());
  TRY(auto once, record(ring));
  TRY([[maybe_unused]] double warm_up, measurer->time_us(*s.stream, *once));
  TRY(double us, measurer->time_us(*s.stream, *once));
  // Whole turns of the ring, as many as fill the shortest unit that the instrument resolves.
  int turns = std::clamp(static_cast<int>(std::ceil(measurer->least_unit_us() / std::max(us, 0.1))), 1, kMostLaunchesAUnit / ring + 1);
  if (turns > 1) {
    TRY(once, record(turns * ring));
  }
  Sequence* sequence = s.sequences.emplace_back(std::move(once)).get();
  int launches = turns * ring;
  return Lane{[measurer, &s, sequence, launches]() -> Result<double> {
    TRY(double total, measurer->time_us(*s.stream, *sequence));
    return total / launches;
  }};
}

}  // namespace enginery
