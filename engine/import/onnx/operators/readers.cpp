#include "engine/import/onnx/operators/readers.h"

#include <algorithm>

namespace enginery {

namespace {

const OperatorReader* find_in(std::span<const OperatorReader> family, std::string_view op_type) {
  const auto found = std::ranges::find(family, op_type, &OperatorReader::op_type);
  return found == family.end() ? nullptr : &*found;
}

}  // namespace

const OperatorReader* find_reader(std::string_view domain, std::string_view op_type) {
  if (domain == "com.microsoft") {
    const OperatorReader* reader = find_in(microsoft_readers(), op_type);
    return reader ? reader : find_in(microsoft_quantized_readers(), op_type);
  }
  if (!domain.empty() && domain != "ai.onnx") return nullptr;
  for (auto family :
       {convolution_readers(),   matrix_readers(),   elementwise_readers(), activation_readers(),
        normalization_readers(), shaping_readers(),  slicing_readers(),     generator_readers(),
        reduction_readers(),     resize_readers(),   scattering_readers(),  quantization_readers(),
        recurrent_readers(),     sampling_readers(), loss_readers(),        deform_readers(),
        rearranging_readers(),   signal_readers(),   attention_readers(),   control_readers(),
        sequence_readers()}) {
    if (const OperatorReader* reader = find_in(family, op_type)) return reader;
  }
  return nullptr;
}

}  // namespace enginery
