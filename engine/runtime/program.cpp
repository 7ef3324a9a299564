#include "engine/runtime/program.h"

#include <algorithm>
#include <numeric>

#include "engine/base/parallel.h"

namespace enginery {
namespace {

// The steps with most weights first: packed last, they would keep one core busy and the others
// idle.
std::vector<size_t> by_weight_bytes(const Plan& plan) {
  std::vector<int64_t> bytes(plan.steps.size(), 0);
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    for (const Tensor* weights : step_weights(plan, plan.steps[i]))
      bytes[i] += weights ? weights->bytes() : 0;
  }
  std::vector<size_t> order(plan.steps.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return bytes[a] > bytes[b]; });
  return order;
}

}  // namespace

std::vector<const Tensor*> step_weights(const Plan& plan, const PlanStep& step) {
  std::vector<const Tensor*> out;
  for (int c : step.constants)
    out.push_back(c < 0 ? nullptr : &plan.constants[static_cast<size_t>(c)].tensor);
  return out;
}

Result<std::shared_ptr<const PreparedTactic>> Program::prepare_step(const PlanStep& step,
                                                                    const TacticSources& sources,
                                                                    PreparedSteps* shared) const {
  if (step.tactic.view_of >= 0) return std::shared_ptr<const PreparedTactic>();
  const TacticSource* source = find_source(sources, step.tactic.source);
  if (!source) {
    return Error{ErrorCode::unavailable, "layer '" + step.name + "' needs the tactic source '" +
                                             step.tactic.source + "', which is not available here"};
  }
  if (const Status served = require_served(*source, step.problem, step.tactic); !served.ok())
    return served.error().within("layer '" + step.name + "'");
  const std::vector<const Tensor*> weights = step_weights(plan_, step);
  auto prepared = shared ? shared->prepare(*source, step.problem, step.tactic, weights)
                         : source->prepare(step.problem, step.tactic, weights);
  if (!prepared) return prepared.error().within("layer '" + step.name + "'");
  return prepared;
}

// In parallel, unless it is watched: libraries compile, weights are packed.
Status Program::prepare(const TacticSources& sources, const StepWatch& watch,
                        PreparedSteps* shared) {
  prepared_.resize(plan_.steps.size());
  std::vector<Status> states(plan_.steps.size());
  const auto prepare_one = [&](size_t i) {
    const PlanStep& step = plan_.steps[i];
    const bool runs = step.tactic.view_of < 0;
    if (runs) watch.in_flight(step, false);
    auto prepared = prepare_step(step, sources, shared);
    if (runs) watch.in_flight(step, true);
    if (prepared.ok()) {
      prepared_[i] = std::move(*prepared);
    } else {
      watch.failed(step, FailureKind::compile, prepared.error());
      states[i] = prepared.error();
    }
  };
  if (watch.one_by_one) {
    for (size_t i = 0; i < plan_.steps.size(); ++i) prepare_one(i);
  } else {
    const std::vector<size_t> order = by_weight_bytes(plan_);
    parallel_for(static_cast<int64_t>(order.size()),
                 [&](int64_t i) { prepare_one(order[static_cast<size_t>(i)]); });
  }
  for (const Status& state : states) CHECK_OK(state);
  return {};
}

Result<std::shared_ptr<const Program>> Program::make(Plan plan, Device& device,
                                                     const TacticSources& sources,
                                                     const StepWatch& watch, PlanWeights weights,
                                                     PreparedSteps* shared) {
  auto program = std::make_shared<Program>(MakeKey{}, std::move(plan), device);
  CHECK_OK(program->prepare(sources, watch, shared));
  if (weights == PlanWeights::let_go) {
    for (PlanConstant& constant : program->plan_.constants) constant.tensor = Tensor();
  }
  if (stream_count(program->plan_) > 1) program->order_.emplace(program->plan_);
  return std::shared_ptr<const Program>(std::move(program));
}

int64_t Program::packed_weight_bytes() const {
  int64_t bytes = 0;
  for (const auto& p : prepared_) bytes += p ? p->weight_bytes() : 0;
  return bytes;
}

}  // namespace enginery
