// The epilogue of a matrix product as steps of a kernel, with where their operands come from: what
// products in float32 and in tiles of bfloat16 share.
#pragma once

#include "engine/kernels/cpu/isa/pointwise.h"
#include "engine/tactics/cpu/kernel/cpu_kernel_family.h"

namespace enginery {

// Where an operand of the epilogue comes from, and how it lies.
struct ProductOperand {
  int input;       // of the problem
  bool is_addend;  // of the product itself (ChainOperands)
  int64_t row, column;
  bool narrow;
};

struct ProductChain {
  std::vector<PointwiseStep> steps;  // `operand`: of `operands`
  std::vector<ProductOperand> operands;

  void append(PointwiseFunction function, const ProductOperand& operand);
};

// Appends the problem's epilogue; `place` says how an operand lies. Errors: unsupported.
Status append_epilogue(const Problem& problem,
                       const std::function<Result<ProductOperand>(const EpilogueStep&)>& place,
                       ProductChain& chain);

// A chain's operands, those among them that are constants with their values.
class ChainOperands {
 public:
  ChainOperands() = default;
  // `addend`: the values of operands that are the product's own.
  ChainOperands(const ProductChain& chain, const Tensor& addend, Weights weights);

  // The operands of a launch, in their order; `to` has room for all of a chain.
  void write(const Arguments& launch, MatrixOperand* to) const;

 private:
  std::vector<ProductOperand> operands_;
  std::vector<Tensor> constants_;  // of each operand; empty: it comes at run time
};

}  // namespace enginery
