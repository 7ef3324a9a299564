#include "engine/tactics/problem.h"

#include <algorithm>

#include "engine/base/digest.h"
#include "engine/tactics/region.h"

namespace enginery {
namespace {

constexpr int64_t kMaxPrintedElements = 64;

std::string value_text(const Tensor& value) {
  if (value.size() > kMaxPrintedElements) return sha256(value.byte_span()).text();
  if (!is_floating(value.type())) return ints_text(to_int64s(value));
  Tensor floats = convert(value, DataType::float32);
  std::string out;
  for (float f : floats.data<float>()) out += (out.empty() ? "" : ",") + float_text(f);
  return "[" + out + "]";
}

std::string desc_text(const TensorDesc& desc) {
  if (!desc.present) return "_";
  std::string out = (desc.constant ? "w:" : "") + to_string(desc.type);
  if (desc.value) out += "=" + value_text(*desc.value);
  if (desc.pinned) out += "@" + to_string(*desc.pinned);
  return out;
}

std::string op_text(const Op& op) {
  std::string attributes = attributes_text(op);
  return std::string(op_name(op)) + (attributes.empty() ? "" : " " + attributes);
}

std::string step_text(const EpilogueStep& step) {
  switch (step.kind) {
    case EpilogueKind::bias:
      return "bias " + std::to_string(step.operand);
    case EpilogueKind::add:
      return "add " + std::to_string(step.operand);
    case EpilogueKind::multiply:
      return "multiply " + std::to_string(step.operand);
    case EpilogueKind::activation:
      return op_text(step.activation);
  }
  return "?";
}

// Multiplications and additions that one output element of the anchor takes.
double flops_per_element(const Problem& p) {
  auto inner = [&](size_t input, bool last_two_swapped) {
    const Dims& dims = input_dims(p, input);
    if (dims.size() < 2) return static_cast<double>(dims.empty() ? 1 : dims[0]);
    return static_cast<double>(dims[dims.size() - (last_two_swapped ? 2 : 1)]);
  };
  if (std::holds_alternative<Convolution>(p.op)) {
    const Dims& w = input_dims(p, 1);
    return 2.0 * static_cast<double>(volume(w)) / static_cast<double>(w[0]);
  }
  if (std::holds_alternative<MatMul>(p.op)) return 2 * inner(0, false);
  if (auto* gemm = std::get_if<Gemm>(&p.op)) return 2 * inner(0, gemm->transpose_a);
  if (auto* pool = std::get_if<Pooling>(&p.op)) {
    double n = 1;
    for (int64_t k : pool->kernel) n *= static_cast<double>(k);
    return n;
  }
  if (auto* op = std::get_if<Attention>(&p.op))
    return 2 * static_cast<double>(op->keys) *
           (1 + static_cast<double>(op->depth) / static_cast<double>(op->width));
  if (auto* lrn = std::get_if<Lrn>(&p.op)) return 2 * static_cast<double>(lrn->size) + 8;
  return 1;
}

}  // namespace

std::string Problem::key() const {
  std::string out = op_text(op) + " |";
  for (const TensorDesc& desc : inputs) out += " " + desc_text(desc);
  out += " ->";
  for (const TensorDesc& desc : outputs) out += " " + desc_text(desc);
  for (const EpilogueStep& step : epilogue) out += " | " + step_text(step);
  if (!rest.empty()) out += " | region " + std::to_string(anchor_inputs);
  for (const RegionOp& further : rest) out += " | " + region_op_text(further, inputs.size());
  return out;
}

Problem reformat_problem(const TensorType& type, const Format& from, const Format& to) {
  Problem p;
  p.op = Identity{};
  p.anchor_inputs = 1;
  p.inputs.push_back({type});
  p.outputs.push_back({type});
  p.inputs[0].pinned = from;
  p.outputs[0].pinned = to;
  return p;
}

bool is_reformat(const Problem& p) {
  return !is_region(p) && std::holds_alternative<Identity>(p.op) && p.inputs.size() == 1 &&
         p.outputs.size() == 1 && p.inputs[0].pinned && p.outputs[0].pinned;
}

Status require_elements(const Problem& p) {
  for (const auto* descs : {&p.inputs, &p.outputs}) {
    for (const TensorDesc& desc : *descs) {
      if (!desc.present) continue;
      if (!is_static(desc.type.dims))
        return Error{ErrorCode::unsupported, to_string(desc.type) + " has run-time sizes"};
      if (volume(desc.type.dims) == 0) return Error{ErrorCode::unsupported, "an empty tensor"};
    }
  }
  if (p.inputs.empty() || p.outputs.empty())
    return Error{ErrorCode::unsupported, "a node without inputs"};
  return {};
}

Status require_run_time_data(const Problem& p) {
  const auto is_known = [&](size_t input) {
    return p.inputs[input].constant || p.inputs[input].value.has_value();
  };
  if (p.inputs.empty() || !is_known(0)) return {};
  const bool has_second = std::holds_alternative<Binary>(p.op) && p.inputs.size() > 1;
  if (has_second && !is_known(1)) return {};
  return Error{ErrorCode::unsupported, "constants alone"};
}

Status require_safe_division(const Problem& p) {
  const auto* op = std::get_if<Binary>(&p.op);
  const bool divides = op && (op->kind == BinaryKind::div || op->kind == BinaryKind::mod ||
                              op->kind == BinaryKind::fmod);
  if (!divides || is_floating(p.inputs[1].type.type)) return {};
  if (!p.inputs[1].value) return Error{ErrorCode::unsupported, "a divisor that may be zero"};
  const std::vector<int64_t> divisors = to_int64s(*p.inputs[1].value);
  if (std::find(divisors.begin(), divisors.end(), 0) != divisors.end())
    return Error{ErrorCode::unsupported, "a division by zero"};
  return {};
}

bool gives_a_constant(const Problem& p) {
  return is_one_of<Identity>(p) && !is_reformat(p) && (p.inputs[0].constant || p.inputs[0].value);
}

double flop_count(const Problem& p) {
  if (p.outputs.empty()) return 0;
  if (is_region(p)) {
    double sum = 0;
    for (const RegionPart& part : operators_of(p)) sum += flop_count(part.problem);
    return sum;
  }
  double elements = static_cast<double>(volume(p.outputs[0].type.dims));
  if (std::holds_alternative<Deconvolution>(p.op)) {
    const Dims& w = input_dims(p, 1);
    return 2.0 * static_cast<double>(volume(input_dims(p, 0))) * static_cast<double>(volume(w)) /
           static_cast<double>(w[0]);
  }
  double per_element = flops_per_element(p);
  if (std::holds_alternative<GlobalPooling>(p.op) || std::holds_alternative<Reduce>(p.op)) {
    elements = static_cast<double>(volume(input_dims(p, 0)));
  }
  return elements * (per_element + static_cast<double>(p.epilogue.size()));
}

double least_bytes(const Problem& p) {
  double bytes = 0;
  for (const auto* descs : {&p.inputs, &p.outputs}) {
    for (const TensorDesc& desc : *descs) {
      if (desc.present && !desc.value) bytes += static_cast<double>(bytes_of(desc.type));
    }
  }
  return bytes;
}

double share_read(const Problem& p, bool whole_rows) {
  if (is_region(p)) return 1;
  std::vector<int64_t> kernel, strides, dilations;
  if (const auto* conv = std::get_if<Convolution>(&p.op)) {
    const Dims& w = input_dims(p, 1);
    kernel.assign(w.begin() + 2, w.end());
    strides = conv->strides;
    dilations = conv->dilations;
  } else if (const auto* pool = std::get_if<Pooling>(&p.op)) {
    kernel = pool->kernel;
    strides = pool->strides;
    dilations = pool->dilations;
  } else {
    return 1;
  }
  const Dims &x = input_dims(p, 0), &y = p.outputs[0].type.dims;
  double share = 1;
  for (size_t d = 0; d + (whole_rows ? 1 : 0) < kernel.size(); ++d) {
    const bool side_by_side = kernel[d] == 1 || dilations[d] == 1;
    if (!side_by_side || kernel[d] >= strides[d]) continue;
    share *=
        std::min(1.0, static_cast<double>(y[d + 2] * kernel[d]) / static_cast<double>(x[d + 2]));
  }
  return share;
}

}  // namespace enginery
