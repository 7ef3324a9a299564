#include "engine/runtime/prepared_steps.h"

namespace enginery {
namespace {

std::string name_of(const Problem& problem, const Tactic& tactic,
                    const std::vector<const Tensor*>& weights) {
  std::string out = problem.key() + "\n" + tactic_key(tactic);
  for (const Tensor* t : weights)
    out += "\n" + (t ? to_string(t->tensor_type()) + " " +
                           std::to_string(reinterpret_cast<uintptr_t>(t->raw()))
                     : std::string());
  return out;
}

}  // namespace

Result<std::shared_ptr<const PreparedTactic>> PreparedSteps::prepare(
    const TacticSource& source, const Problem& problem, const Tactic& tactic,
    const std::vector<const Tensor*>& weights) {
  Step* step = nullptr;  // stays where it is
  {
    const std::lock_guard lock(mutex_);
    step = &steps_[name_of(problem, tactic, weights)];
  }
  const std::lock_guard lock(step->mutex);
  if (step->prepared) return step->prepared;
  TRY(step->prepared, source.prepare(problem, tactic, weights));
  for (const Tensor* t : weights) {
    if (t) step->weights.push_back(*t);
  }
  return step->prepared;
}

}  // namespace enginery
