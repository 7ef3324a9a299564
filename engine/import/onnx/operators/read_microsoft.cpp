// Operators of the domain com.microsoft, which ONNX Runtime's optimiser writes. Source: ONNX
// Runtime's list of contributed operators.
#include <cmath>

#include "engine/import/onnx/operators/attention.h"
#include "engine/import/onnx/operators/read_helpers.h"
#include "engine/import/onnx/operators/readers.h"

namespace enginery {
namespace {

ValueId add_optional(NodeReader& node, ValueId x, ValueId bias) {
  return bias == kNoValue ? x : node.add(Binary{BinaryKind::add}, {x, bias});
}

template <ActivationKind kind>
void read_gelu_of_sum(NodeReader& node) {
  const ValueId x = node.input(0);
  node.result(Activation{kind}, {add_optional(node, x, node.optional_input(1))});
}

void read_quick_gelu(NodeReader& node) {
  node.result(sigmoid_weighted(node, node.input(0), node.real("alpha", 1.702f)));
}

ValueId transposed_matrix(NodeReader& node, ValueId x) {
  std::vector<int64_t> order;
  for (int64_t i = 0; i < node.rank(x); ++i) order.push_back(i);
  if (order.size() > 1) std::swap(order[order.size() - 1], order[order.size() - 2]);
  return order.size() > 1 ? node.add(Transpose{order}, {x}) : x;
}

void read_fused_matmul(NodeReader& node) {
  for (const char* name : {"transBatchA", "transBatchB"}) {
    if (node.integer(name, 0) != 0)
      return node.refuse(std::string("attribute ") + name + " is not supported");
  }
  ValueId a = node.input(0), b = node.input(1);
  if (node.integer("transA", 0) != 0) a = transposed_matrix(node, a);
  if (node.integer("transB", 0) != 0) b = transposed_matrix(node, b);
  const float alpha = node.real("alpha", 1);
  if (alpha == 1) return node.result(MatMul{}, {a, b});
  const ValueId product = node.add(MatMul{}, {a, b});
  node.result(Binary{BinaryKind::mul}, {product, node.number_constant(alpha, node.type(a))});
}

// Attributes activation and activation_params (alpha, beta; a clip's bounds).
void result_fused(NodeReader& node, ValueId x) {
  struct Known {
    std::string_view name;
    ActivationKind kind;
    float alpha, beta;
  };
  constexpr Known kKnown[] = {
      {"Relu", ActivationKind::relu, 0, 0},
      {"Tanh", ActivationKind::tanh, 0, 0},
      {"Sigmoid", ActivationKind::sigmoid, 0, 0},
      {"LeakyRelu", ActivationKind::leaky_relu, 0.01f, 0},
      {"Clip", ActivationKind::clip, -INFINITY, INFINITY},
      {"HardSigmoid", ActivationKind::hard_sigmoid, 0.2f, 0.5f},
  };
  const std::string wanted = node.text("activation", "");
  const AttributeValue* attribute = node.any("activation_params");
  const auto* given = attribute ? std::get_if<std::vector<float>>(attribute) : nullptr;
  const std::vector<float> parameters = given ? *given : std::vector<float>();
  if (wanted.empty()) return node.result(x);
  for (const Known& known : kKnown) {
    if (known.name != wanted) continue;
    return node.result(Activation{known.kind, !parameters.empty() ? parameters[0] : known.alpha,
                                  parameters.size() > 1 ? parameters[1] : known.beta},
                       {x});
  }
  node.refuse("activation '" + printable(wanted) + "' is not supported");
}

// Inputs: x, weights, bias, what is added before the activation.
void read_fused_conv(NodeReader& node) {
  const Convolution op = convolution_of(node);
  const ValueId y = node.add(op, {node.input(0), node.input(1), node.optional_input(2)});
  result_fused(node, add_optional(node, y, node.optional_input(3)));
}

void read_fused_gemm(NodeReader& node) {
  Gemm op{node.real("alpha", 1), node.real("beta", 1), node.integer("transA", 0) != 0,
          node.integer("transB", 0) != 0};
  std::vector<float> parameters;
  const float alpha = node.real("activation_alpha", 0);
  const ValueId y = node.add(op, {node.input(0), node.input(1), node.optional_input(2)});
  const std::string wanted = node.text("activation", "");
  if (wanted == "LeakyRelu" && node.has("activation_alpha"))
    return node.result(Activation{ActivationKind::leaky_relu, alpha}, {y});
  if (node.has("activation_beta") || node.has("activation_gamma"))
    return node.refuse("attributes of its activation are not supported");
  result_fused(node, y);
}

// Output 3 is the sum that is normalised; the statistics are for training.
template <bool has_mean>
void read_skip_norm(NodeReader& node) {
  const float epsilon = node.real("epsilon", has_mean ? 1e-12f : 1e-5f);
  const ValueId both = node.add(Binary{BinaryKind::add}, {node.input(0), node.input(1)});
  const ValueId scale = node.input(2);
  const ValueId shift = has_mean ? node.optional_input(3) : kNoValue;
  const ValueId sum = add_optional(node, both, node.optional_input(has_mean ? 4 : 3));
  node.result(has_mean ? node.add(LayerNorm{-1, epsilon}, {sum, scale, shift})
                       : rms_normalized(node, sum, scale, -1, epsilon, DataType::float32),
              0);
  node.result(sum, 3);
}

void read_embed_layer_norm(NodeReader& node) {
  const ValueId ids = as_int64(node, node.input(0)),
                segments = as_int64(node, node.optional_input(1));
  const int64_t length = node.size(ids, 1, "the length of the sequence");
  ValueId sum = node.add(Gather{0}, {node.input(2), ids});
  const ValueId positions = as_int64(node, node.optional_input(8));
  const ValueId table = node.input(3);
  sum = node.add(Binary{BinaryKind::add},
                 {sum, node.add(Gather{0}, {table, positions == kNoValue ? counting(node, length)
                                                                         : positions})});
  const ValueId kinds = node.optional_input(4);
  if (segments != kNoValue && kinds != kNoValue)
    sum = node.add(Binary{BinaryKind::add}, {sum, node.add(Gather{0}, {kinds, segments})});
  const LayerNorm op{-1, node.real("epsilon", 1e-12f)};
  node.ignore({"mask_index_type"});
  const ValueId mask = node.optional_input(7);
  node.result(node.add(op, {sum, node.input(5), node.input(6)}), 0);
  if (node.has_output(1) && mask != kNoValue)
    node.result(node.add(Reduce{ReduceKind::sum, {1}, false}, {mask}), 1);
  node.result(sum, 2);
}

// The forms of mask_index: which keys may be looked at, as [batch, keys] of 0 and 1, as
// [batch, queries, keys], or as the number of keys of each picture.
ValueId read_mask_index(NodeReader& node, ValueId mask, int64_t keys) {
  const ValueId lengths = as_int64(node, mask);
  if (node.rank(mask) == 1) {
    const ValueId each = node.add(Reshape{}, {lengths, node.ints_constant({-1, 1, 1, 1})});
    return node.add(Binary{BinaryKind::less}, {counting(node, keys), each});
  }
  if (node.rank(mask) > 3) node.refuse("a mask of four dimensions is not supported");
  const ValueId flags = node.add(Cast{DataType::boolean}, {lengths});
  return node.add(Unsqueeze{}, {flags, node.rank(mask) == 2 ? node.ints_constant({1, 2})
                                                            : node.ints_constant({1})});
}

ValueId read_fused_attention_bias(NodeReader& node, DataType type, int64_t length) {
  const double otherwise = static_cast<double>(node.real("mask_filter_value", -10000));
  ValueId bias = node.optional_input(5);
  const ValueId mask = node.optional_input(3);
  if (mask != kNoValue) {
    const ValueId allowed = read_mask_index(node, mask, length);
    bias = add_optional(node, additive_mask(node, allowed, otherwise, type), bias);
  }
  if (node.integer("unidirectional", 0) != 0) {
    const ValueId causal =
        additive_mask(node, causal_mask(node, length, length, 0), -INFINITY, type);
    bias = add_optional(node, causal, bias);
  }
  return bias;
}

void read_fused_attention(NodeReader& node) {
  const ValueId x = node.input(0), weights = node.input(1);
  const int64_t heads = node.integer("num_heads", 0);
  if (node.integer("do_rotary", 0) != 0 || node.has_input(4))
    return node.refuse("rotary embeddings and past keys are not supported");
  node.ignore({"rotary_embedding_dim", "past_present_share_buffer", "do_rotary"});
  const int64_t third = node.size(weights, 1, "the size of the weights") / 3;
  const auto sizes = node.integers("qkv_hidden_sizes", {third, third, third});
  if (sizes.size() != 3) return node.reject("attribute qkv_hidden_sizes has not three sizes");
  const ValueId all = add_optional(node, node.add(MatMul{}, {x, weights}), node.optional_input(2));
  auto parts = node.add_all(Split{2, sizes}, {all});
  if (!node.ok()) return;
  for (ValueId& part : parts) part = to_heads(node, part, heads);
  AttentionScores form;
  form.softmax_type = node.type(x);
  const int64_t size = std::max<int64_t>(node.size(parts[0], 3, "the size of a head"), 1);
  form.scale = static_cast<double>(node.real("scale", 0));
  if (form.scale == 0) form.scale = 1 / std::sqrt(static_cast<double>(size));
  if (node.has_input(3) || node.has_input(5) || node.integer("unidirectional", 0) != 0)
    form.bias = read_fused_attention_bias(node, node.type(x),
                                          node.size(x, 1, "the length of the sequence"));
  node.ignore({"mask_filter_value"});
  node.result(from_heads(node, attend(node, form, parts[0], parts[1], parts[2]).result), 0);
}

constexpr OperatorReader kMicrosoftReaders[] = {
    {"Gelu", read_gelu_of_sum<ActivationKind::gelu_erf>},
    {"BiasGelu", read_gelu_of_sum<ActivationKind::gelu_erf>},
    {"FastGelu", read_gelu_of_sum<ActivationKind::gelu_tanh>},
    {"QuickGelu", read_quick_gelu},
    {"FusedMatMul", read_fused_matmul},
    {"TransposeMatMul", read_fused_matmul},
    {"FusedConv", read_fused_conv},
    {"FusedGemm", read_fused_gemm},
    {"SkipLayerNormalization", read_skip_norm<true>},
    {"SkipSimplifiedLayerNormalization", read_skip_norm<false>},
    {"EmbedLayerNormalization", read_embed_layer_norm},
    {"Attention", read_fused_attention},
};

}  // namespace

std::span<const OperatorReader> microsoft_readers() {
  return kMicrosoftReaders;
}

}  // namespace enginery
