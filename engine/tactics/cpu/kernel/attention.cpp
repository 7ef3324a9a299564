// Family attention: of float32 operands wherever their elements lie.
#include "engine/kernels/cpu/isa/attention.h"

#include "engine/tactics/cpu/kernel/cpu_kernel_family.h"
#include "engine/tactics/shapes/attention_shape.h"

namespace enginery {
namespace {

AttentionPlace place_in_kernel(const AttentionPlaces& p) {
  return {{p.batch[0], p.batch[1], p.batch[2]}, p.row, p.column};
}

AttentionArguments attention_arguments(const AttentionShape& s) {
  AttentionArguments a{};
  a.q_place = place_in_kernel(s.q);
  a.k_place = place_in_kernel(s.k);
  a.v_place = place_in_kernel(s.v);
  a.y_place = place_in_kernel(s.y);
  a.addend_place = place_in_kernel(s.addend);
  a.choice_place = place_in_kernel(s.choice);
  for (size_t i = 0; i < kMaxAttentionBatch; ++i) a.batch[i] = s.batch[i];
  a.queries = s.queries;
  a.keys = s.keys;
  a.depth = s.depth;
  a.width = s.width;
  a.scale = s.scale;
  a.blank = s.blank;
  a.causal = s.causal;
  a.hides = s.hides;
  a.nan_is_zero = s.nan_is_zero;
  return a;
}

// Masks that are constants, kept with the tactic; null for the others.
struct ConstantMasks {
  std::shared_ptr<const Tensor> of[2];
  const void* address(const Problem& p, size_t mask, const Arguments& arguments) const {
    const size_t input = mask + 3;
    if (input >= p.inputs.size() || !p.inputs[input].present) return nullptr;
    return of[mask] ? of[mask]->raw() : arguments.inputs[input];
  }
};

ConstantMasks constant_masks(const Problem& p, Weights weights) {
  ConstantMasks out;
  for (size_t i = 3; i < p.inputs.size(); ++i) {
    const Tensor* value = p.inputs[i].value ? &*p.inputs[i].value : weights[i];
    if (p.inputs[i].present && value) out.of[i - 3] = std::make_shared<const Tensor>(*value);
  }
  return out;
}

}  // namespace

CpuKernelCandidates offer_cpu_attention(const CpuKernelContext& context, const Problem& p) {
  TRY(const AttentionShape shape, attention_shape(p));
  if (p.inputs[0].type.type != DataType::float32)
    return no_cpu_kernel("an attention of " + to_string(p.inputs[0].type));
  Tactic tactic = cpu_kernel_tactic(p, "attention");
  constexpr double kFlopsPerUs = 4000;
  tactic.estimated_us = movement_and_arithmetic_us(context, p, kFlopsPerUs);
  auto prepare = [kernel = context.kernels.attention, p, shape](Weights weights) -> CpuKernelRun {
    return [kernel, p, shape, masks = constant_masks(p, weights)](const Arguments& arguments) {
      AttentionArguments a = attention_arguments(shape);
      a.q = static_cast<const float*>(arguments.inputs[0]) + shape.q.offset;
      a.k = static_cast<const float*>(arguments.inputs[1]) + shape.k.offset;
      a.v = static_cast<const float*>(arguments.inputs[2]) + shape.v.offset;
      a.y = static_cast<float*>(arguments.outputs[0]) + shape.y.offset;
      if (const void* addend = masks.address(p, 0, arguments))
        a.addend = static_cast<const float*>(addend) + shape.addend.offset;
      if (const void* choice = masks.address(p, 1, arguments))
        a.choice = static_cast<const uint8_t*>(choice) + shape.choice.offset;
      kernel(a);
    };
  };
  return std::vector<CpuKernelCandidate>{{std::move(tactic), std::move(prepare)}};
}

}  // namespace enginery
