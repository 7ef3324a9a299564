#include "engine/tactics/shapes/reading.h"

namespace enginery {

Error refusal(const std::string& reason) {
  return {ErrorCode::unsupported, reason};
}

Status require_static(const Problem& problem) {
  constexpr int64_t kMaxElements = int64_t{INT32_MAX} - 65536;
  for (const auto* descs : {&problem.inputs, &problem.outputs}) {
    for (const TensorDesc& desc : *descs) {
      if (!desc.present) continue;
      if (!is_static(desc.type.dims)) return refusal(to_string(desc.type) + " has run-time sizes");
      if (volume(desc.type.dims) > kMaxElements)
        return refusal(to_string(desc.type) + " has more than 2^31 elements");
    }
  }
  return {};
}

Format channels_last_format(DataType type, int64_t channels, int64_t block) {
  return {type,
          {LayoutKind::channels_last, channels % block == 0 ? 0 : static_cast<int32_t>(block)}};
}

Dims layout_strides(const Dims& dims, const Layout& layout) {
  if (layout.kind != LayoutKind::channels_last) return strides_of(dims);
  Dims strides(dims.size(), 1);
  int64_t stride = padded_channels(dims, layout);
  for (size_t d = dims.size(); d-- > 2; stride *= dims[d]) strides[d] = stride;
  strides[0] = stride;
  return strides;
}

Precision precision_of_storage(DataType type) {
  if (type == DataType::bfloat16) return Precision::bf16;
  return type == DataType::float16 ? Precision::fp16 : Precision::fp32;
}

DataType storage_of_precision(Precision precision) {
  if (precision == Precision::bf16) return DataType::bfloat16;
  return precision == Precision::fp16 ? DataType::float16 : DataType::float32;
}

Precision precision_of_storage(DataType a, DataType b) {
  const Precision p = precision_of_storage(a), q = precision_of_storage(b);
  if (p == Precision::bf16 || q == Precision::bf16) return Precision::bf16;
  return p == Precision::fp32 ? q : p;
}

}  // namespace enginery
