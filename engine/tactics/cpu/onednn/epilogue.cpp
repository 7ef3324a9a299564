#include "engine/tactics/cpu/onednn/epilogue.h"

#include <limits>

namespace enginery {
namespace {

using dnnl::algorithm;

// The operand's dims aligned to the result's rank, as numpy broadcasts; a bias lies along its own
// dimension.
Dims aligned_dims(const Problem& p, const EpilogueStep& step) {
  const Dims& to = output_dims(p);
  const Dims& from = input_dims(p, static_cast<size_t>(step.operand));
  Dims out(to.size(), 1);
  if (step.kind == EpilogueKind::bias) {
    bool product = std::holds_alternative<MatMul>(p.op) || std::holds_alternative<Gemm>(p.op);
    out[product ? to.size() - 1 : 1] = volume(from);
    return out;
  }
  for (size_t i = 0; i < from.size(); ++i) out[to.size() - 1 - i] = from[from.size() - 1 - i];
  return out;
}

// oneDNN has fast code for one value and for one value a channel; other broadcasts fall to its
// reference.
bool broadcasts_well(const Dims& from, const Dims& to) {
  for (size_t d = 0; d < to.size(); ++d) {
    if (from[d] != 1 && (d != 1 || from[d] != to[d])) return false;
  }
  return true;
}

Status append_operand(const Problem& p, const EpilogueStep& step, const Format& output,
                      dnnl::post_ops& operations, OnednnRecipe& recipe) {
  size_t input = static_cast<size_t>(step.operand);
  const TensorDesc& desc = p.inputs[input];
  if (!dnnl_supports(desc.type.type))
    return no_primitive("an operand of type " + std::string(to_string(desc.type.type)));
  Dims dims = aligned_dims(p, step);
  bool whole = dims == output_dims(p);
  if (!whole && !broadcasts_well(dims, output_dims(p)))
    return no_primitive("an epilogue operand of dims " + to_string(dims));
  Format format{desc.type.type, whole && !desc.constant ? output.layout : Layout{}};
  MemoryDesc described = memory_desc(dims, format);
  int argument = DNNL_ARG_ATTR_MULTIPLE_POST_OP(operations.len()) | DNNL_ARG_SRC_1;
  operations.append_binary(
      step.kind == EpilogueKind::multiply ? algorithm::binary_mul : algorithm::binary_add,
      described);
  // Wrong results with version 2.6.3: its gemm convolution reads such an operand at the wrong rows.
  if (whole) recipe.avoid = "gemm";
  recipe.inputs[input] = format;
  if (desc.constant) {
    ConstantArgument constant;
    constant.argument = argument;
    constant.source = described;
    constant.value = weight_of(input);
    recipe.constants.push_back(std::move(constant));
  } else {
    recipe.arguments.push_back({argument, false, input, described});
  }
  return {};
}

// Whether the step is "+ a tensor just like the result", which the destination can hold beforehand.
bool sums_in_place(const Problem& p, const EpilogueStep& step, const Format& output) {
  if (step.kind != EpilogueKind::add) return false;
  const TensorDesc& desc = p.inputs[static_cast<size_t>(step.operand)];
  const bool alike = desc.type.type == p.outputs[0].type.type || desc.type.type == output.type;
  return !desc.constant && desc.type.dims == output_dims(p) && alike;
}

}  // namespace

Status append_activation(const Activation& a, dnnl::post_ops& operations) {
  const auto append = [&](algorithm kind, float alpha, float beta) {
    operations.append_eltwise(1.0f, kind, alpha, beta);
    return Status();
  };
  switch (a.kind) {
    case ActivationKind::relu:
      return append(algorithm::eltwise_relu, 0, 0);
    case ActivationKind::leaky_relu:
      return append(algorithm::eltwise_relu, a.alpha, 0);
    case ActivationKind::clip:
      return append(algorithm::eltwise_clip, a.alpha, a.beta);
    case ActivationKind::elu:
      return append(algorithm::eltwise_elu, a.alpha, 0);
    case ActivationKind::selu:
      (void)append(algorithm::eltwise_elu, a.alpha, 0);
      return append(algorithm::eltwise_linear, a.beta, 0);
    case ActivationKind::sigmoid:
      return append(algorithm::eltwise_logistic, 0, 0);
    case ActivationKind::hard_sigmoid:
      (void)append(algorithm::eltwise_linear, a.alpha, a.beta);
      return append(algorithm::eltwise_clip, 0, 1);
    // Version 2 ignores the two parameters, version 3 needs them.
    case ActivationKind::hard_swish:
      return append(algorithm::eltwise_hardswish, 1.0f / 6, 0.5f);
    case ActivationKind::swish:
      return append(algorithm::eltwise_swish, 1, 0);
    case ActivationKind::mish:
      return append(algorithm::eltwise_mish, 0, 0);
    case ActivationKind::tanh:
      return append(algorithm::eltwise_tanh, 0, 0);
    case ActivationKind::softplus:
      return append(algorithm::eltwise_soft_relu, 0, 0);
    case ActivationKind::gelu_erf:
      return append(algorithm::eltwise_gelu_erf, 0, 0);
    case ActivationKind::gelu_tanh:
      return append(algorithm::eltwise_gelu_tanh, 0, 0);
    default:
      return no_primitive("activation " +
                          std::string(enum_names(a.kind)[static_cast<size_t>(a.kind)]));
  }
}

Result<PostOperations> add_epilogue(const Problem& p, const Format& output, OwnBias own_bias,
                                    OnednnRecipe& recipe) {
  PostOperations out;
  out.attributes = base_attributes();
  dnnl::post_ops operations;
  for (size_t i = 0; i < p.epilogue.size(); ++i) {
    const EpilogueStep& step = p.epilogue[i];
    bool constant = step.operand >= 0 && p.inputs[static_cast<size_t>(step.operand)].constant;
    if (step.kind == EpilogueKind::activation) {
      CHECK_OK(append_activation(step.activation, operations));
    } else if (step.kind == EpilogueKind::bias && i == 0 && own_bias == OwnBias::free && constant) {
      out.bias = step.operand;
    } else if (out.in_place_operand < 0 && sums_in_place(p, step, output)) {
      operations.append_sum(1.0f);
      out.in_place_operand = step.operand;
      recipe.inputs[static_cast<size_t>(step.operand)] = output;
    } else {
      CHECK_OK(append_operand(p, step, output, operations, recipe));
    }
  }
  recipe.in_place_operand = out.in_place_operand;
  out.attributes.set_post_ops(operations);
  return out;
}

}  // namespace enginery
