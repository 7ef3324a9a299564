#include "engine/runtime/sample_input.h"

namespace enginery {

Tensor sample_input(const TensorType& type) {
  Tensor out(DataType::float32, type.dims);
  auto values = out.mutable_data<float>();
  constexpr size_t kPeriod =
      251;  // prime: no power-of-two stride meets the same value again and again
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = is_floating(type.type) ? static_cast<float>(i % kPeriod) / 125 - 1 : 0;
  return convert(out, type.type);
}

}  // namespace enginery
