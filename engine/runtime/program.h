// Program: a plan made ready on a device: every tactic prepared, weights in place. Shared by all of
// its executions.
//
// Where: between an engine file's plan and Execution. Immutable after make(); may be used from many
// threads.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "engine/device/failure.h"
#include "engine/plan/streams.h"
#include "engine/runtime/prepared_steps.h"

namespace enginery {

// Who wants to know what a plan's tactics do: any of them may end the process, or never come back.
// Its functions are called from any thread.
struct StepWatch {
  bool one_by_one = false;  // tactics are prepared one after another, so that one is known
  // Before a step's tactic is prepared or runs alone, and after it.
  std::function<void(const PlanStep& step, bool over)> in_flight = [](const PlanStep&, bool) {};
  // Where that fails. `stage`: compile or launch.
  std::function<void(const PlanStep& step, FailureKind stage, const Error& error)> failed =
      [](const PlanStep&, FailureKind, const Error&) {};
};

// What becomes of the plan's weights once every tactic has packed them. `let_go`, for programs that
// only run: plan().constants have empty tensors from then on.
enum class PlanWeights { keep, let_go };

class Program {
  struct MakeKey {
    explicit MakeKey() = default;
  };

 public:
  // Prepares every step, in parallel. `device` and `sources` must outlive the program; `sources`
  // holds every source that the plan names. What `shared` has of other programs of this device and
  // these sources is not prepared again. Errors, with the layer's name: incompatible (a tactic that
  // is no longer offered), unavailable (a source that is not here), out_of_memory.
  static Result<std::shared_ptr<const Program>> make(Plan plan, Device& device,
                                                     const TacticSources& sources,
                                                     const StepWatch& watch = {},
                                                     PlanWeights weights = PlanWeights::keep,
                                                     PreparedSteps* shared = nullptr);
  // For make() alone.
  Program(MakeKey, Plan plan, Device& device) : plan_(std::move(plan)), device_(device) {}

  const Plan& plan() const { return plan_; }
  Device& device() const { return device_; }
  // Null for a view.
  const PreparedTactic* step(size_t index) const { return prepared_[index].get(); }
  // What each step waits for; null where all run on one stream.
  const StepOrder* order() const { return order_ ? &*order_ : nullptr; }
  // Bytes of the weights as the tactics have packed them.
  int64_t packed_weight_bytes() const;

 private:
  Status prepare(const TacticSources& sources, const StepWatch& watch, PreparedSteps* shared);
  Result<std::shared_ptr<const PreparedTactic>> prepare_step(const PlanStep& step,
                                                             const TacticSources& sources,
                                                             PreparedSteps* shared) const;

  Plan plan_;
  Device& device_;
  std::optional<StepOrder> order_;
  std::vector<std::shared_ptr<const PreparedTactic>> prepared_;
};

// The weights of a step's constant inputs, for TacticSource::prepare; null for its other inputs.
// Borrows from the plan.
std::vector<const Tensor*> step_weights(const Plan& plan, const PlanStep& step);

}  // namespace enginery
