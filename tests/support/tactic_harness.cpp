#include "tests/support/tactic_harness.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "engine/device/format_convert.h"
#include "engine/tactics/region.h"

namespace enginery {
namespace {

constexpr size_t kRedZone = 1024;
constexpr int kPattern = 0xA5, kPoison = 0xFF;  // 0xFFFFFFFF is a NaN

// How many terms one output element sums: weights are scaled by its root.
double terms_of(const Problem& p) {
  if (std::holds_alternative<Convolution>(p.op) || std::holds_alternative<Deconvolution>(p.op)) {
    const Dims& w = p.inputs[1].type.dims;
    return static_cast<double>(volume(w)) / static_cast<double>(std::max<int64_t>(w[0], 1));
  }
  if (std::holds_alternative<MatMul>(p.op) || std::holds_alternative<Gemm>(p.op)) {
    return static_cast<double>(p.inputs[0].type.dims.back());
  }
  return 1;
}

// Whole numbers from 0 to 3, so that some are equal.
void fill(Tensor& t, std::mt19937_64& random, float low, float high) {
  if (t.type() == DataType::float32) {
    std::uniform_real_distribution<float> values(low, high);
    for (float& x : t.mutable_data<float>()) x = values(random);
    return;
  }
  std::uniform_int_distribution<int> values(0, t.type() == DataType::boolean ? 1 : 3);
  Tensor ints(DataType::int32, t.dims());
  for (int32_t& x : ints.mutable_data<int32_t>()) x = values(random);
  t = convert(ints, t.type());
}

// All numbers of 8 bits.
void fill_bytes(Tensor& t, std::mt19937_64& random) {
  std::uniform_int_distribution<int> values(0, 255);
  auto* bytes = static_cast<uint8_t*>(t.mutable_bytes());
  for (int64_t i = 0; i < t.size(); ++i) bytes[i] = static_cast<uint8_t>(values(random));
}

bool has_whole_range(const Problem& p, DataType type) {
  return (type == DataType::int8 || type == DataType::uint8) && !is_one_of<Binary>(p);
}

// Where a rounding could carry an input over a jump of the function, inputs are values that every
// storage type holds.
bool jumps(const Problem& p) {
  const auto* activation = std::get_if<Activation>(&p.op);
  return activation && activation->kind == ActivationKind::thresholded_relu;
}

// Whether a region quantises the floats that it reads.
bool quantises_first(const Problem& p) {
  return is_region(p) && std::holds_alternative<Quantize>(p.op);
}

// Products of quantised numbers: x, its scale, the weights, their scale, then a bias and the
// result's scale. With these the results spread over 8 bits.
bool is_scale_of_factor(const Problem& p, size_t i) {
  if (quantises_first(p)) {
    const std::vector<RegionPart> parts = operators_of(p);
    return std::ranges::any_of(parts, [&](const RegionPart& part) {
      const bool factor = is_one_of<Dequantize>(part.problem) || &part == &parts[0];
      return factor && part.operands[1] == static_cast<int>(i);
    });
  }
  return is_region(p) && std::holds_alternative<Dequantize>(p.op) && (i == 1 || i == 3);
}

bool positive_input(const Problem& p, size_t i) {
  if (is_region(p) && (std::holds_alternative<Dequantize>(p.op) || quantises_first(p)))
    return p.inputs[i].constant;
  if (std::holds_alternative<BatchNorm>(p.op)) return i == 4;
  // A negative base has a power only where the exponent is whole: rounding decides, in 16 bits.
  if (auto* binary = std::get_if<Binary>(&p.op))
    return binary->kind == BinaryKind::div ? i == 1 : binary->kind == BinaryKind::pow && i == 0;
  if (auto* unary = std::get_if<Unary>(&p.op))
    return unary->kind == UnaryKind::sqrt || unary->kind == UnaryKind::log;
  return false;
}

}  // namespace

void fill_random(const Problem& p, std::mt19937_64& random, ProblemData& data) {
  data = {};
  for (size_t i = 0; i < p.inputs.size(); ++i) {
    const TensorDesc& desc = p.inputs[i];
    Tensor t =
        desc.value ? *desc.value : Tensor(desc.type.type, desc.present ? desc.type.dims : Dims{0});
    bool product = i == 1 && terms_of(p) > 1;
    float scale = product ? static_cast<float>(1.7 / std::sqrt(terms_of(p))) : 1.0f;
    bool positive = positive_input(p, i);
    if (!desc.value && desc.present && is_scale_of_factor(p, i))
      fill(t, random, 0.01f, 0.04f);
    else if (!desc.value && desc.present && has_whole_range(p, t.type()))
      fill_bytes(t, random);
    else if (!desc.value && desc.present)
      fill(t, random, positive ? 0.5f : -scale, positive ? 2.0f : scale);
    if (!desc.value && desc.present && jumps(p))
      t = convert(convert(t, DataType::float16), t.type());
    data.tensors.push_back(std::move(t));
  }
  for (size_t i = 0; i < p.inputs.size(); ++i) {
    data.inputs.push_back(p.inputs[i].present ? &data.tensors[i] : nullptr);
    data.weights.push_back(p.inputs[i].present && p.inputs[i].constant ? &data.tensors[i]
                                                                       : nullptr);
  }
}

void plant_nan(const Problem& p, ProblemData& data) {
  for (size_t i = 0; i < data.tensors.size(); ++i) {
    Tensor& t = data.tensors[i];
    if (!p.inputs[i].present || p.inputs[i].constant || t.type() != DataType::float32 || !t.size())
      continue;
    const size_t at = (i == 0 ? 1 : 3) * static_cast<size_t>(t.size()) / 4;
    t.mutable_data<float>()[at] = std::numeric_limits<float>::quiet_NaN();
  }
}

std::vector<Tactic> pitched_twins(const Problem& problem, const std::vector<Tactic>& tactics,
                                  size_t each) {
  constexpr int64_t kOthers = 24;  // channels beside the tensor's own
  std::vector<Tactic> out;
  size_t writing = 0, reading = 0;
  for (const Tactic& tactic : tactics) {
    if (tactic.writes_pitched) {
      Tactic twin = tactic;
      twin.outputs[0] = with_pitch(tactic.outputs[0], output_dims(problem)[1] + kOthers);
      twin.in_place_operand = -1;
      if (fits_pitch(output_dims(problem), twin.outputs[0]) && writing++ % each == 0)
        out.push_back(std::move(twin));
    }
    if (tactic.reads_pitched) {
      Tactic twin = tactic;
      twin.inputs[0] = with_pitch(tactic.inputs[0], input_dims(problem, 0)[1] + kOthers);
      if (fits_pitch(input_dims(problem, 0), twin.inputs[0]) && reading++ % each == 0)
        out.push_back(std::move(twin));
    }
  }
  return out;
}

void* GuardedMemory::address() const {
  return static_cast<char*>(memory.data()) + kRedZone;
}

Result<GuardedMemory> TacticRun::allocate(size_t bytes) {
  GuardedMemory out;
  out.bytes = bytes;
  TRY(out.memory, device_.allocate(bytes + 2 * kRedZone));
  std::vector<uint8_t> pattern(bytes + 2 * kRedZone, kPattern);
  CHECK_OK(device_.copy(stream_, out.memory.data(), pattern.data(), pattern.size(),
                        CopyKind::to_device));
  CHECK_OK(stream_.synchronize());
  return out;
}

Status TacticRun::check_red_zones(const GuardedMemory& memory, const std::string& what) {
  if (!memory.memory.data()) return {};
  std::vector<uint8_t> bytes(memory.bytes + 2 * kRedZone);
  CHECK_OK(
      device_.copy(stream_, bytes.data(), memory.memory.data(), bytes.size(), CopyKind::to_host));
  CHECK_OK(stream_.synchronize());
  for (size_t i = 0; i < kRedZone; ++i) {
    if (bytes[i] != kPattern)
      return Error{ErrorCode::internal,
                   "wrote " + std::to_string(kRedZone - i) + " bytes before " + what};
    if (bytes[kRedZone + memory.bytes + i] != kPattern)
      return Error{ErrorCode::internal, "wrote " + std::to_string(i + 1) + " bytes after " + what};
  }
  return {};
}

Status TacticRun::check_between_pixels(const std::vector<uint8_t>& bytes, size_t output) const {
  const Format& format = tactic_.outputs[output];
  if (!has_pitch(format)) return {};
  const auto size = static_cast<size_t>(element_bytes(format.type));
  const auto pitch = static_cast<size_t>(format.layout.pitch) * size,
             own = static_cast<size_t>(problem_.outputs[output].type.dims[1]) * size;
  for (size_t i = 0; i < bytes.size(); ++i) {
    if (i % pitch >= own && bytes[i] != kPoison)
      return Error{ErrorCode::internal, "wrote between the pixels of output " +
                                            std::to_string(output) + " at byte " +
                                            std::to_string(i)};
  }
  return {};
}

// As input `i` lies; between the pixels of one with a pitch is what nobody may take for a number.
std::vector<uint8_t> TacticRun::bytes_of_input(size_t i) const {
  const Tensor& tensor = *data_->inputs[i];
  const Format& format = tactic_.inputs[i];
  std::vector<uint8_t> bytes(static_cast<size_t>(physical_bytes(tensor.dims(), format)),
                             has_pitch(format) ? kPoison : 0);
  to_physical(tensor, format, bytes.data());
  return bytes;
}

Status TacticRun::place(size_t i) {
  const std::vector<uint8_t> bytes = bytes_of_input(i);
  CHECK_OK(
      device_.copy(stream_, inputs_[i].address(), bytes.data(), bytes.size(), CopyKind::to_device));
  return stream_.synchronize();
}

Status TacticRun::prepare(const TacticSource& source, const Problem& problem, const Tactic& tactic,
                          const ProblemData& data, OperandPlace operand) {
  problem_ = problem;
  tactic_ = tactic;
  data_ = &data;
  in_place_ = operand == OperandPlace::in_place;
  TRY(prepared_, source.prepare(problem, tactic, data.weights));
  return place_all();
}

Status TacticRun::share(const TacticRun& other, const Problem& problem, const Tactic& tactic,
                        const ProblemData& data) {
  problem_ = problem;
  tactic_ = tactic;
  data_ = &data;
  prepared_ = other.prepared_;
  return place_all();
}

Status TacticRun::take_copy() {
  TRY(auto copy, prepared_->copy());
  if (copy) prepared_ = std::move(copy);
  return {};
}

Status TacticRun::place_all() {
  for (const TensorDesc& desc : problem_.outputs) {
    size_t bytes =
        static_cast<size_t>(physical_bytes(desc.type.dims, tactic_.outputs[outputs_.size()]));
    TRY(GuardedMemory memory, allocate(bytes));
    output_addresses_.push_back(memory.address());
    outputs_.push_back(std::move(memory));
  }
  for (size_t i = 0; i < problem_.inputs.size(); ++i) {
    inputs_.emplace_back();
    input_addresses_.push_back(nullptr);
    if (!problem_.inputs[i].present || problem_.inputs[i].constant) continue;
    if (in_place_ && static_cast<int>(i) == tactic_.in_place_operand) {
      inputs_[i] = outputs_[0];
    } else {
      TRY(inputs_[i], allocate(static_cast<size_t>(
                          physical_bytes(problem_.inputs[i].type.dims, tactic_.inputs[i]))));
    }
    input_addresses_[i] = inputs_[i].address();
  }
  if (prepared_->workspace_bytes() > 0) {
    TRY(workspace_, allocate(static_cast<size_t>(prepared_->workspace_bytes())));
  }
  return poison();
}

Status TacticRun::poison() {
  for (const GuardedMemory& m : outputs_) {
    std::vector<uint8_t> poison(m.bytes, kPoison);
    CHECK_OK(device_.copy(stream_, m.address(), poison.data(), poison.size(), CopyKind::to_device));
    CHECK_OK(stream_.synchronize());
  }
  for (size_t i = 0; i < inputs_.size(); ++i) {
    if (inputs_[i].memory.data()) CHECK_OK(place(i));
  }
  return {};
}

Enqueue TacticRun::enqueue() const {
  return [this](Stream& stream) {
    Arguments arguments{input_addresses_, output_addresses_,
                        workspace_.memory.data() ? workspace_.address() : nullptr};
    return prepared_->enqueue(stream, arguments);
  };
}

Status TacticRun::launch() {
  CHECK_OK(enqueue()(stream_));
  return stream_.synchronize();
}

Result<std::vector<Tensor>> TacticRun::collect() {
  std::vector<Tensor> out;
  for (size_t i = 0; i < outputs_.size(); ++i) {
    std::vector<uint8_t> bytes(outputs_[i].bytes);
    CHECK_OK(device_.copy(stream_, bytes.data(), outputs_[i].address(), bytes.size(),
                          CopyKind::to_host));
    CHECK_OK(stream_.synchronize());
    out.push_back(from_physical(bytes.data(), problem_.outputs[i].type.dims, tactic_.outputs[i]));
    CHECK_OK(check_between_pixels(bytes, i));
    CHECK_OK(check_red_zones(outputs_[i], "output " + std::to_string(i)));
  }
  for (size_t i = 0; i < inputs_.size(); ++i) {
    if (!inputs_[i].memory.data()) continue;
    CHECK_OK(check_red_zones(inputs_[i], "input " + std::to_string(i)));
    if (in_place_ && static_cast<int>(i) == tactic_.in_place_operand) continue;
    std::vector<uint8_t> bytes(inputs_[i].bytes);
    CHECK_OK(
        device_.copy(stream_, bytes.data(), inputs_[i].address(), bytes.size(), CopyKind::to_host));
    CHECK_OK(stream_.synchronize());
    if (bytes != bytes_of_input(i))
      return Error{ErrorCode::internal, "changed input " + std::to_string(i)};
  }
  CHECK_OK(check_red_zones(workspace_, "the workspace"));
  return out;
}

}  // namespace enginery
