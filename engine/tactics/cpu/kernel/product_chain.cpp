#include "engine/tactics/cpu/kernel/product_chain.h"

#include "engine/tactics/cpu/kernel/pointwise_chain.h"

namespace enginery {

void ProductChain::append(PointwiseFunction function, const ProductOperand& operand) {
  steps.push_back({function, static_cast<int>(operands.size()), 0, 0});
  operands.push_back(operand);
}

Status append_epilogue(const Problem& p,
                       const std::function<Result<ProductOperand>(const EpilogueStep&)>& place,
                       ProductChain& chain) {
  for (const EpilogueStep& step : p.epilogue) {
    if (step.kind == EpilogueKind::activation) {
      chain.steps.push_back(activation_step(step.activation));
      continue;
    }
    const TensorType& type = p.inputs[static_cast<size_t>(step.operand)].type;
    if (type.type != DataType::float32)
      return no_cpu_kernel("a product with an operand of " + to_string(type));
    TRY(const ProductOperand operand, place(step));
    chain.append(
        step.kind == EpilogueKind::multiply ? PointwiseFunction::mul : PointwiseFunction::add,
        operand);
  }
  if (chain.steps.size() > kMaxPointwiseSteps || chain.operands.size() > kMaxPointwiseOperands)
    return no_cpu_kernel("a longer epilogue");
  return {};
}

ChainOperands::ChainOperands(const ProductChain& chain, const Tensor& addend, Weights weights)
    : operands_(chain.operands) {
  for (const ProductOperand& o : operands_) {
    const Tensor* given = weights[static_cast<size_t>(o.input)];
    constants_.push_back(o.is_addend ? addend : given ? *given : Tensor());
  }
}

void ChainOperands::write(const Arguments& launch, MatrixOperand* to) const {
  for (size_t i = 0; i < operands_.size(); ++i) {
    const ProductOperand& o = operands_[i];
    const void* given = constants_[i].bytes() > 0 ? constants_[i].raw()
                                                  : launch.inputs[static_cast<size_t>(o.input)];
    to[i] = {given, o.row, o.column, o.narrow};
  }
}

}  // namespace enginery
