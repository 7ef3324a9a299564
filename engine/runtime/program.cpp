#include "engine/runtime/program.h"

namespace enginery {

std::vector<const Tensor*> step_weights(const Plan& plan, const PlanStep& step) {
  std::vector<const Tensor*> out;
  for (int c : step.constants) out.push_back(c < 0 ? nullptr : &plan.constants[static_cast<size_t>(c)].tensor);
  return out;
}

Status Program::prepare(const TacticSources& sources) {
  for (const PlanStep& step : plan_.steps) {
    if (step.tactic.view_of >= 0) {
      prepared_.push_back(nullptr);
      continue;
    }
    const TacticSource* source = find_source(sources, step.tactic.source);
    if (!source) {
      return Error{ErrorCode::unavailable, "layer '" + step.name + "' needs the tactic source '" + step.tactic.source +
                                               "', which is not available here"};
    }
    auto prepared = source->prepare(step.problem, step.tactic, step_weights(plan_, step));
    if (!prepared) return prepared.error().within("layer '" + step.name + "'");
    prepared_.push_back(std::move(*prepared));
  }
  return {};
}

Result<std::shared_ptr<const Program>> Program::make(Plan plan, Device& device, const TacticSources& sources) {
  std::shared_ptr<Program> program(new Program(std::move(plan), device));
  CHECK_OK(program->prepare(sources));
  return std::shared_ptr<const Program>(std::move(program));
}

int64_t Program::packed_weight_bytes() const {
  int64_t bytes = 0;
  for (const auto& p : prepared_) bytes += p ? p->weight_bytes() : 0;
  return bytes;
}

}  // namespace enginery
