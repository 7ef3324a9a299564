// Normalisations and softmax. Sources: ONNX BatchNormalization-15, LRN-13, InstanceNormalization-6,
// LayerNormalization-17, Softmax-13, LogSoftmax-13.
#pragma once

#include "engine/ops/attributes.h"
#include "engine/ops/operand.h"

namespace enginery {

// Inputs: x [N, C, ...], scale [C], bias [C], mean [C], variance [C]. y = scale * (x - mean) /
// sqrt(variance + epsilon) + bias.
struct BatchNorm {
  static constexpr std::string_view kName = "batch_norm";
  float epsilon = 1e-5f;
  template <typename Self, typename V>
  static void fields(Self& s, V&& v) {
    v("epsilon", s.epsilon);
  }
};

// Across channels: y = x / (bias + alpha/size * sum of squares over `size` channels centred on
// x's)^beta.
struct Lrn {
  static constexpr std::string_view kName = "lrn";
  int64_t size = 5;
  float alpha = 1e-4f, beta = 0.75f, bias = 1;
  template <typename Self, typename V>
  static void fields(Self& s, V&& v) {
    v("size", s.size), v("alpha", s.alpha), v("beta", s.beta), v("bias", s.bias);
  }
};

// Inputs: x [N, C, spatial...], scale [C], bias [C]; mean and variance over the spatial dimensions.
struct InstanceNorm {
  static constexpr std::string_view kName = "instance_norm";
  float epsilon = 1e-5f;
  template <typename Self, typename V>
  static void fields(Self& s, V&& v) {
    v("epsilon", s.epsilon);
  }
};

// Inputs: x, scale, optional bias, both of dims[axis..]; mean and variance over dims[axis..]. One
// output.
struct LayerNorm {
  static constexpr std::string_view kName = "layer_norm";
  int64_t axis = -1;
  float epsilon = 1e-5f;
  template <typename Self, typename V>
  static void fields(Self& s, V&& v) {
    v("axis", s.axis), v("epsilon", s.epsilon);
  }
};

// Along one axis; `log` gives the logarithm of the softmax.
struct Softmax {
  static constexpr std::string_view kName = "softmax";
  int64_t axis = -1;
  bool log = false;
  template <typename Self, typename V>
  static void fields(Self& s, V&& v) {
    v("axis", s.axis), v("log", s.log);
  }
};

InferredTypes infer(const BatchNorm& op, Operands in);
Status reference(const BatchNorm& op, ReferenceInputs in, ReferenceOutputs out);
InferredTypes infer(const Lrn& op, Operands in);
Status reference(const Lrn& op, ReferenceInputs in, ReferenceOutputs out);
InferredTypes infer(const InstanceNorm& op, Operands in);
Status reference(const InstanceNorm& op, ReferenceInputs in, ReferenceOutputs out);
InferredTypes infer(const LayerNorm& op, Operands in);
Status reference(const LayerNorm& op, ReferenceInputs in, ReferenceOutputs out);
InferredTypes infer(const Softmax& op, Operands in);
Status reference(const Softmax& op, ReferenceInputs in, ReferenceOutputs out);

}  // namespace enginery
