// Products of quantised numbers (shapes/quantized_product.h): u8s8 and s8s8 convolutions and inner
// products with the requantisation behind them. Integers are added up in 32 bits, exactly.
#include <algorithm>
#include <cmath>

#include "engine/tactics/cpu/onednn/convolution_dims.h"
#include "engine/tactics/cpu/onednn/epilogue.h"
#include "engine/tactics/shapes/quantized_product.h"
#include "engine/tactics/shapes/reading.h"

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

// How sums become what is stored.
struct Requantization {
  QuantizedScales scales;
  bool early = false;   // the result's scale is part of the sums' factors, not applied at the end
  bool padded = false;  // with a zero point of the source: the library has to know it

  float unit() const { return early ? scales.result : 1; }
};

bool pads(const Op& op) {
  const auto* conv = std::get_if<Convolution>(&op);
  const auto any = [](const std::vector<int64_t>& v) {
    return std::ranges::any_of(v, [](int64_t pad) { return pad != 0; });
  };
  return conv && (any(conv->pads_begin) || any(conv->pads_end));
}

Requantization requantization_of(const QuantizedProduct& q, Weights weights) {
  Requantization out;
  out.scales = quantized_scales(q, weights);
  const bool late_addend = q.addend >= 0 && q.addend_scale < 0 && is_eight_bits(q.result);
  out.early = is_homogeneous(q.activation) && out.scales.result > 0 && !late_addend;
  out.padded = q.source_zero != 0 && pads(q.product.op);
  return out;
}

// What is the same for all elements of a channel is added to the sums with the bias: its terms are
// integers, or become so small a part of a step that rounding does not tell.
bool zero_comes_with_bias(const QuantizedProduct& q, const Requantization& r) {
  return q.result_zero != 0 && r.early && !q.activation;
}
bool has_bias(const QuantizedProduct& q, const Requantization& r) {
  return q.bias >= 0 || (q.source_zero != 0 && !r.padded) || q.addend_zero != 0 ||
         zero_comes_with_bias(q, r);
}

// y = act((sum + bias) scale + addend), then the result's own scale and zero point.
Result<dnnl::primitive_attr> attributes_of(const QuantizedProduct& q, const Requantization& r,
                                           const Layout& layout, OnednnRecipe& recipe) {
  std::vector<float> factors;
  for (const float s : r.scales.sums) factors.push_back(kept_from_zero(s) / r.unit());
  dnnl::primitive_attr attributes = base_attributes();
  attributes.set_output_scales(kByChannel, factors);
  if (r.padded) attributes.set_zero_points(DNNL_ARG_SRC, 0, {static_cast<int32_t>(q.source_zero)});
  dnnl::post_ops operations;
  if (q.addend >= 0) {
    const auto input = static_cast<size_t>(q.addend);
    const Format format{q.addend_type, layout};
    recipe.inputs[input] = format;
    if (is_eight_bits(q.addend_type) != is_eight_bits(q.result))
      return no_primitive("an addend of another size than the result");
    operations.append_sum(r.scales.addend / r.unit(), dnnl_type(q.addend_type));
    recipe.in_place_operand = q.addend;
  }
  if (q.activation) {
    CHECK_OK(append_activation(*q.activation, operations));
  }
  const auto zero = static_cast<float>(q.result_zero);
  if (!r.early)
    operations.append_eltwise(1, dnnl::algorithm::eltwise_linear, 1 / r.scales.result, zero);
  else if (zero != 0 && q.activation)
    operations.append_eltwise(1, dnnl::algorithm::eltwise_linear, 1, zero);
  attributes.set_post_ops(operations);
  return attributes;
}

// The sum of each output channel's weights.
std::vector<double> sums_of_weights(const QuantizedProduct& q, const Tensor& weights) {
  const auto* gemm = std::get_if<Gemm>(&q.product.op);
  const bool last = std::holds_alternative<MatMul>(q.product.op) || (gemm && !gemm->transpose_b);
  std::vector<double> out(static_cast<size_t>(q.channels), 0);
  const auto elements = weights.data<int8_t>();
  const size_t each = elements.size() / out.size();
  for (size_t i = 0; i < elements.size(); ++i)
    out[last ? i % out.size() : i / each] += static_cast<double>(elements[i]);
  return out;
}

