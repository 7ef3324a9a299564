// Products of quantised numbers (shapes/quantized_product.h): u8s8 and s8s8 convolutions and inner
// products with the requantisation behind them. Integers are added up in 32 bits, exactly.
#include <cmath>

#include "engine/tactics/cpu/onednn/convolution_dims.h"
#include "engine/tactics/cpu/onednn/epilogue.h"
#include "engine/tactics/shapes/quantized_product.h"

namespace enginery {
namespace {

// The bias is divided by the scale of the sums: one of 0, of a channel whose weights are all 0,
// stands for one that is as good as 0.
constexpr float kLeastScale = 1e-30f;

// Channels are dimension 1 of a result, whose scales come one for each.
constexpr int kByChannel = 1 << 1;

constexpr double kSpeedup = 4;  // of VNNI over float32; for estimates

// Activations that a positive factor passes through.
bool is_homogeneous(const std::optional<Activation>& a) {
  return !a || a->kind == ActivationKind::relu || a->kind == ActivationKind::leaky_relu;
}

float kept_from_zero(float scale) {
  return std::abs(scale) < kLeastScale ? kLeastScale : scale;
}

// Sums to the stored result: y = act((sum + bias) scale), then the result's own scale.
Result<dnnl::primitive_attr> requantization(const QuantizedProduct& q, Weights weights) {
  const QuantizedScales scales = quantized_scales(q, weights);
  const bool early = is_homogeneous(q.activation) && scales.result > 0;
  std::vector<float> factors;
  for (const float s : scales.sums)
    factors.push_back(early ? kept_from_zero(s) / scales.result : kept_from_zero(s));
  dnnl::primitive_attr attributes = base_attributes();
  attributes.set_output_scales(kByChannel, factors);
  dnnl::post_ops operations;
  if (q.activation) {
    CHECK_OK(append_activation(*q.activation, operations));
  }
  if (!early) operations.append_eltwise(1, dnnl::algorithm::eltwise_linear, 1 / scales.result, 0);
  attributes.set_post_ops(operations);
  return attributes;
}

// The bias in units of the sums.
Tensor scaled_bias(const QuantizedProduct& q, Weights weights) {
  const QuantizedScales scales = quantized_scales(q, weights);
  Tensor out = weights[static_cast<size_t>(q.bias)]->reshaped({q.channels});
  auto bias = out.mutable_data<float>();
  for (size_t k = 0; k < bias.size(); ++k) bias[k] /= kept_from_zero(scales.sums[k]);
  return out;
}

// Formats, arguments and constants of a recipe but for its description.
struct Descriptions {
  MemoryDesc source, destination, stored_weights, bias;
};

OnednnRecipe recipe_of(const Problem& p, const QuantizedProduct& q, const Layout& layout,
                       const Descriptions& d) {
  OnednnRecipe recipe;
  recipe.prefix = "int8:";
  recipe.speedup = kSpeedup;
  recipe.inputs = default_formats(p, {q.source, layout});
  recipe.outputs = {{q.result, layout}};
  recipe.arguments.push_back({DNNL_ARG_SRC, false, 0, d.source});
  recipe.arguments.push_back({DNNL_ARG_DST, true, 0, d.destination});
  recipe.constants.push_back({DNNL_ARG_WEIGHTS, d.stored_weights,
                              weight_of(static_cast<size_t>(q.weights)), dnnl::query::weights_md,
                              0});
  if (q.bias >= 0)
    recipe.constants.push_back({DNNL_ARG_BIAS, d.bias, [q](Weights w) { return scaled_bias(q, w); },
                                dnnl::query::weights_md, 1});
  return recipe;
}

OnednnRecipes quantized_convolution(const OnednnLibrary& library, const Problem& p,
                                    const QuantizedProduct& q,
                                    const dnnl::primitive_attr& attributes) {
  const auto& op = std::get<Convolution>(q.product.op);
  const Dims& x = input_dims(p, 0);
  if (x.size() < 3 || x.size() > 5)
    return no_primitive("a quantised convolution of rank " + std::to_string(x.size()));
  const Layout nhwc{LayoutKind::channels_last, 0};
  const Dims weights = library_weight_dims(input_dims(q.product, 1), op.groups, false);
  const Descriptions d{memory_desc(x, {q.source, nhwc}),
                       memory_desc(output_dims(p), {q.result, nhwc}),
                       stored_weights(weights, DataType::int8, op.groups, false),
                       q.bias >= 0 ? memory_desc({q.channels}, Format{}) : MemoryDesc()};
  OnednnRecipe recipe = recipe_of(p, q, nhwc, d);
  const ConvolutionGeometry g = geometry_of(op);
  recipe.implementations = [=, &library] {
    const dnnl::convolution_forward::desc operation(
        dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_direct, d.source,
        any_layout_desc(weights, DataType::int8), d.bias, d.destination, g.strides, g.dilations,
        g.pads_begin, g.pads_end);
    return list_implementations(library, operation, attributes);
  };
  return std::vector{recipe};
}

OnednnRecipes quantized_inner_product(const OnednnLibrary& library, const Problem& p,
                                      const QuantizedProduct& q,
                                      const dnnl::primitive_attr& attributes) {
  const auto* gemm = std::get_if<Gemm>(&q.product.op);
  const bool weights_are_nk = gemm && gemm->transpose_b;
  const int64_t m = input_dims(p, 0)[0], k = input_dims(p, 0)[1], n = q.channels;
  const Dims dims{n, k}, strides = weights_are_nk ? Dims{k, 1} : Dims{1, n};
  const Descriptions d{memory_desc({m, k}, {q.source, {}}), memory_desc({m, n}, {q.result, {}}),
                       MemoryDesc(dims, dnnl_type(DataType::int8), strides),
                       q.bias >= 0 ? memory_desc({n}, Format{}) : MemoryDesc()};
  OnednnRecipe recipe = recipe_of(p, q, {}, d);
  recipe.implementations = [=, &library] {
    const dnnl::inner_product_forward::desc operation(dnnl::prop_kind::forward_inference, d.source,
                                                      any_layout_desc(dims, DataType::int8), d.bias,
                                                      d.destination);
    return list_implementations(library, operation, attributes);
  };
  return std::vector{recipe};
}

}  // namespace

OnednnRecipes quantized_recipes(const OnednnLibrary& library, const Problem& p, Weights weights) {
  // Below it the library adds up pairs of products in 16 bits, which saturate.
  if (library.isa < CpuIsa::avx512_vnni)
    return no_primitive("sums of 8-bit products need VNNI to be exact");
  TRY(const QuantizedProduct q, quantized_product(p));
  if (q.addend >= 0) return no_primitive("a quantised product with an addend");
  TRY(const dnnl::primitive_attr attributes, requantization(q, weights));
  return std::holds_alternative<Convolution>(q.product.op)
             ? quantized_convolution(library, p, q, attributes)
             : quantized_inner_product(library, p, q, attributes);
}

}  // namespace enginery
