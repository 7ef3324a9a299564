// The fused epilogue as generated code: its steps over a vector of float32 values at (m, k) become
// one function.
//
// Where: the families' plans put the text into their programs; kernels call `epilogue<V>(v, args,
// image, k, index, ldy, channels)` before they store. `index` is the place in the output, `image`
// the image that m belongs to, `ldy` channels with their padding. Threads: pure functions; equal
// steps give equal text.
#pragma once

#include <string>
#include <vector>

#include "engine/tactics/shapes/epilogue.h"

namespace enginery {

// `template <int V> void epilogue(float (&v)[V], ...)`.
std::string epilogue_text(const FusedEpilogue& epilogue);

// The same in two parts, VECTOR elements (a macro) at a time, for kernels that read what the steps
// need before they have the sums: `Channels read_channels(args, k)`, once for all rows, with what
// is one number for all channels; `Row read_row(args, index)`; and `epilogue_behind(v, channels,
// row, args, image, k, index, ldy, channel_count)`.
std::string early_epilogue_text(const FusedEpilogue& epilogue);

// `Row row_of(v)`: a row as if it had been read from where `v` is stored, for kernels that have it
// themselves. Requires one operand that is read at the output's place.
std::string kept_row_text(const FusedEpilogue& epilogue);

// `unsigned NAME(unsigned rest)`: the operand's place beside the output's place `rest`, in
// elements.
std::string place_text(const std::string& name, const BroadcastStrides& strides);

// One operand of a pointwise anchor.
struct ElementOperand {
  OperandAccess access = OperandAccess::same;
  DataType type = DataType::float32;  // of a `same` or `image_channel` operand
  BroadcastStrides strides;
};
// `elements(args, image, k, index, first, ldy, v)`: runs the statements, then v = expression; both
// over u0, u1, ..., one an operand in the order of its slots. `first` is the place in the first
// one, where that is a `same` one of floats.
std::string elements_text(const std::vector<ElementOperand>& operands,
                          const std::string& statements, const std::string& expression);

// A float literal that reads back to the same value.
std::string literal_text(float value);

// An expression over the float `x` (evaluated more than once) that computes the activation, the
// unary function.
std::string activation_text(const Activation& activation, const std::string& x);
// Empty where kernels have no such function (logical ones).
std::string unary_text(UnaryKind kind, const std::string& x);

// "float", "half_t" or "bfloat_t"; empty for other types.
std::string storage_type_text(DataType type);
// Any element type that kernels know, booleans as bytes; empty for others. What computes in floats
// takes storage_type_text's alone.
std::string element_type_text(DataType type);
// An unsigned type of so many bytes: 1, 2, 4, 8 or 16.
std::string unit_text(int64_t bytes);

}  // namespace enginery
