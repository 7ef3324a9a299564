// Comparisons, logic and arithmetic of integers, element by element.
//
// Filled by engine/tactics/cpu/kernel/discrete.cpp, which knows the problem; the kernel checks
// nothing.
#pragma once

#include "engine/kernels/cpu/isa/broadcast.h"

namespace enginery {

enum class DiscreteFunction : int {
  // Of every type, to booleans.
  equal,
  not_equal,
  less,
  less_equal,
  // Of floats against themselves, to booleans.
  infinite,
  positive_infinite,
  negative_infinite,
  // Of booleans.
  logical_and,
  logical_or,
  logical_xor,
  // Of integers, to their own type; they wrap.
  add,
  sub,
  mul,
  min,
  max,
  bitwise_and,
  bitwise_or,
  bitwise_xor,
  distance,    // |a - b|
  comparison,  // 1, 0 or -1 for a above, at or below b
  // b is not zero; the most negative number divided by -1 wraps to itself.
  quotient,   // towards zero
  remainder,  // with the sign of a
  modulus,    // with the sign of b
};

// Of both operands; booleans are uint8.
enum class DiscreteType : int {
  int8,
  uint8,
  int16,
  uint16,
  int32,
  uint32,
  int64,
  uint64,
  float32,
  float64,
};

// out = function(a, b).
struct DiscreteArguments {
  const void* a;
  const void* b;
  void* out;
  DiscreteFunction function;
  DiscreteType type;
  BroadcastLoops over;  // of a and b
};

}  // namespace enginery
