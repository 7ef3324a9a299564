// What the tests of the steps share: a build and a step of it, in this process.
#pragma once

#include <memory>

#include "tests/worker/small_models.h"
#include "worker/steps/step_functions.h"

namespace enginery::test {

// Of a build of the model at level 0 for the best CPU type, with one thread.
inline BuildSessionSpec spec_of(Bytes model) {
  BuildSessionSpec spec;
  spec.name = "net";
  spec.model_file = "net.onnx";
  spec.model = std::make_shared<const Bytes>(std::move(model));
  spec.model_digest = sha256(*spec.model);
  spec.sku = best_cpu_sku();
  spec.options.threads = 1;
  spec.options.level = 0;
  return spec;
}

// A step of it with such inputs.
inline StepContext step_in(BuildSession& session, StepInputs inputs = {}) {
  return {session, std::move(inputs), "tester", {}, {}};
}

inline Result<StepOutputs> tune_in(BuildSession& session, TimingStore& store) {
  StepContext step = step_in(session);
  step.tuning.timings = &store;
  return tune_step(step);
}

inline std::shared_ptr<const Bytes> shared(Bytes bytes) {
  return std::make_shared<const Bytes>(std::move(bytes));
}

}  // namespace enginery::test
