#include "engine/tactics/cuda/launch/gpu_tactic.h"

namespace enginery {

Tactic make_gpu_tactic(const Problem& problem, std::string source, std::string id) {
  Tactic tactic;
  tactic.source = std::move(source);
  tactic.id = std::move(id);
  for (const TensorDesc& desc : problem.inputs) tactic.inputs.push_back({desc.type.type, {}});
  for (const TensorDesc& desc : problem.outputs) tactic.outputs.push_back({desc.type.type, {}});
  return tactic;
}

Tactic make_conv_tactic(const Problem& problem, const ConvShape& shape,
                        const LoweredEpilogue& epilogue, std::string source, std::string id) {
  Tactic tactic = make_gpu_tactic(problem, std::move(source), std::move(id));
  const DataType type = epilogue.code.output;
  tactic.inputs[0] = shape.x_format(type);
  tactic.outputs[0] = shape.y_format(type);
  tactic.compute = precision_of_storage(type);
  want_operands(epilogue, tactic);
  return tactic;
}

}  // namespace enginery
