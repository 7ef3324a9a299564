#include <algorithm>

#include "engine/format/plan_check.h"
#include "engine/tactics/bias_axis.h"

namespace enginery {
namespace {

Error wrong_problem(const std::string& reason) {
  return {ErrorCode::invalid_argument, reason};
}

Status require_type(const TensorType& inferred, const TensorType& stated) {
  if (inferred == stated) return {};
  return wrong_problem("its shape rule gives " + to_string(inferred) + ", not " +
                       to_string(stated));
}

// One number a channel, of the type that it is added to.
Status check_bias(const Problem& problem, const TensorDesc& operand, const TensorType& flowing) {
  const size_t axis = bias_axis(problem.op, flowing.dims.size());
  const bool fits = operand.constant && operand.type.type == flowing.type &&
                    axis < flowing.dims.size() && volume(operand.type.dims) == flowing.dims[axis];
  return fits ? Status() : wrong_problem("a bias that is not one number a channel");
}

// What one step of the epilogue makes of `flowing`: a value of the same type.
Status check_epilogue_step(const Problem& problem, const EpilogueStep& step,
                           const TensorType& flowing) {
  std::vector<Operand> operands{{true, flowing, nullptr}};
  Op op = step.activation;
  if (step.kind != EpilogueKind::activation) {
    const TensorDesc& operand = problem.inputs[static_cast<size_t>(step.operand)];
    if (step.operand < problem.anchor_inputs || !operand.present)
      return wrong_problem("an epilogue step's operand is not its own");
    if (step.kind == EpilogueKind::bias) return check_bias(problem, operand, flowing);
    op = Binary{step.kind == EpilogueKind::add ? BinaryKind::add : BinaryKind::mul};
    operands.push_back({true, operand.type, nullptr});
  }
  TRY(const auto types, infer_types(op, operands));
  return require_type(types[0], flowing);
}

// The types between a region's operators follow from its inputs: they are not in the file.
Status check_region(Problem& problem, Weights constants) {
  const auto plain = [](const TensorDesc& desc) { return !desc.pinned; };
  if (!problem.epilogue.empty() || problem.outputs.size() != 1 || !problem.outputs[0].present ||
      !std::ranges::all_of(problem.inputs, plain) || !plain(problem.outputs[0]))
    return wrong_problem("a region with an epilogue, several outputs or a format");
  TRY(problem.inner, region_types(problem, constants));
  CHECK_OK(require_type(problem.inner.back(), problem.outputs[0].type));
  problem.inner.pop_back();
  return {};
}

}  // namespace

Status check_problem(Problem& problem, Weights constants) {
  if (is_region(problem)) return check_region(problem, constants);
  std::vector<Operand> operands;
  for (size_t i = 0; i < static_cast<size_t>(problem.anchor_inputs); ++i) {
    const TensorDesc& desc = problem.inputs[i];
    operands.push_back({desc.present, desc.type, constants[i]});
  }
  TRY(const auto types, infer_types(problem.op, operands));
  if (types.size() != problem.outputs.size() || (!problem.epilogue.empty() && types.size() != 1))
    return wrong_problem("a wrong number of outputs");
  for (size_t i = 0; i < types.size(); ++i) {
    CHECK_OK(require_type(types[i], problem.outputs[i].type));
    if (!problem.outputs[i].present) return wrong_problem("an output is missing");
  }
  for (const EpilogueStep& step : problem.epilogue)
    CHECK_OK(check_epilogue_step(problem, step, types[0]));
  return {};
}

}  // namespace enginery
