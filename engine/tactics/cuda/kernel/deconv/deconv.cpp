// Family deconv: transposed convolutions with constant weights (deconv.cuh).
#include "engine/tactics/cuda/kernel/conv_launch.h"
#include "engine/tactics/cuda/kernel/families.h"
#include "engine/tactics/cuda/kernel/text/epilogue_text.h"

namespace enginery {
namespace {

struct DeconvVariant {
  int threads;  // of a block
};

constexpr DeconvVariant kDeconvVariants[] = {{256}};

std::string id_of(const DeconvVariant& v) {
  return id_by_threads("deconv/gather", v.threads, 256);
}

// [C][K/groups][r][s] as [r][s][c of the group][k with its padding], float32.
PackConstant pack_deconv(const ConvShape& shape) {
  return [shape](Weights weights) {
    const Tensor values = convert(*weights[1], DataType::float32);
    const auto data = values.data<float>();
    const int64_t group_c = shape.c / shape.groups, group_k = shape.k / shape.groups,
                  rs = shape.r * shape.s, pitch = shape.k_pitch();
    std::vector<float> out(static_cast<size_t>(rs * group_c * pitch), 0.0f);
    for (int64_t c = 0; c < shape.c; ++c) {
      const int64_t group = c / group_c;
      for (int64_t k = 0; k < group_k; ++k) {
        for (int64_t i = 0; i < rs; ++i) {
          const int64_t to = (i * group_c + c % group_c) * pitch + group * group_k + k;
          out[static_cast<size_t>(to)] = data[static_cast<size_t>((c * group_k + k) * rs + i)];
        }
      }
    }
    return bytes_of_values(out);
  };
}

// Output channels a thread.
int64_t deconv_width(const ConvShape& shape) {
  return shape.groups == 1 ? 4 : 1;
}

Status offer_deconv(const Problem& problem, const KernelContext& context,
                    std::vector<Tactic>& out) {
  TRY(const ConvShape shape, deconv_shape(problem));
  for (DataType type : context.storage_types()) {
    TRY(const LoweredEpilogue epilogue, lower_conv_epilogue(problem, shape, type));
    const double share = 0.02 * static_cast<double>(deconv_width(shape));  // of the peak
    for (const DeconvVariant& variant : kDeconvVariants) {
      Tactic tactic = make_conv_tactic(problem, shape, epilogue, id_of(variant));
      tactic.estimated_us = context.memory_us(conv_bytes(shape, type)) +
                            1e6 * flop_count(problem) / (share * context.info.float32_flops);
      out.push_back(std::move(tactic));
    }
  }
  return {};
}

Result<KernelPlan> plan_deconv(const Problem& problem, const Tactic& tactic, const KernelContext&) {
  const DeconvVariant* variant = find_variant(kDeconvVariants, tactic);
  if (!variant) return no_variant(tactic);
  TRY(const ConvShape shape, deconv_shape(problem));
  const DataType type = tactic.inputs[0].type;
  TRY(const LoweredEpilogue epilogue, lower_conv_epilogue(problem, shape, type));
  const int64_t width = deconv_width(shape);
  KernelPlan plan;
  define_types(plan.program, type, type);
  plan.program.define("WIDTH", width);
  plan.program.define("THREADS", variant->threads);
  plan.program.functions = epilogue_text(epilogue.code);
  plan.program.files = {"deconv/deconv.cuh"};
  add_untiled_launch(shape, width, variant->threads, pack_deconv(shape), epilogue, plan);
  return plan;
}

}  // namespace

const KernelFamily kDeconvFamily{"deconv", offer_deconv, plan_deconv};

}  // namespace enginery
