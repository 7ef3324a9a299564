// Family attention: of float32 operands wherever their elements lie; multiplied in bfloat16 in
// tiles where rows lie side by side.
#include "engine/kernels/cpu/tiles/attention.h"

#include "engine/tactics/cpu/kernel/cpu_kernel_family.h"
#include "engine/tactics/shapes/attention_shape.h"

namespace enginery {
namespace {

AttentionPlace place_in_kernel(const AttentionPlaces& p) {
  return {{p.batch[0], p.batch[1], p.batch[2]}, p.row, p.column};
}

template <typename KernelArguments>
KernelArguments attention_arguments(const AttentionShape& s) {
  KernelArguments a{};
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
  a.nan_is_zero = s.zeros == ZeroRows::nan;
  a.masked_is_zero = s.zeros == ZeroRows::masked;
  return a;
}

// The masks: kept with the tactic where they are constants, else inputs of a launch.
struct AttentionMaskSources {
  std::shared_ptr<const Tensor> of[2];
  bool present[2] = {};
  const void* address(size_t mask, const Arguments& arguments) const {
    if (!present[mask]) return nullptr;
    return of[mask] ? of[mask]->raw() : arguments.inputs[mask + 3];
  }
};

AttentionMaskSources mask_sources(const Problem& p, Weights weights) {
  AttentionMaskSources out;
  for (size_t i = 3; i < p.inputs.size(); ++i) {
    const Tensor* value = p.inputs[i].value ? &*p.inputs[i].value : weights[i];
    out.present[i - 3] = p.inputs[i].present;
    if (p.inputs[i].present && value) out.of[i - 3] = std::make_shared<const Tensor>(*value);
  }
  return out;
}

// A launch of either kernel: `Element` is that of q, k and v, `Result` that of y.
template <typename KernelArguments, typename Element, typename Result>
CpuKernelRun run_of_attention(void (*kernel)(const KernelArguments&), const KernelArguments& fixed,
                              const AttentionShape& shape, const AttentionMaskSources& masks) {
  return [=](const Arguments& arguments) {
    KernelArguments a = fixed;
    a.q = static_cast<const Element*>(arguments.inputs[0]) + shape.q.offset;
    a.k = static_cast<const Element*>(arguments.inputs[1]) + shape.k.offset;
    a.v = static_cast<const Element*>(arguments.inputs[2]) + shape.v.offset;
    a.y = static_cast<Result*>(arguments.outputs[0]) + shape.y.offset;
    if (const void* addend = masks.address(0, arguments))
      a.addend = static_cast<const float*>(addend) + shape.addend.offset;
    if (const void* choice = masks.address(1, arguments))
      a.choice = static_cast<const uint8_t*>(choice) + shape.choice.offset;
    kernel(a);
  };
}

CpuKernelCandidate plain_attention(const CpuKernelContext& context, const Problem& p,
                                   const AttentionShape& shape) {
  Tactic tactic = cpu_kernel_tactic(p, "attention");
  constexpr double kFlopsPerUs = 4000;
  tactic.estimated_us = movement_and_arithmetic_us(context, p, kFlopsPerUs);
  return {std::move(tactic), [kernel = context.kernels.attention, p, shape](Weights weights) {
            return run_of_attention<AttentionArguments, float, float>(
                kernel, attention_arguments<AttentionArguments>(shape), shape,
                mask_sources(p, weights));
          }};
}

// Also of results in bfloat16, for who reads them so.
std::vector<CpuKernelCandidate> tile_attentions(const CpuKernelContext& context, const Problem& p,
                                                const AttentionShape& shape) {
  std::vector<CpuKernelCandidate> out;
  const bool side_by_side = shape.q.column == 1 && shape.k.column == 1 && shape.v.column == 1;
  if (!context.tiles || !side_by_side) return out;
  for (const DataType result : {DataType::bfloat16, DataType::float32}) {
    Tactic tactic = cpu_kernel_tactic(p, "tile_attention");
    tactic.compute = Precision::bf16;
    for (size_t i = 0; i < 3; ++i) tactic.inputs[i].type = DataType::bfloat16;
    tactic.outputs[0].type = result;
    // With AMX most of it is softmax.
    const double flops_per_us = context.isa >= CpuIsa::amx ? 12'000 : 6'000;
    tactic.estimated_us = movement_and_arithmetic_us(context, p, flops_per_us);
    auto prepare = [kernel = context.tiles->tile_attention, p, shape,
                    narrow = result == DataType::bfloat16](Weights weights) {
      auto fixed = attention_arguments<TileAttentionArguments>(shape);
      fixed.narrow = narrow;
      const AttentionMaskSources masks = mask_sources(p, weights);
      return narrow ? run_of_attention<TileAttentionArguments, uint16_t, uint16_t>(kernel, fixed,
                                                                                   shape, masks)
                    : run_of_attention<TileAttentionArguments, uint16_t, float>(kernel, fixed,
                                                                                shape, masks);
    };
    out.push_back({std::move(tactic), prepare});
  }
  return out;
}

}  // namespace

CpuKernelCandidates offer_cpu_attention(const CpuKernelContext& context, const Problem& p) {
  TRY(const AttentionShape shape, attention_shape(p));
  if (p.inputs[0].type.type != DataType::float32)
    return no_cpu_kernel("an attention of " + to_string(p.inputs[0].type));
  std::vector<CpuKernelCandidate> out = tile_attentions(context, p, shape);
  out.push_back(plain_attention(context, p, shape));
  return out;
}

}  // namespace enginery
