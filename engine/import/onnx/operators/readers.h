// The operator readers: which operator of a file is read by which function.
//
// A reader turns one node into operators of the Graph, whatever form its operator set gives it:
// attributes in the older, inputs in the newer. An operator of ours whose ONNX form is new: one row
// in the list of its family.
#pragma once

#include <span>
#include <string_view>

#include "engine/import/onnx/node_reader.h"

namespace enginery {

// One row: an operator type of ONNX and the function that reads every form of it.
struct OperatorReader {
  std::string_view op_type;
  void (*read)(NodeReader& node);
};

// One list for each family, each in the file of its name. Adding an operator touches one of them.
std::span<const OperatorReader>
convolution_readers();  // read_convolution.cpp: convolutions, poolings
std::span<const OperatorReader>
matrix_readers();  // read_matrix.cpp: matrix products, Einstein sums
std::span<const OperatorReader>
elementwise_readers();  // read_elementwise.cpp: arithmetic, comparisons, casts
std::span<const OperatorReader>
activation_readers();  // read_activation.cpp: activations, unary functions
std::span<const OperatorReader>
normalization_readers();  // read_normalization.cpp: normalisations, softmax
std::span<const OperatorReader>
shaping_readers();  // read_shaping.cpp: shapes, transposes, identities
std::span<const OperatorReader>
slicing_readers();  // read_slicing.cpp: concat, split, slice, gather, pad
std::span<const OperatorReader>
generator_readers();  // read_generator.cpp: constants, ranges, masks
std::span<const OperatorReader> reduction_readers();  // read_reduction.cpp: reductions, arg-max
std::span<const OperatorReader> resize_readers();     // read_resize.cpp: resizing
std::span<const OperatorReader>
scattering_readers();  // read_scattering.cpp: scattered places, order, running sums
std::span<const OperatorReader>
quantization_readers();  // read_quantization.cpp: to and from small integers

std::span<const OperatorReader>
recurrent_readers();                               // read_recurrent.cpp: recurrent layers, unrolled
std::span<const OperatorReader> loss_readers();    // read_loss.cpp
std::span<const OperatorReader> deform_readers();  // read_deform_conv.cpp
std::span<const OperatorReader> sampling_readers();     // read_sampling.cpp: between pixels
std::span<const OperatorReader> rearranging_readers();  // read_rearranging.cpp: moved elements
std::span<const OperatorReader> signal_readers();       // read_signal.cpp: windows, transforms
std::span<const OperatorReader> attention_readers();    // read_attention.cpp
std::span<const OperatorReader> microsoft_readers();    // read_microsoft.cpp: another domain
std::span<const OperatorReader>
microsoft_quantized_readers();  // read_microsoft_quantized.cpp: the same, on 8-bit numbers
std::span<const OperatorReader> control_readers();   // read_control.cpp: branches and loops
std::span<const OperatorReader> sequence_readers();  // read_sequence.cpp: lists of tensors

// The reader of an operator of the domain (empty: ONNX's own); null when there is none.
const OperatorReader* find_reader(std::string_view domain, std::string_view op_type);

// Whether an operator may read tensors of which each run tells a size (open_readers.cpp).
bool reads_open_axes(std::string_view domain, std::string_view op_type);

}  // namespace enginery
