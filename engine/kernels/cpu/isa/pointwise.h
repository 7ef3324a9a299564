// Chains of pointwise steps with broadcast operands, as one pass over memory.
//
// Filled by engine/tactics/cpu/kernel/pointwise.cpp, which knows the problem; the kernel checks
// nothing.
#pragma once

#include <cstdint>

namespace enginery {

// A step's function on a value v; x is the step's operand. Activations first, in the order of their
// one list, so that an ActivationKind is a PointwiseFunction of the same number.
enum class PointwiseFunction : int {
#define ENGINERY_ACTIVATION(name) name,
#include "engine/ops/activation_kinds.inc"
#undef ENGINERY_ACTIVATION
  abs,
  neg,
  exp,
  log,
  sqrt,
  reciprocal,
  floor,
  ceil,
  sign,
  erf,
  round,  // half to even
  sin,
  cos,
  tan,
  asin,
  acos,
  atan,
  sinh,
  cosh,
  asinh,
  acosh,
  atanh,
  square,
  cube,
  power_of_half,  // v^0.5, which is not the root for -inf and -0
  // From here on with an operand: v op x; reverse: x op v; prelu: slope x; pow: v^x.
  add,
  sub,
  reverse_sub,
  mul,
  div,
  reverse_div,
  min,
  max,
  prelu,
  pow,
  reverse_pow,
  // With a condition as well: condition ? v : x; reverse: condition ? x : v.
  select,
  reverse_select,
};

struct PointwiseStep {
  PointwiseFunction function;
  int operand;  // index into PointwiseArguments::operand, or -1
  float alpha, beta;
  int condition;  // of a selection: index of an operand of booleans
};

// An operand of steps on a matrix, as strides from element to element: 0 where it repeats.
struct MatrixOperand {
  const void* at;
  int64_t row, column;
  bool narrow;  // bfloat16 values, or floats
};

enum class PointwiseType : int { float32, boolean, int32, int64 };

constexpr int64_t kPointwisePiece = 512;
constexpr int kMaxPointwiseOperands = 6, kMaxPointwiseSteps = 8, kMaxPointwiseLoops = 6;

// out = steps(operand 0), over all loops, the innermost last; operand_stride is 0 where an operand
// is broadcast. Strides in elements; the output's are those of its storage, so that blocked layouts
// are one loop more. `out` may be the storage of an operand with the same strides.
struct PointwiseArguments {
  float* out;
  const void* operand[kMaxPointwiseOperands];
  PointwiseType type[kMaxPointwiseOperands];  // operand 0 is made a float, conditions are booleans,
                                              // the others are floats
  int operands, steps, loops;
  int64_t extent[kMaxPointwiseLoops], out_stride[kMaxPointwiseLoops];
  int64_t operand_stride[kMaxPointwiseOperands][kMaxPointwiseLoops];
  PointwiseStep step[kMaxPointwiseSteps];
  // Of the innermost loop so much at a time: at most kPointwisePiece, and whole periods.
  int64_t piece;
  // Along the innermost loop an operand of floats repeats itself after so many elements, which lie
  // side by side; 0: it goes by its stride.
  int64_t period[kMaxPointwiseOperands];
};

}  // namespace enginery
