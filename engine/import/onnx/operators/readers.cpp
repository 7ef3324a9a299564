#include "engine/import/onnx/operators/readers.h"

namespace enginery {

const OperatorReader* find_reader(std::string_view op_type) {
  for (auto family :
       {convolution_readers(), matrix_readers(), elementwise_readers(), activation_readers(),
        normalization_readers(), shaping_readers(), slicing_readers(), generator_readers(),
        reduction_readers(), resize_readers(), scattering_readers(), quantization_readers()}) {
    for (const OperatorReader& reader : family) {
      if (reader.op_type == op_type) return &reader;
    }
  }
  return nullptr;
}

}  // namespace enginery
