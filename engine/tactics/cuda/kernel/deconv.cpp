// Family deconv: transposed convolutions with constant weights (deconv.cuh).
#include "engine/tactics/cuda/kernel/conv_shape.h"

namespace enginery {
namespace {

// Sizes as a convolution's: [p, q] is the output, r and s the filter; strides and dilations spread
// the input.
Result<ConvShape> deconv_shape(const Problem& problem) {
  const auto* op = std::get_if<Deconvolution>(&problem.op);
  if (!op) return no_kernel("no transposed convolution");
  CHECK_OK(require_static(problem));
  const Dims &x = problem.inputs[0].type.dims, &w = problem.inputs[1].type.dims,
             &y = problem.outputs[0].type.dims;
  if (x.size() < 3 || x.size() > 4)
    return no_kernel("a transposed convolution over " + to_string(x));
  if (!problem.inputs[1].constant || !is_floating(problem.inputs[0].type.type))
    return no_kernel("weights that are computed, or integers");
  if (volume(x) == 0 || volume(y) == 0 || volume(w) == 0) return no_kernel("no elements");
  ConvShape s;
  s.n = x[0], s.c = x[1], s.k = y[1], s.groups = op->groups;
  s.w = x.back(), s.q = y.back(), s.s = w.back();
  s.stride_w = op->strides.back(), s.dilation_w = op->dilations.back(),
  s.pad_w = op->pads_begin.back();
  if (x.size() == 4) {
    s.h = x[2], s.p = y[2], s.r = w[2];
    s.stride_h = op->strides[0], s.dilation_h = op->dilations[0], s.pad_h = op->pads_begin[0];
  }
  if (problem.anchor_inputs > 2 && problem.inputs[2].present) s.bias.input = 2;
  return s;
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

int64_t width_of(const ConvShape& shape) {
  return shape.groups == 1 ? 4 : 1;
}

}  // namespace

Status offer_deconv(const Problem& problem, const KernelContext& context,
                    std::vector<Tactic>& out) {
  TRY(const ConvShape shape, deconv_shape(problem));
  for (DataType type : context.storage_types()) {
    TRY(LoweredEpilogue epilogue, lower_conv_epilogue(problem, shape, type));
    Tactic tactic = make_conv_tactic(problem, shape, epilogue, "deconv/gather");
    const double share = 0.02 * static_cast<double>(width_of(shape));  // of the peak
    tactic.estimated_us = context.memory_us(conv_bytes(shape, type)) +
                          1e6 * flop_count(problem) / (share * context.info.float32_flops);
    out.push_back(std::move(tactic));
  }
  return {};
}

Result<KernelPlan> plan_deconv(const Problem& problem, const Tactic& tactic, const KernelContext&) {
  if (tactic.id != "deconv/gather") return no_variant(tactic);
  TRY(const ConvShape shape, deconv_shape(problem));
  const DataType type = tactic.inputs[0].type;
  TRY(LoweredEpilogue epilogue, lower_conv_epilogue(problem, shape, type));
  KernelPlan plan;
  define_types(plan.program, type, type);
  plan.program.define("WIDTH", width_of(shape));
  plan.program.functions = epilogue_text(epilogue.code);
  plan.program.files = {"deconv.cuh"};
  add_untiled_launch(shape, width_of(shape), pack_deconv(shape), epilogue, plan);
  return plan;
}

}  // namespace enginery
