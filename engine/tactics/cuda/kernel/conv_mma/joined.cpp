#include "engine/tactics/cuda/kernel/conv_mma/joined.h"

#include "engine/tactics/cuda/kernel/conv_mma/args.h"
#include "engine/tactics/cuda/kernel/quantized_launch.h"
#include "engine/tactics/shapes/joined_products.h"

namespace enginery {
namespace {

constexpr size_t kFirstEpilogue = offsetof(gpu::JoinedConvArgs, first.epilogue),
                 kSecondEpilogue = offsetof(gpu::JoinedConvArgs, second.epilogue);

// Rows of both packed filters, those of the first in front.
PackConstant side_by_side(PackConstant first, PackConstant second, int64_t rows) {
  return [=](Weights weights) {
    const Bytes one = first(weights), other = second(weights);
    const size_t count = static_cast<size_t>(rows);
    Bytes out;
    out.reserve(one.size() + other.size());
    for (size_t row = 0; row < count; ++row) {
      out.append(one, row * (one.size() / count), one.size() / count);
      out.append(other, row * (other.size() / count), other.size() / count);
    }
    return out;
  };
}

struct Source {
  int input, weights;  // of the region
};

// The launch but for its epilogue.
Result<KernelLaunch> joined_launch(const MmaCase& c, const Tactic& tactic, Source first,
                                   Source second, DataType type, KernelPlan& plan) {
  const auto packed = [&](const ConvShape& shape, Source source) {
    const bool round_to_tf32 = type == DataType::float32;
    return pack_region_weights(source.weights,
                               pack_filter(shape, type, c.bk(), c.variant.bn, round_to_tf32));
  };
  const int64_t rows = round_up(c.shape.k, c.variant.bn);
  TRY(KernelLaunch launch,
      mma_launch(c, tactic, side_by_side(packed(*c.first, first), packed(c.shape, second), rows),
                 plan));
  launch.slots[0].index = second.input;  // x of the second
  launch.slots.push_back(
      {offsetof(gpu::JoinedConvArgs, first.x), PointerSource::input, first.input});
  return launch;
}

Status offer_floats(const Problem& problem, const KernelContext& context,
                    std::vector<Tactic>& out) {
  TRY(const JoinedFloats joined, joined_floats(problem));
  const auto& [first, second] = joined.parts;
  for (const auto& part : joined.parts)
    CHECK_OK(require_mma(part.shape, DataType::float16, context));
  for (const DataType type : mma_types(context)) {
    for (const MmaCase& c : joined_cases(first.shape, second.shape, type, context)) {
      Tactic tactic = make_kernel_tactic(problem, id_of(c));
      for (const auto& part : joined.parts)
        tactic.inputs[static_cast<size_t>(part.source)] = part.shape.x_format(type);
      tactic.outputs[0] = c.shape.y_format(type);
      tactic.compute = compute_of(type);
      tactic.estimated_us = estimate_us(c, context);
      tactic.writes_pitched = true;
      out.push_back(std::move(tactic));
    }
  }
  return {};
}

// Both biases as one.
PackConstant pack_biases(const JoinedFloats& joined) {
  return [joined](Weights weights) {
    std::vector<float> out(static_cast<size_t>(joined.parts[0].shape.k_pitch()), 0.0f);
    for (const auto& part : joined.parts) {
      if (part.shape.bias.input < 0) continue;
      const Tensor bias =
          convert(*weights[static_cast<size_t>(part.shape.bias.input)], DataType::float32);
      const auto values = bias.data<float>();
      for (size_t k = 0; k < values.size(); ++k) out[k] += values[k];
    }
    return bytes_of_values(out);
  };
}

Result<KernelPlan> plan_floats(const Problem& problem, const Tactic& tactic,
                               const KernelContext& context) {
  TRY(const JoinedFloats joined, joined_floats(problem));
  const auto& [first, second] = joined.parts;
  const DataType type = tactic.outputs[0].type;
  TRY(const MmaCase c, find_joined(first.shape, second.shape, type, tactic, context));
  FusedEpilogue epilogue;
  epilogue.output = type;
  epilogue.zero_padding = c.shape.k_pitch() != c.shape.k;
  epilogue.steps.push_back({FusedStepKind::add, {}, OperandAccess::channel, 0, {}});
  if (joined.activation)
    epilogue.steps.push_back(
        {FusedStepKind::activation, *joined.activation, OperandAccess::same, -1, {}});
  KernelPlan plan;
  plan.program = mma_program(c, type, epilogue);
  TRY(KernelLaunch launch, joined_launch(c, tactic, {first.source, first.weights},
                                         {second.source, second.weights}, type, plan));
  launch.slots.push_back(
      {kSecondEpilogue, PointerSource::constant, plan.add_constant(pack_biases(joined))});
  add_mma_launch(c, std::move(launch), plan);
  return plan;
}

struct QuantizedConvs {
  QuantizedConv first, second;
  int second_source;
};
Result<QuantizedConvs> quantized_convs(const Problem& problem) {
  TRY(const JoinedQuantized joined, joined_quantized(problem));
  TRY(QuantizedConv first, quantized_conv(joined.first));
  TRY(QuantizedConv second, quantized_conv(joined.second));
  if (joined.first.source != joined.second.source)
    return refusal("products of signed and of unsigned numbers");
  return QuantizedConvs{std::move(first), std::move(second), joined.second_source};
}

Status offer_quantized(const Problem& problem, const KernelContext& context,
                       std::vector<Tactic>& out) {
  TRY(const QuantizedConvs convs, quantized_convs(problem));
  const auto& [first, second, second_source] = convs;
  const DataType source = first.product.source;
  for (const QuantizedConv* conv : {&first, &second})
    CHECK_OK(require_mma(conv->shape, source, context));
  for (const MmaCase& c : joined_cases(first.shape, second.shape, source, context)) {
    Tactic tactic = make_kernel_tactic(problem, id_of(c));
    tactic.inputs[0] = first.shape.x_format(source);
    tactic.inputs[static_cast<size_t>(second_source)] = second.shape.x_format(source);
    tactic.outputs[0] = c.shape.y_format(second.product.result);
    tactic.compute = precision_of_storage(second.product.result);
    tactic.estimated_us = estimate_us(c, context);
    tactic.writes_pitched = true;
    out.push_back(std::move(tactic));
  }
  return {};
}

Result<KernelPlan> plan_quantized(const Problem& problem, const Tactic& tactic,
                                  const KernelContext& context) {
  TRY(const QuantizedConvs convs, quantized_convs(problem));
  const auto& [first, second, second_source] = convs;
  TRY(const MmaCase c,
      find_joined(first.shape, second.shape, first.product.source, tactic, context));
  KernelPlan plan;
  const FusedEpilogue epilogue = quantized_epilogue(second, tactic);
  plan.program = mma_program(c, tactic.outputs[0].type, epilogue);
  TRY(KernelLaunch launch,
      joined_launch(c, tactic, {0, first.product.weights}, {second_source, second.product.weights},
                    DataType::int8, plan));
  attach_rounded_sums(first, kFirstEpilogue, plan, launch);
  attach_quantized_constants(second, kSecondEpilogue, plan, launch);
  add_mma_launch(c, std::move(launch), plan);
  return plan;
}

}  // namespace

Status offer_joined_mma(const Problem& problem, const KernelContext& context,
                        std::vector<Tactic>& out) {
  return is_one_of<Convolution>(problem) ? offer_floats(problem, context, out)
                                         : offer_quantized(problem, context, out);
}

Result<KernelPlan> plan_joined_mma(const Problem& problem, const Tactic& tactic,
                                   const KernelContext& context) {
  return is_one_of<Convolution>(problem) ? plan_floats(problem, tactic, context)
                                         : plan_quantized(problem, tactic, context);
}

}  // namespace enginery
