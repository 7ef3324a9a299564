#include "engine/tactics/shapes/requantized.h"

#include <algorithm>
#include <cmath>

#include "engine/tactics/shapes/quantized_scale.h"

namespace enginery {
namespace {

Status read_sum(const RegionPart& part, int first_result, const std::vector<RegionPart>& parts,
                Requantized& out) {
  const auto* op = std::get_if<Binary>(&part.problem.op);
  std::vector<int> operands = part.operands;
  std::ranges::sort(operands);
  if (!op || op->kind != BinaryKind::add ||
      operands != std::vector<int>{first_result, first_result + 1} ||
      input_dims(part.problem, 0) != input_dims(part.problem, 1))
    return refusal("no sum of its two operands");
  TRY(out.z, dequantized_operand(parts[1]));
  return {};
}

// Which of the operator's operands, the other one being the result before, has one constant number
// for each channel, dimension 1; -1: none.
int channel_constant(const RegionPart& part, int result_before) {
  const Dims& dims = output_dims(part.problem);
  for (const size_t i : {size_t{0}, size_t{1}}) {
    const TensorDesc& d = part.problem.inputs[i];
    const Dims& own = d.type.dims;
    if (part.operands[1 - i] != result_before || !d.constant || own.size() > dims.size() ||
        d.type.type != DataType::float32 || dims.size() < 2 || volume(own) != dims[1])
      continue;
    const size_t missing = dims.size() - own.size();
    if (missing <= 1 && own[1 - missing] == dims[1]) return part.operands[i];
  }
  return -1;
}

// The multiplication and the addition of a batch normalisation.
Status read_normalization(const std::vector<RegionPart>& parts, int first_result,
                          Requantized& out) {
  out.factors = channel_constant(parts[1], first_result);
  out.shifts = channel_constant(parts[2], first_result + 1);
  if (out.factors < 0 || out.shifts < 0) return refusal("no factor and addend for each channel");
  return {};
}

bool is_bound(const Op& op) {
  const auto* a = std::get_if<Activation>(&op);
  return a && (a->kind == ActivationKind::relu || a->kind == ActivationKind::clip);
}

template <BinaryKind kKind>
bool is_binary(const Op& op) {
  const auto* binary = std::get_if<Binary>(&op);
  return binary && binary->kind == kKind;
}

}  // namespace

Result<QuantizedOperand> dequantized_operand(const RegionPart& part) {
  const auto* op = std::get_if<Dequantize>(&part.problem.op);
  const TensorDesc& x = part.problem.inputs[0];
  const auto zero = one_zero_point(part.problem);
  if (!op || op->block_size != 0 || !is_eight_bits(x.type.type) || x.constant || x.value || !zero ||
      !has_one_scale(part.problem) || part.problem.outputs[0].type.type != DataType::float32)
    return refusal("no operand of 8 bits with one scale");
  return QuantizedOperand{x.type.type, part.operands[0], part.operands[1],
                          static_cast<float>(*zero)};
}

float scale_of(const QuantizedOperand& operand, Weights weights) {
  return weights[static_cast<size_t>(operand.scale)]->data<float>()[0];
}

Result<QuantizedOperand> quantized_result(const RegionPart& part) {
  const auto* op = std::get_if<Quantize>(&part.problem.op);
  const auto zero = one_zero_point(part.problem);
  if (!op || op->block_size != 0 || !is_eight_bits(op->to) || !zero || !has_one_scale(part.problem))
    return refusal("no result of 8 bits with one scale");
  return QuantizedOperand{op->to, -1, part.operands[1], static_cast<float>(*zero)};
}

std::vector<RegionPattern> requantized_patterns() {
  using Place = RegionPattern::Place;
  const Place source{is_operator<Dequantize>, {}};
  const auto sum = [](size_t reads = 0) { return Place{is_binary<BinaryKind::add>, {reads}}; };
  const Place scaled{is_binary<BinaryKind::mul>, {0}};
  const auto bound = [](size_t reads) { return Place{is_bound, {reads}}; };
  const auto result = [](size_t reads) { return Place{is_operator<Quantize>, {reads}}; };
  return {{{source, sum(), bound(1), result(2)}, RegionPattern::Operands::dequantized},
          {{source, sum(), result(1)}, RegionPattern::Operands::dequantized},
          {{source, scaled, sum(1), bound(2), result(3)}},
          {{source, scaled, sum(1), result(2)}},
          {{source, bound(0), result(1)}},
          {{source, result(0)}}};
}

Result<Requantized> requantized(const Problem& problem) {
  const std::vector<RegionPart> parts = operators_of(problem);
  if (!is_region(problem) || parts.size() < 2) return refusal("no region of quantised numbers");
  CHECK_OK(require_elements(problem));
  const int first_result = static_cast<int>(problem.inputs.size());
  Requantized out;
  TRY(out.x, dequantized_operand(parts[0]));
  size_t next = 1;
  if (std::holds_alternative<Dequantize>(parts[1].problem.op)) {
    if (parts.size() < 4) return refusal("no region of quantised numbers");
    CHECK_OK(read_sum(parts[2], first_result, parts, out));
    next = 3;
  } else if (is_binary<BinaryKind::mul>(parts[1].problem.op)) {
    if (parts.size() < 4 || !is_binary<BinaryKind::add>(parts[2].problem.op))
      return refusal("no batch normalisation");
    CHECK_OK(read_normalization(parts, first_result, out));
    next = 3;
  }
  const auto follows = [&](const RegionPart& part) {
    return part.operands[0] == first_result + static_cast<int>(next) - 1;
  };
  if (is_bound(parts[next].problem.op) && follows(parts[next])) {
    out.bounds = std::get<Activation>(parts[next].problem.op);
    ++next;
  }
  if (next + 1 != parts.size() || !follows(parts[next])) return refusal("other operators");
  TRY(out.result, quantized_result(parts[next]));
  return out;
}

std::pair<float, float> bounds_of(DataType type) {
  const bool negative = type == DataType::int8;
  return {negative ? -128.0f : 0.0f, negative ? 127.0f : 255.0f};
}

std::pair<float, float> requantized_bounds(const Requantized& region, float scale) {
  const float zero = region.result.zero;
  auto [low, high] = bounds_of(region.result.type);
  if (!region.bounds) return {low, high};
  const float least = low, most = high;
  const auto number = [&](float real) {
    return std::clamp(std::nearbyint(real / scale) + zero, least, most);
  };
  const bool relu = region.bounds->kind == ActivationKind::relu;
  low = number(relu ? 0.0f : region.bounds->alpha);
  if (!relu) high = number(region.bounds->beta);
  return {low, high};
}

}  // namespace enginery
