#include "engine/compile/watched_run.h"

namespace enginery {

Status run_whole(Execution& execution, std::span<const void* const> inputs,
                 std::span<void* const> outputs, const EngineWatch& watch) {
  watch.run(false);
  Status done = execution.run(inputs, outputs);
  watch.run(true);
  return done;
}

Status run_watched(Execution& execution, std::span<const void* const> inputs,
                   std::span<void* const> outputs, const EngineWatch& watch) {
  return execution.run_step_by_step(
      inputs, outputs,
      [&](size_t index, const Arguments&, const std::function<Status()>& launch) -> Status {
        const PlanStep& step = execution.plan().steps[index];
        watch.steps.in_flight(step, false);
        const Status done = launch();
        watch.steps.in_flight(step, true);
        if (done.ok()) return {};
        watch.steps.failed(step, FailureKind::launch, done.error());
        return done.error().within("layer '" + step.name + "'");
      });
}

}  // namespace enginery
