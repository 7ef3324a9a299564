// Normalisations and softmax. Sources: ONNX BatchNormalization-15 (inference form), LRN-13,
// InstanceNormalization-6, LayerNormalization-17, GroupNormalization-21, RMSNormalization-23,
// Softmax-13, LogSoftmax-13.
//
// Floating inputs only; each output has the dims and type of x. References sum in double.
#pragma once

#include "engine/ops/attributes.h"
#include "engine/ops/operand.h"

namespace enginery {

// Inputs: x [N, C, ...], scale [C], bias [C], mean [C], variance [C]. y = scale * (x - mean) /
// sqrt(variance + epsilon) + bias.
struct BatchNorm {
  static constexpr std::string_view kName = "batch_norm";
  static constexpr bool kMovesElements = false;
  float epsilon = 1e-5f;
  template <typename Self, typename V>
  static void fields(Self& s, V&& v) {
    v("epsilon", s.epsilon);
  }
};

// Local response normalisation across channels of x [N, C, ...]: y = x / (bias + alpha/size * sum
// of squares over `size` channels centred on x's)^beta. Channels outside of x count as 0. Source:
// Krizhevsky et al., "ImageNet classification with deep convolutional neural networks" (2012),
// section 3.3, with alpha divided by size as in ONNX.
struct Lrn {
  static constexpr std::string_view kName = "lrn";
  static constexpr bool kMovesElements = false;
  int64_t size = 5;
  float alpha = 1e-4f, beta = 0.75f, bias = 1;
  template <typename Self, typename V>
  static void fields(Self& s, V&& v) {
    v("size", s.size);
    v("alpha", s.alpha);
    v("beta", s.beta);
    v("bias", s.bias);
  }
};

// Inputs: x [N, C, spatial...], scale [C], bias [C]. As BatchNorm, with mean and variance over the
// spatial dimensions of each picture and channel.
struct InstanceNorm {
  static constexpr std::string_view kName = "instance_norm";
  static constexpr bool kMovesElements = false;
  float epsilon = 1e-5f;
  template <typename Self, typename V>
  static void fields(Self& s, V&& v) {
    v("epsilon", s.epsilon);
  }
};

// Inputs: x, scale, optional bias, both of dims[axis..]; mean and variance over dims[axis..]. One
// output: ONNX's mean and inverse deviation are for training. Source: Ba et al., "Layer
// normalization" (2016).
struct LayerNorm {
  static constexpr std::string_view kName = "layer_norm";
  static constexpr bool kMovesElements = false;
  int64_t axis = -1;
  float epsilon = 1e-5f;
  template <typename Self, typename V>
  static void fields(Self& s, V&& v) {
    v("axis", s.axis);
    v("epsilon", s.epsilon);
  }
};

// Inputs: x, scale of dims[axis..]. y = x / sqrt(mean(x^2) + epsilon) * scale, the mean over
// dims[axis..]. Source: Zhang and Sennrich, "Root mean square layer normalization" (2019).
struct RmsNorm {
  static constexpr std::string_view kName = "rms_norm";
  static constexpr bool kMovesElements = false;
  int64_t axis = -1;
  float epsilon = 1e-5f;
  template <typename Self, typename V>
  static void fields(Self& s, V&& v) {
    v("axis", s.axis);
    v("epsilon", s.epsilon);
  }
};

// Inputs: x [N, C, ...], scale [C], bias [C]. As InstanceNorm, with mean and variance over
// C / groups neighbouring channels. Source: Wu and He, "Group normalization" (2018).
struct GroupNorm {
  static constexpr std::string_view kName = "group_norm";
  static constexpr bool kMovesElements = false;
  int64_t groups = 1;
  float epsilon = 1e-5f;
  template <typename Self, typename V>
  static void fields(Self& s, V&& v) {
    v("groups", s.groups);
    v("epsilon", s.epsilon);
  }
};

// exp(x - max) / sum(exp(x - max)) along one axis (negative: from the end); `log` gives the
// logarithm of it. Opset 12 and older, which flatten to a matrix first, are imported with reshapes
// around this.
struct Softmax {
  static constexpr std::string_view kName = "softmax";
  static constexpr bool kMovesElements = false;
  int64_t axis = -1;
  bool log = false;
  template <typename Self, typename V>
  static void fields(Self& s, V&& v) {
    v("axis", s.axis);
    v("log", s.log);
  }
};

ENGINERY_OPERATOR(BatchNorm);
ENGINERY_OPERATOR(Lrn);
ENGINERY_OPERATOR(InstanceNorm);
ENGINERY_OPERATOR(LayerNorm);
ENGINERY_OPERATOR(RmsNorm);
ENGINERY_OPERATOR(GroupNorm);
ENGINERY_OPERATOR(Softmax);

}  // namespace enginery
