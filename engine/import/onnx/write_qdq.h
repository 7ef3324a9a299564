// A model file with its quantisation written into it: `calibrate --to-qdq`.
//
// Where: beside import_model; from a model and the scales of its tensors to a model of the same
// format that any runtime of the format runs. Free function without state.
#pragma once

#include "engine/import/importer.h"
#include "engine/tensor/symmetric_int8.h"

namespace enginery {

struct QuantizedModel {
  Bytes bytes;                     // self-contained: external weights are inside
  int64_t nodes = 0;               // that compute on quantised numbers
  std::vector<std::string> notes;  // for the user: which nodes stay in float, and why
};

// Whether write_qdq can write such a model, asked before there are scales. Errors: those of reading
// it; unsupported (an operator set before 13, which has no scale for each channel).
Status check_qdq(const ModelSource& source);

// QuantizeLinear and DequantizeLinear before the inputs of every Conv, ConvTranspose, Gemm and
// MatMul of the model's graph. Activations: int8 or uint8 with the scale of their tensor in
// `scales`; weights: stored as int8, symmetric, with a scale for each output channel (the largest
// magnitude / 127). Bodies of branches, loops and functions stay as they are. Errors: those of
// reading the model; unsupported (an operator set before 13, which has no scale for each channel; a
// model without a node to quantise).
Result<QuantizedModel> write_qdq(const ModelSource& source,
                                 const std::map<std::string, ActivationScale>& scales);

}  // namespace enginery
