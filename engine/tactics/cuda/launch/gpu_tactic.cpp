#include "engine/tactics/cuda/launch/gpu_tactic.h"

namespace enginery {

std::vector<Precision> library_precisions(const DeviceInfo& info,
                                          const std::set<Precision>& allowed) {
  std::vector<Precision> out;
  for (const Precision p : {Precision::fp16, Precision::bf16, Precision::tf32, Precision::fp32})
    if (allowed.contains(p) && peak_flops(info, p) > 0) out.push_back(p);
  return out;
}

double peak_flops(const DeviceInfo& info, Precision precision) {
  switch (precision) {
    case Precision::fp16:
      return info.float16_flops > 0 ? info.float16_flops : info.float32_flops;
    case Precision::bf16:
      return info.tf32_flops > 0 ? info.float16_flops : 0;
    case Precision::tf32:
      return info.tf32_flops;
    case Precision::fp32:
      return info.float32_flops;
    case Precision::int8:
      return 0;
  }
  return 0;
}

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
