#include "engine/tactics/shapes/quantized_product.h"

#include <algorithm>

#include "engine/tactics/shapes/quantized_scale.h"

namespace enginery {
namespace {

// Beyond it sums of products of 8 bits may leave 31 bits.
constexpr int64_t kMaxTerms = 65536;

bool is_float_constant(const TensorDesc& desc) {
  return desc.present && desc.constant && desc.type.type == DataType::float32;
}

// The dimension of the weights that counts output channels; nothing for other operators.
std::optional<size_t> axis_of_channels(const Problem& product) {
  if (std::holds_alternative<Convolution>(product.op)) return 0;
  const bool rows = input_dims(product, 0).size() >= 2 && input_dims(product, 1).size() == 2;
  if (rows && std::holds_alternative<MatMul>(product.op)) return 1;
  const bool matrices = rows && input_dims(product, 0).size() == 2;
  const auto* gemm = std::get_if<Gemm>(&product.op);
  if (!matrices || !gemm || gemm->transpose_a || gemm->alpha != 1 || gemm->beta != 1) return {};
  return gemm->transpose_b ? 0 : 1;
}

// Whether it makes floats of int8 or uint8 of run time by one scale and one zero point.
bool is_plain_dequantize(const Problem& p) {
  const auto* op = std::get_if<Dequantize>(&p.op);
  const TensorDesc& x = p.inputs[0];
  return op && op->block_size == 0 && is_eight_bits(x.type.type) && !x.constant && !x.value &&
         has_one_scale(p) && one_zero_point(p);
}

Status read_source(const RegionPart& part, QuantizedProduct& out) {
  if (!is_plain_dequantize(part.problem))
    return refusal("it does not begin with int8 or uint8 of one scale and one zero point");
  out.source = part.problem.inputs[0].type.type;
  out.source_scale = part.operands[1];
  out.source_zero = *one_zero_point(part.problem);
  return {};
}

Status read_weights(const RegionPart& part, QuantizedProduct& out) {
  const Problem& p = part.problem;
  const auto* op = std::get_if<Dequantize>(&p.op);
  if (!op || op->block_size != 0 || !p.inputs[0].constant || p.inputs[0].value ||
      p.inputs[0].type.type != DataType::int8 || !is_float_constant(p.inputs[1]) ||
      one_zero_point(p) != 0)
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
    return refusal("its product is no convolution and none of rows with a matrix");
  out.product.inputs[1].constant = true;
  if (part.operands.size() < 3 || part.operands[2] < 0) return {};
  const int bias = part.operands[2];
  const bool fits = bias < first_result && is_float_constant(out.product.inputs[2]) &&
                    volume(input_dims(out.product, 2)) == output_dims(out.product)[1];
  if (!fits) return refusal("its bias is no constant for each channel");
  out.bias = bias;
  return {};
}

// `dequantize`: what makes the addend, result 3 of the region; null where it comes in float.
Status read_addend(const RegionPart& part, const RegionPart* dequantize, int first_result,
                   QuantizedProduct& out) {
  const auto& op = std::get<Binary>(part.problem.op);
  const int product = first_result + 2;
  const int addend = part.operands[0] == product ? part.operands[1] : part.operands[0];
  const size_t at = part.operands[0] == product ? 1 : 0;
  const TensorDesc& desc = part.problem.inputs[at];
  const bool comes_so = dequantize ? addend == product + 1 : addend < first_result;
  const bool fits = op.kind == BinaryKind::add && comes_so && !desc.constant &&
                    desc.type == part.problem.outputs[0].type;
  if (!fits) return refusal("what is done with its sums is no addition of its size");
  out.addend = addend;
  if (!dequantize) return {};
  if (!is_plain_dequantize(dequantize->problem))
    return refusal("its addend has no 8 bits of one scale and one zero point");
  out.addend = dequantize->operands[0];
  out.addend_scale = dequantize->operands[1];
  out.addend_type = dequantize->problem.inputs[0].type.type;
  out.addend_zero = *one_zero_point(dequantize->problem);
  return {};
}

Status read_result(const RegionPart& part, QuantizedProduct& out) {
  const Problem& p = part.problem;
  const auto* op = std::get_if<Quantize>(&p.op);
  const auto zero = one_zero_point(p);
  if (!op || op->block_size != 0 || !is_eight_bits(op->to) || !has_one_scale(p) || !zero)
    return refusal("its result is not quantised by one scale and one zero point");
  out.result = op->to;
  out.result_zero = *zero;
  out.result_scale = part.operands[1];
  return {};
}

}  // namespace

Result<QuantizedProduct> quantized_product(const Problem& problem) {
  if (!is_region(problem)) return refusal("no region of quantised numbers");
  CHECK_OK(require_elements(problem));
  return quantized_product(operators_of(problem), static_cast<int>(problem.inputs.size()));
}

Result<QuantizedProduct> quantized_product(std::span<const RegionPart> parts, int inputs) {
  if (parts.size() < 3 || !is_one_of<Dequantize>(parts[0].problem))
    return refusal("no region of quantised numbers");
  const int first_result = inputs;
  QuantizedProduct out;
  CHECK_OK(read_source(parts[0], out));
  CHECK_OK(read_product(parts[2], first_result, out));
  CHECK_OK(read_weights(parts[1], out));
  size_t next = 3;
  const auto follows = [&](const RegionPart& part) {
    const int last = first_result + static_cast<int>(next) - 1;
    return std::ranges::find(part.operands, last) != part.operands.end();
  };
  const RegionPart* dequantize = nullptr;
  if (next + 1 < parts.size() && is_one_of<Dequantize>(parts[next].problem))
    dequantize = &parts[next++];
  if (next < parts.size() && is_one_of<Binary>(parts[next].problem) && follows(parts[next])) {
    CHECK_OK(read_addend(parts[next], dequantize, first_result, out));
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
  if (parts.back().problem.outputs[0].type.type != out.result)
    return refusal("a result of another type");
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

std::vector<RegionPattern> quantized_patterns_with_addend(RegionPattern::Operands addend) {
  using Place = RegionPattern::Place;
  const Place source{is_operator<Dequantize>, {}};
  const Place product{is_operator<Convolution, Gemm, MatMul>, {0}};
  const Place sum{is_operator<Binary>, {1}};
  const Place activation{is_operator<Activation>, {2}};
  const Place result{is_operator<Quantize>, {3}};
  std::vector<RegionPattern> out = {{{source, product, sum, activation, result}},
                                    {{source, product, sum, activation}},
                                    {{source, product, sum}}};
  const bool in_float = addend == RegionPattern::Operands::in_float;
  // Without an activation, too: uint8 of zero point 0 are what a relu leaves.
  if (!in_float)
    out = {{{source, product, sum, activation, result}},
           {{source, product, sum, {result.fits, {2}}}}};
  for (RegionPattern& pattern : out) pattern.operands = addend;
  return out;
}

bool is_symmetric(const QuantizedProduct& q) {
  return q.source_zero == 0 && q.result_zero == 0 && q.addend_zero == 0;
}

QuantizedScales quantized_scales(const QuantizedProduct& product, Weights weights) {
  QuantizedScales out{std::vector<float>(static_cast<size_t>(product.channels), 1), 1, 1};
  if (weights.empty()) return out;
  const auto scale = [&](int input) { return weights[static_cast<size_t>(input)]->data<float>(); };
  const auto of_weights = scale(product.weight_scale);
  for (size_t k = 0; k < out.sums.size(); ++k)
    out.sums[k] = scale(product.source_scale)[0] * of_weights[of_weights.size() == 1 ? 0 : k];
  if (product.result_scale >= 0) out.result = scale(product.result_scale)[0];
  if (product.addend_scale >= 0) out.addend = scale(product.addend_scale)[0];
  return out;
}

}  // namespace enginery
