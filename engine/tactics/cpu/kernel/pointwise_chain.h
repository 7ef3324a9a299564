// What family pointwise runs, before layouts are known: an element-wise operator with its epilogue,
// or a region of such operators, as steps on one value.
//
// Where: pointwise.cpp makes the kernel's arguments of it. Pure function.
#pragma once

#include "engine/kernels/cpu/isa/pointwise.h"
#include "engine/tactics/cpu/kernel/cpu_kernel_family.h"

namespace enginery {

// The steps take what operand 0 gives, one after the other.
struct PointwiseChain {
  struct Operand {
    int input;                                // problem input, or -1: `constant` alone gives it
    Dims dims;                                // aligned to the output's rank
    std::function<Tensor(Weights)> constant;  // empty for run-time inputs
    PointwiseType type = PointwiseType::float32;
  };
  struct Step {
    PointwiseFunction function;
    int operand = -1;
    float alpha = 0, beta = 0;
    int condition = -1;
  };
  std::vector<Operand> operands;
  std::vector<Step> steps;
};

// An activation of an epilogue.
PointwiseStep activation_step(const Activation& activation);

// Errors: unsupported (no chain, other types, more steps or operands than the kernel takes).
Result<PointwiseChain> read_chain(const Problem& problem);

}  // namespace enginery
