#include "engine/tactics/cuda/kernel/quantized_launch.h"

#include <array>

namespace enginery {
namespace {

// The operands of the epilogue, by their slots.
enum QuantizedSlot {
  kSumScales = 0,
  kSumBias = 1,
  kResultFactor = 2,
  kAddend = 3,
  kAddendScale = 4
};

// Whether a positive factor may stand before the activation as well as behind it.
bool keeps_factors(const std::optional<Activation>& activation) {
  return !activation || activation->kind == ActivationKind::relu ||
         activation->kind == ActivationKind::leaky_relu;
}

// Whether the result's scale comes last: behind another activation or an addend of floats.
bool scales_result_late(const QuantizedConv& conv) {
  const QuantizedProduct& q = conv.product;
  const bool adds_floats = q.addend >= 0 && q.addend_scale < 0;
  return is_eight_bits(q.result) && (!keeps_factors(q.activation) || adds_floats);
}

// Whether bytes without a sign are stored, which saturate where relu would cut off.
bool saturates_as_relu(const QuantizedConv& conv) {
  return conv.product.activation->kind == ActivationKind::relu &&
         conv.product.result == DataType::uint8;
}

// What the sums are divided by: an addend of 8 bits is added to them as it is; nothing where the
// result's scale comes late.
double sum_unit(const QuantizedConv& conv, const QuantizedScales& scales) {
  if (conv.product.addend_scale >= 0) return static_cast<double>(scales.addend);
  return scales_result_late(conv) ? 1.0 : static_cast<double>(scales.result);
}

PackConstant pack_sum_scales(const QuantizedConv& conv) {
  return [conv](Weights weights) {
    const QuantizedScales scales = quantized_scales(conv.product, weights);
    std::vector<float> out(static_cast<size_t>(conv.shape.k_pitch()), 0.0f);
    for (size_t k = 0; k < scales.sums.size(); ++k)
      out[k] = static_cast<float>(static_cast<double>(scales.sums[k]) / sum_unit(conv, scales));
    return bytes_of_values(out);
  };
}

PackConstant pack_sum_bias(const QuantizedConv& conv) {
  return [conv](Weights weights) {
    const QuantizedScales scales = quantized_scales(conv.product, weights);
    std::vector<float> out(static_cast<size_t>(conv.shape.k_pitch()), 0.0f);
    if (conv.product.bias < 0) return bytes_of_values(out);
    const auto bias = weights[static_cast<size_t>(conv.product.bias)]->data<float>();
    for (size_t k = 0; k < bias.size(); ++k)
      out[k] = static_cast<float>(static_cast<double>(bias[k]) / sum_unit(conv, scales));
    return bytes_of_values(out);
  };
}

PackConstant pack_result_factor(const QuantizedConv& conv) {
  return [conv](Weights weights) {
    const QuantizedScales scales = quantized_scales(conv.product, weights);
    const double unit = scales_result_late(conv) ? static_cast<double>(scales.result) : 1.0;
    return bytes_of_values(std::vector<float>{static_cast<float>(1.0 / unit)});
  };
}

PackConstant pack_addend_scale(const QuantizedConv& conv) {
  return [conv](Weights weights) {
    const QuantizedScales scales = quantized_scales(conv.product, weights);
    const double unit = scales_result_late(conv) ? 1.0 : static_cast<double>(scales.result);
    return bytes_of_values(
        std::vector<float>{static_cast<float>(static_cast<double>(scales.addend) / unit)});
  };
}

}  // namespace

Result<QuantizedConv> quantized_conv(const Problem& problem) {
  TRY(QuantizedProduct product, quantized_product(problem));
  return quantized_conv(std::move(product));
}

Result<QuantizedConv> quantized_conv(QuantizedProduct product) {
  QuantizedConv out{std::move(product), {}};
  if (!is_symmetric(out.product)) return refusal("zero points other than 0");
  TRY(out.shape, conv_shape(out.product.product));
  ConvShape& s = out.shape;
  s.bias.input = out.product.bias;
  s.c_block = kByteChannels;
  s.k_block = channel_block(out.product.result);
  const int64_t block = std::max(s.k_block, channel_block(out.product.addend_type));
  if (out.product.addend >= 0 && s.k % block)
    return refusal("an addend whose channels are no multiple of " + std::to_string(block));
  return out;
}

std::vector<Tactic> quantized_tactics(const Problem& problem, const QuantizedConv& conv,
                                      const KernelContext& context) {
  const QuantizedProduct& q = conv.product;
  const bool has_addend = q.addend >= 0;
  std::vector<Tactic> out;
  const bool in_floats = has_addend && q.addend_scale < 0;
  for (const DataType type : in_floats ? context.storage_types() : kept_types(q.result, context)) {
    const DataType result = is_eight_bits(q.result) ? q.result : type;
    Tactic tactic = make_kernel_tactic(problem, "");
    tactic.inputs[0] = conv.shape.x_format(q.source);
    tactic.outputs[0] = conv.shape.y_format(result);
    tactic.compute = precision_of_storage(type);
    if (has_addend)
      tactic.inputs[static_cast<size_t>(q.addend)] =
          conv.shape.y_format(in_floats ? type : q.addend_type);
    out.push_back(std::move(tactic));
  }
  return out;
}

FusedEpilogue quantized_epilogue(const QuantizedConv& conv, const Tactic& tactic) {
  const int addend = conv.product.addend;
  FusedEpilogue out;
  // The type of an operand of the result's size.
  out.output = tactic.outputs[0].type;
  if (conv.product.addend_scale >= 0)
    out.output = conv.product.addend_type;
  else if (addend >= 0)
    out.output = tactic.inputs[static_cast<size_t>(addend)].type;
  out.zero_padding = conv.shape.k_pitch() != conv.shape.k;
  out.steps.push_back({FusedStepKind::multiply, {}, OperandAccess::channel, kSumScales, {}});
  if (conv.product.bias >= 0)
    out.steps.push_back({FusedStepKind::add, {}, OperandAccess::channel, kSumBias, {}});
  if (addend >= 0) out.steps.push_back({FusedStepKind::add, {}, OperandAccess::same, kAddend, {}});
  if (conv.product.addend_scale >= 0)
    out.steps.push_back({FusedStepKind::multiply, {}, OperandAccess::single, kAddendScale, {}});
  if (conv.product.activation && !saturates_as_relu(conv))
    out.steps.push_back(
        {FusedStepKind::activation, *conv.product.activation, OperandAccess::same, -1, {}});
  if (scales_result_late(conv))
    out.steps.push_back({FusedStepKind::multiply, {}, OperandAccess::single, kResultFactor, {}});
  return out;
}

void attach_quantized_constants(const QuantizedConv& conv, size_t offset, KernelPlan& plan,
                                KernelLaunch& launch) {
  const auto attach = [&](QuantizedSlot slot, PackConstant pack) {
    launch.slots.push_back({offset + slot * sizeof(void*), PointerSource::constant,
                            plan.add_constant(std::move(pack))});
  };
  attach(kSumScales, pack_sum_scales(conv));
  if (conv.product.bias >= 0) attach(kSumBias, pack_sum_bias(conv));
  // Engines compiled before factors were folded multiply by it in any case.
  attach(kResultFactor, pack_result_factor(conv));
  if (conv.product.addend_scale >= 0) attach(kAddendScale, pack_addend_scale(conv));
}

void attach_quantized(const QuantizedConv& conv, size_t offset, KernelPlan& plan,
                      KernelLaunch& launch) {
  attach_quantized_constants(conv, offset, plan, launch);
  if (conv.product.addend >= 0)
    launch.slots.push_back(
        {offset + kAddend * sizeof(void*), PointerSource::input, conv.product.addend});
}

void attach_rounded_sums(const QuantizedConv& conv, size_t offset, KernelPlan& plan,
                         KernelLaunch& launch) {
  size_t at = offset;
  for (PackConstant pack : {pack_sum_scales(conv), pack_sum_bias(conv)}) {
    launch.slots.push_back({at, PointerSource::constant, plan.add_constant(std::move(pack))});
    at += sizeof(void*);
  }
}

PackConstant pack_region_weights(int input, PackConstant pack) {
  return [input = static_cast<size_t>(input), pack = std::move(pack)](Weights weights) {
    const std::array<const Tensor*, 2> alone{nullptr, weights[input]};
    return pack(alone);
  };
}

}  // namespace enginery