// The bias in units of the sums, with the zero points that do not hang on the place.
Tensor scaled_bias(const QuantizedProduct& q, Weights weights) {
  const Requantization r = requantization_of(q, weights);
  Tensor out(DataType::float32, {q.channels});
  auto bias = out.mutable_data<float>();
  std::ranges::fill(bias, 0.0f);
  if (weights.empty()) return out;
  const bool folds = q.source_zero != 0 && !r.padded;
  const std::vector<double> of_weights =
      folds ? sums_of_weights(q, *weights[static_cast<size_t>(q.weights)])
            : std::vector<double>(bias.size(), 0);
  double constant = -static_cast<double>(q.addend_zero) * static_cast<double>(r.scales.addend);
  if (zero_comes_with_bias(q, r))
    constant += static_cast<double>(q.result_zero) * static_cast<double>(r.unit());
  for (size_t k = 0; k < bias.size(); ++k) {
    const double own =
        q.bias >= 0 ? static_cast<double>(weights[static_cast<size_t>(q.bias)]->data<float>()[k])
                    : 0.0;
    const auto scale = static_cast<double>(kept_from_zero(r.scales.sums[k]));
    bias[k] = static_cast<float>((own + constant) / scale -
                                 static_cast<double>(q.source_zero) * of_weights[k]);
  }
  return out;
}

// Formats, arguments and constants of a recipe but for its description.
struct Descriptions {
  MemoryDesc source, destination, stored_weights, bias;
};

OnednnRecipe recipe_of(const Problem& p, const QuantizedProduct& q, bool biased,
                       const Layout& layout, const Descriptions& d) {
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
  if (biased)
    recipe.constants.push_back({DNNL_ARG_BIAS, d.bias, [q](Weights w) { return scaled_bias(q, w); },
                                dnnl::query::weights_md, 1});
  return recipe;
}

OnednnRecipes quantized_convolution(const OnednnLibrary& library, const Problem& p,
                                    const QuantizedProduct& q, const Requantization& r) {
  const auto& op = std::get<Convolution>(q.product.op);
  const Dims& x = input_dims(p, 0);
  if (x.size() < 3 || x.size() > 5)
    return no_primitive("a quantised convolution of rank " + std::to_string(x.size()));
  const Layout nhwc{LayoutKind::channels_last, 0};
  const Dims weights = library_weight_dims(input_dims(q.product, 1), op.groups, false);
  const Descriptions d{memory_desc(x, {q.source, nhwc}),
                       memory_desc(output_dims(p), {q.result, nhwc}),
                       stored_weights(weights, DataType::int8, op.groups, false),
                       has_bias(q, r) ? memory_desc({q.channels}, Format{}) : MemoryDesc()};
  OnednnRecipe recipe = recipe_of(p, q, has_bias(q, r), nhwc, d);
  TRY(const dnnl::primitive_attr attributes, attributes_of(q, r, nhwc, recipe));
  const ConvolutionGeometry g = geometry_of(op);
  recipe.implementations = [=, &library](std::string_view wanted) {
    const dnnl::convolution_forward::desc operation(
        dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_direct, d.source,
        any_layout_desc(weights, DataType::int8), d.bias, d.destination, g.strides, g.dilations,
        g.pads_begin, g.pads_end);
    return list_implementations(library, operation, attributes, wanted);
  };
  return std::vector{recipe};
}

OnednnRecipes quantized_inner_product(const OnednnLibrary& library, const Problem& p,
                                      const QuantizedProduct& q, const Requantization& r) {
  const auto* gemm = std::get_if<Gemm>(&q.product.op);
  const bool weights_are_nk = gemm && gemm->transpose_b;
  const int64_t n = q.channels, m = volume(output_dims(p)) / n, k = input_dims(p, 0).back();
  const Dims dims{n, k}, strides = weights_are_nk ? Dims{k, 1} : Dims{1, n};
  const Descriptions d{memory_desc({m, k}, {q.source, {}}), memory_desc({m, n}, {q.result, {}}),
                       MemoryDesc(dims, dnnl_type(DataType::int8), strides),
                       has_bias(q, r) ? memory_desc({n}, Format{}) : MemoryDesc()};
  OnednnRecipe recipe = recipe_of(p, q, has_bias(q, r), {}, d);
  TRY(const dnnl::primitive_attr attributes, attributes_of(q, r, {}, recipe));
  recipe.implementations = [=, &library](std::string_view wanted) {
    const dnnl::inner_product_forward::desc operation(dnnl::prop_kind::forward_inference, d.source,
                                                      any_layout_desc(dims, DataType::int8), d.bias,
                                                      d.destination);
    return list_implementations(library, operation, attributes, wanted);
  };
  return std::vector{recipe};
}

}  // namespace

OnednnRecipes quantized_recipes(const OnednnLibrary& library, const Problem& p, Weights weights) {
  // Below it the library adds up pairs of products in 16 bits, which saturate.
  if (library.isa < CpuIsa::avx512_vnni)
    return no_primitive("sums of 8-bit products need VNNI to be exact");
  TRY(const QuantizedProduct q, quantized_product(p));
  const Requantization r = requantization_of(q, weights);
  return std::holds_alternative<Convolution>(q.product.op)
             ? quantized_convolution(library, p, q, r)
             : quantized_inner_product(library, p, q, r);
}

}  // namespace enginery
