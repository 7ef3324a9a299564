#include "engine/tactics/shapes/pooled_conv.h"

#include "engine/tactics/shapes/quantized_scale.h"

namespace enginery {
namespace {

// The operators in front of the pooling: one problem with an epilogue where they are floats'.
Result<Problem> without_pool(const Problem& problem) {
  Problem out = problem;
  out.rest.pop_back();
  out.outputs[0].type = out.inner.back();
  out.inner.pop_back();
  if (!std::holds_alternative<Convolution>(out.op)) return out;
  if (out.rest.empty()) return out;
  const auto* activation = std::get_if<Activation>(&out.rest[0].op);
  if (out.rest.size() > 1 || !activation) return refusal("a pooling behind other operators");
  if (!never_falls(*activation)) return refusal("an activation that falls before a pooling");
  out.epilogue.push_back({EpilogueKind::activation, *activation, -1});
  out.rest.clear();
  out.inner.clear();
  return out;
}

// The region behind its Quantize: its Dequantize is the anchor, with its own inputs in front.
Problem without_quantize(const Problem& problem, std::vector<int>& from) {
  const RegionOp& dequantize = problem.rest.front();
  const int inputs = static_cast<int>(problem.inputs.size());
  Problem out = problem;
  out.op = dequantize.op;
  out.anchor_inputs = static_cast<int>(dequantize.operands.size());
  out.rest.erase(out.rest.begin());
  out.inner.erase(out.inner.begin());
  out.inputs.clear();
  for (const int operand : dequantize.operands) {
    const bool is_input = operand >= 0 && operand < inputs;
    TensorDesc desc = is_input ? problem.inputs[static_cast<size_t>(operand)] : TensorDesc();
    if (operand == inputs) desc.type = problem.inner.front();
    desc.present = operand >= 0;
    out.inputs.push_back(std::move(desc));
    from.push_back(is_input ? operand : -1);
  }
  const int added = static_cast<int>(out.inputs.size());
  out.inputs.insert(out.inputs.end(), problem.inputs.begin(), problem.inputs.end());
  for (int i = 0; i < inputs; ++i) from.push_back(i);
  // Inputs are `added` places later, results one place earlier among results.
  for (RegionOp& op : out.rest) {
    for (int& operand : op.operands) {
      if (operand >= 0) operand += operand < inputs ? added : added - 1;
    }
  }
  return out;
}

// Whether it quantises float32 of run time by one scale and no zero point for the next operator.
bool is_plain_picture(const RegionPart& quantize, const RegionOp& next, int first_result) {
  const Problem& p = quantize.problem;
  const auto* op = std::get_if<Quantize>(&p.op);
  return op && op->block_size == 0 && p.inputs[0].type.type == DataType::float32 &&
         !p.inputs[0].constant && !p.inputs[0].value && has_one_scale(p) &&
         one_zero_point(p) == 0 && std::holds_alternative<Dequantize>(next.op) &&
         next.operands[0] == first_result;
}

}  // namespace

std::vector<RegionPattern> pooled_float_patterns() {
  return {chain_of({is_operator<Convolution>, is_operator<Activation>, is_max_pool}),
          chain_of({is_operator<Convolution>, is_max_pool})};
}

std::vector<RegionPattern> pooled_patterns() {
  using Place = RegionPattern::Place;
  const Place source{is_operator<Dequantize>, {}};
  const Place product{is_operator<Convolution>, {0}};
  const auto act = [](size_t reads) { return Place{is_operator<Activation>, {reads}}; };
  const auto bytes = [](size_t reads) { return Place{is_operator<Quantize>, {reads}}; };
  const auto pool = [](size_t reads) { return Place{is_max_pool, {reads}}; };
  // With the picture's quantisation in front, each place is one later.
  const Place picture{is_operator<Quantize>, {}};
  const Place from_bytes{is_operator<Dequantize>, {0}}, later{is_operator<Convolution>, {1}};
  std::vector<RegionPattern> out{{{picture, from_bytes, later, act(2), bytes(3), pool(4)}},
                                 {{picture, from_bytes, later, bytes(2), pool(3)}},
                                 {{source, product, act(1), bytes(2), pool(3)}},
                                 {{source, product, bytes(1), pool(2)}}};
  const auto floats = pooled_float_patterns();
  out.insert(out.end(), floats.begin(), floats.end());
  return out;
}

bool is_max_pool(const Op& op) {
  const auto* pool = std::get_if<Pooling>(&op);
  return pool && pool->kind == PoolKind::max;
}

bool is_pooled(const Problem& problem) {
  if (!is_region(problem) || !is_max_pool(problem.rest.back().op)) return false;
  const int result = static_cast<int>(problem.inputs.size() + problem.rest.size()) - 1;
  return problem.rest.back().operands[0] == result;
}

bool never_falls(const Activation& a) {
  switch (a.kind) {
    case ActivationKind::relu:
    case ActivationKind::clip:
    case ActivationKind::sigmoid:
    case ActivationKind::tanh:
    case ActivationKind::softplus:
    case ActivationKind::softsign:
      return true;
    case ActivationKind::leaky_relu:
    case ActivationKind::elu:
    case ActivationKind::hard_sigmoid:
    case ActivationKind::thresholded_relu:
      return a.alpha >= 0;
    case ActivationKind::celu:
      return a.alpha > 0;
    case ActivationKind::selu:
      return a.alpha >= 0 && a.beta >= 0;
    default:
      return false;
  }
}

Result<PooledConv> pooled_conv(const Problem& problem) {
  if (!is_pooled(problem)) return refusal("no max pooling at the end of a region");
  CHECK_OK(require_elements(problem));
  PooledConv out;
  out.pool = std::get<Pooling>(problem.rest.back().op);
  if (out.pool.kernel.size() != 2) return refusal("a pooling of another rank");
  if (!std::holds_alternative<Quantize>(problem.op)) {
    TRY(out.conv, without_pool(problem));
    return out;
  }
  const std::vector<RegionPart> parts = operators_of(problem);
  const int first_result = static_cast<int>(problem.inputs.size());
  if (!is_plain_picture(parts[0], problem.rest[0], first_result))
    return refusal("a picture that is not quantised by one scale and no zero point");
  out.quantize = parts[0].problem;
  TRY(out.conv, without_pool(without_quantize(problem, out.from)));
  return out;
}

}  // namespace enginery
