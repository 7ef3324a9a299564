#include "engine/tactics/shapes/quantized_product.h"

#include <algorithm>

#include "engine/tactics/shapes/reading.h"

namespace enginery {
namespace {

// Beyond it sums of products of 8 bits may leave 31 bits.
constexpr int64_t kMaxTerms = 65536;

bool is_float_constant(const TensorDesc& desc) {
  return desc.present && desc.constant && desc.type.type == DataType::float32;
}

// Whether the operand `at` of a part is absent, or known to be 0 throughout.
bool is_no_offset(const Problem& part, size_t at) {
  if (at >= part.inputs.size() || !part.inputs[at].present) return true;
  const auto& value = part.inputs[at].value;
  if (!value) return false;
  const std::vector<int64_t> offsets = to_int64s(*value);
  return std::ranges::all_of(offsets, [](int64_t v) { return v == 0; });
}

// One scale of a tensor without a zero point.
bool is_plain_scale(const Problem& part) {
  return is_float_constant(part.inputs[1]) && volume(input_dims(part, 1)) == 1 &&
         is_no_offset(part, 2);
}

// The dimension of the weights that counts output channels; nothing for other operators.
std::optional<size_t> axis_of_channels(const Problem& product) {
  if (std::holds_alternative<Convolution>(product.op)) return 0;
  const bool matrices = input_dims(product, 0).size() == 2 && input_dims(product, 1).size() == 2;
  if (matrices && std::holds_alternative<MatMul>(product.op)) return 1;
  const auto* gemm = std::get_if<Gemm>(&product.op);
  if (!matrices || !gemm || gemm->transpose_a || gemm->alpha != 1 || gemm->beta != 1) return {};
  return gemm->transpose_b ? 0 : 1;
}

Status read_source(const RegionPart& part, QuantizedProduct& out) {
  const Problem& p = part.problem;
  const auto* op = std::get_if<Dequantize>(&p.op);
  const TensorDesc& x = p.inputs[0];
  if (!op || op->block_size != 0 || !is_eight_bits(x.type.type) || x.constant || x.value ||
      !is_plain_scale(p))
    return refusal("it does not begin with int8 or uint8 of one scale and no zero point");
  out.source = x.type.type;
  out.source_scale = part.operands[1];
  return {};
}

Status read_weights(const RegionPart& part, QuantizedProduct& out) {
  const Problem& p = part.problem;
  const auto* op = std::get_if<Dequantize>(&p.op);
  if (!op || op->block_size != 0 || !p.inputs[0].constant || p.inputs[0].value ||
      p.inputs[0].type.type != DataType::int8 || !is_float_constant(p.inputs[1]) ||
      !is_no_offset(p, 2))
    return refusal("its weights are no int8 without a zero point");
  const auto axis = axis_of_channels(out.product);
  const Dims& dims = input_dims(p, 0);
  out.channels = dims[*axis];
  const int64_t scales = volume(input_dims(p, 1));
  const bool by_channel =
      scales == out.channels && wrapped(op->axis, dims.size()) == static_cast<int64_t>(*axis);
  if (scales != 1 && !by_channel) return refusal("its weights have no scale for each channel");
  if (volume(dims) / std::max<int64_t>(out.channels, 1) > kMaxTerms)
    return refusal("its sums could leave 32 bits");
  out.weights = part.operands[0];
  out.weight_scale = part.operands[1];
  return {};
}

Status read_product(const RegionPart& part, int first_result, QuantizedProduct& out) {
  out.product = part.problem;
  if (part.operands.size() < 2 || part.operands[0] != first_result ||
      part.operands[1] != first_result + 1)
    return refusal("its product reads other numbers");
  if (!axis_of_channels(out.product))
    return refusal("its product is no convolution and none of two matrices");
  out.product.inputs[1].constant = true;
  if (part.operands.size() < 3 || part.operands[2] < 0) return {};
  const int bias = part.operands[2];
  const bool fits = bias < first_result && is_float_constant(out.product.inputs[2]) &&
                    volume(input_dims(out.product, 2)) == output_dims(out.product)[1];
  if (!fits) return refusal("its bias is no constant for each channel");
  out.bias = bias;
  return {};
}

Status read_addend(const RegionPart& part, int first_result, QuantizedProduct& out) {
  const auto& op = std::get<Binary>(part.problem.op);
  const int product = first_result + 2;
  const int addend = part.operands[0] == product ? part.operands[1] : part.operands[0];
  const size_t at = part.operands[0] == product ? 1 : 0;
  const TensorDesc& desc = part.problem.inputs[at];
  const bool fits = op.kind == BinaryKind::add && addend < first_result && !desc.constant &&
                    desc.type == part.problem.outputs[0].type;
  if (!fits) return refusal("what is done with its sums is no addition of its size");
  out.addend = addend;
  return {};
}

Status read_result(const RegionPart& part, QuantizedProduct& out) {
  const Problem& p = part.problem;
  const auto* op = std::get_if<Quantize>(&p.op);
  if (!op || op->block_size != 0 || !is_eight_bits(op->to) || !is_plain_scale(p))
    return refusal("its result is not quantised by one scale without a zero point");
  out.result = op->to;
  out.result_scale = part.operands[1];
  return {};
}

}  // namespace

Result<QuantizedProduct> quantized_product(const Problem& problem) {
  const std::vector<RegionPart> parts = operators_of(problem);
  if (!is_region(problem) || parts.size() < 3 || !std::get_if<Dequantize>(&problem.op))
    return refusal("no region of quantised numbers");
  CHECK_OK(require_elements(problem));
  const int first_result = static_cast<int>(problem.inputs.size());
  QuantizedProduct out;
  CHECK_OK(read_source(parts[0], out));
  CHECK_OK(read_product(parts[2], first_result, out));
  CHECK_OK(read_weights(parts[1], out));
  size_t next = 3;
  const auto follows = [&](const RegionPart& part) {
    const int last = first_result + static_cast<int>(next) - 1;
    return std::ranges::find(part.operands, last) != part.operands.end();
  };
  if (next < parts.size() && is_one_of<Binary>(parts[next].problem) && follows(parts[next])) {
    CHECK_OK(read_addend(parts[next], first_result, out));
    ++next;
  }
  if (next < parts.size() && follows(parts[next])) {
    if (const auto* activation = std::get_if<Activation>(&parts[next].problem.op)) {
      out.activation = *activation;
      ++next;
    }
  }
  if (next < parts.size() && follows(parts[next])) {
    CHECK_OK(read_result(parts[next], out));
    ++next;
  }
  if (next < parts.size()) return refusal("operators behind a quantised product");
  if (problem.outputs[0].type.type != out.result) return refusal("a result of another type");
  return out;
}

std::vector<RegionPattern> quantized_patterns() {
  using Place = RegionPattern::Place;
  const Place source{is_operator<Dequantize>, {}};
  const Place product{is_operator<Convolution, Gemm, MatMul>, {0}};
  const Place activation{is_operator<Activation>, {1}};
  const auto result = [](size_t reads) { return Place{is_operator<Quantize>, {reads}}; };
  return {{{source, product, activation, result(2)}},
          {{source, product, activation}},
          {{source, product, result(1)}},
          {{source, product}}};
}

std::vector<RegionPattern> quantized_patterns_with_addend() {
  using Place = RegionPattern::Place;
  const Place source{is_operator<Dequantize>, {}};
  const Place product{is_operator<Convolution, Gemm, MatMul>, {0}};
  const Place sum{is_operator<Binary>, {1}};
  const Place activation{is_operator<Activation>, {2}};
  const Place result{is_operator<Quantize>, {3}};
  return {{{source, product, sum, activation, result}},
          {{source, product, sum, activation}},
          {{source, product, sum}}};
}

QuantizedScales quantized_scales(const QuantizedProduct& product, Weights weights) {
  QuantizedScales out{std::vector<float>(static_cast<size_t>(product.channels), 1), 1};
  if (weights.empty()) return out;
  const auto scale = [&](int input) { return weights[static_cast<size_t>(input)]->data<float>(); };
  const auto of_weights = scale(product.weight_scale);
  for (size_t k = 0; k < out.sums.size(); ++k)
    out.sums[k] = scale(product.source_scale)[0] * of_weights[of_weights.size() == 1 ? 0 : k];
  if (product.result_scale >= 0) out.result = scale(product.result_scale)[0];
  return out;
}

}  // namespace enginery
