// The fused epilogue as generated code: a list of steps over a vector of float32 values at (m, k)
// becomes one function.
//
// Where: kernels call `epilogue<V>(v, args, image, k, index, ldy, channels)` before they store; the
// text comes from here. `index` is the place in the output, `image` the picture that m belongs to,
// `ldy` channels with their padding.
#pragma once

#include <string>
#include <vector>

#include "engine/ops/activation.h"
#include "enginery/types.h"

namespace enginery {

enum class OperandAccess {
  channel,        // float32 [ldy], read at k
  same,           // the output's type and place
  image_channel,  // the output's type, [images][ldy], read at (image, k)
  single,         // one float32
  walked,  // anything that repeats along some dimensions, read by an OperandWalk; only beside
           // outputs without padding
};

// How an operand is read beside each element of the output's storage. Dimensions as the output is
// stored, outermost first; the operand's stride along each, in elements, is 0 where it repeats.
struct OperandWalk {
  std::vector<int64_t> dims, strides;
  DataType type = DataType::float32;

  // The next dimension inward; one with the last where it runs on, none where its size is 1.
  void append(int64_t size, int64_t stride);
};
// `unsigned NAME(unsigned rest)`: the operand's place beside the output's place `rest`.
std::string place_text(const std::string& name, const OperandWalk& walk);

enum class CodeStepKind { add, multiply, activation };

struct CodeStep {
  CodeStepKind kind = CodeStepKind::activation;
  Activation activation;
  OperandAccess access = OperandAccess::same;
  int slot = -1;  // index into EpilogueArgs::operand
  OperandWalk walk;
};

struct EpilogueCode {
  std::vector<CodeStep> steps;
  DataType output = DataType::float32;  // float32 or float16
  bool zero_padding = false;            // write zeros to k >= channels
};

std::string epilogue_text(const EpilogueCode& code);

// One operand of a pointwise anchor.
struct ElementOperand {
  OperandAccess access = OperandAccess::same;
  DataType type = DataType::float32;  // of a `same` or `image_channel` operand
  OperandWalk walk;
};
// `elements(args, image, k, index, ldy, v)`: v = expression over u0, u1, ..., one an operand in the
// order of its slots.
std::string elements_text(const std::vector<ElementOperand>& operands,
                          const std::string& expression);

// An expression over the float `x` (evaluated more than once) that computes the activation, the
// unary function.
std::string activation_text(const Activation& activation, const std::string& x);
// Empty where kernels have no such function (logical ones).
std::string unary_text(UnaryKind kind, const std::string& x);

// "float" or "half_t"; empty for other types.
std::string storage_type_text(DataType type);

}  // namespace enginery
