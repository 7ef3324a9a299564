#include "engine/tensor/symmetric_int8.h"

#include <algorithm>
#include <cmath>

namespace enginery {
namespace {

constexpr float kInt8Largest = 127, kUint8Largest = 255;

}  // namespace

float ActivationScale::step() const {
  return non_negative ? scale * (kInt8Largest / kUint8Largest) : scale;
}

ActivationScale unsigned_scale(float step) {
  return {step * (kUint8Largest / kInt8Largest), true};
}

QuantizedWeights quantize_weights(const Tensor& weights, int64_t axis) {
  size_t inner = 1;
  for (int64_t d = axis + 1; d < weights.rank(); ++d)
    inner *= static_cast<size_t>(weights.dims()[static_cast<size_t>(d)]);
  const int64_t channels = weights.dims()[static_cast<size_t>(axis)];
  const auto values = weights.data<float>();
  const auto channel_of = [&](size_t i) { return i / inner % static_cast<size_t>(channels); };
  QuantizedWeights out{Tensor(DataType::int8, weights.dims()),
                       Tensor(DataType::float32, {channels})};
  const auto scales = out.scales.mutable_data<float>();
  std::ranges::fill(scales, 0.0f);
  for (size_t i = 0; i < values.size(); ++i)
    scales[channel_of(i)] = std::max(scales[channel_of(i)], std::abs(values[i]));
  for (float& scale : scales) scale = scale > 0 ? scale / kInt8Largest : 1;
  const auto elements = out.elements.mutable_data<int8_t>();
  for (size_t i = 0; i < values.size(); ++i) {
    const float q = std::nearbyint(values[i] / scales[channel_of(i)]);
    elements[i] = static_cast<int8_t>(std::clamp(q, -kInt8Largest, kInt8Largest));
  }
  return out;
}

}  // namespace enginery
