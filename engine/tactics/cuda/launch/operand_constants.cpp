#include "engine/tactics/cuda/launch/operand_constants.h"

#include "engine/device/format_convert.h"

namespace enginery {
namespace {

PackConstant pack_channels(const EpilogueSource& source, int64_t padded) {
  return [source, padded](Weights weights) {
    Tensor values = convert(*weights[static_cast<size_t>(source.input)], DataType::float32);
    std::vector<float> packed(
        static_cast<size_t>(source.access == OperandAccess::single ? 1 : padded), 0.0f);
    auto data = values.data<float>();
    for (size_t i = 0; i < data.size(); ++i) packed[i] = source.scale * data[i];
    return bytes_of_values(packed);
  };
}

PackConstant pack_in_order(const EpilogueSource& source) {
  return [source](Weights weights) {
    Tensor values = convert(*weights[static_cast<size_t>(source.input)], DataType::float32);
    for (float& v : values.mutable_data<float>()) v *= source.scale;
    return Bytes(as_text(values.byte_span()));
  };
}

// A constant of the output's size, as the output lies.
PackConstant pack_whole(const EpilogueSource& source, const EpilogueFrame& frame) {
  return [source, frame](Weights weights) {
    Tensor values = convert(*weights[static_cast<size_t>(source.input)], DataType::float32)
                        .reshaped(frame.dims);
    for (float& v : values.mutable_data<float>()) v *= source.scale;
    Bytes packed(static_cast<size_t>(physical_bytes(frame.dims, frame.format)), '\0');
    to_physical(values, frame.format, packed.data());
    return packed;
  };
}

}  // namespace

PackConstant pack_operand(const EpilogueSource& source, const EpilogueFrame& frame) {
  switch (source.access) {
    case OperandAccess::same:
      return pack_whole(source, frame);
    case OperandAccess::broadcast:
      return pack_in_order(source);
    case OperandAccess::channel:
    case OperandAccess::image_channel:
    case OperandAccess::single:
      break;
  }
  return pack_channels(source, frame.padded);
}

}  // namespace enginery
