// A model file with its quantisation written into it: `calibrate --to-qdq`.
//
// Where: beside import_model; from a model and the scales of its tensors to a model of the same
// format that any runtime of the format runs. Free function without state.
#pragma once

#include <set>

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

// Pairs of an output of a node, which stands for the node, and a tensor that it reads.
using TensorReads = std::set<std::pair<std::string, std::string>>;

// Which nodes read which tensors in 8 bits, by the names of the file.
struct QdqPlaces {
  std::map<std::string, ActivationScale> tensors;
  TensorReads reads;  // of tensors in `tensors`
  // By the first output of a Conv or Gemm: what is added to its bias, for each output channel.
  std::map<std::string, std::vector<float>> bias_corrections = {};
};

// QuantizeLinear and DequantizeLinear where `places` says, one pair for a tensor. The weights of a
// Conv, Gemm or MatMul that reads its activation so are stored as int8, symmetric, with a scale for
// each output channel (the largest magnitude / 127), and its bias is corrected. Bodies of branches,
// loops and functions stay as they are. Errors: those of reading the model; unsupported (an
// operator set before 13, which has no scale for each channel; a model without a node to quantise).
Result<QuantizedModel> write_qdq(const ModelSource& source, const QdqPlaces& places);

}  // namespace enginery
