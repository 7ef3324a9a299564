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
  const std::string name = name_of(problem, tactic, weights);
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = steps_.find(name); found != steps_.end()) return found->second.prepared;
  }
  TRY(auto prepared, source.prepare(problem, tactic, weights));
  Step step{prepared, {}};
  for (const Tensor* t : weights) {
    if (t) step.weights.push_back(*t);
  }
  const std::lock_guard lock(mutex_);
  steps_.emplace(name, std::move(step));
  return prepared;
}

}  // namespace enginery
