// Which layers of an engine compute wrong numbers, each judged by what it really reads.
//
// Where: a worker's steps ask when the outputs of a whole engine are wrong. The engine runs step by
// step; each step's outputs are compared with the reference of its problem on the inputs that it
// had, so a wrong layer does not show in those that follow it. Free function without state.
#pragma once

#include <string>
#include <vector>

#include "engine/plan/plan.h"

namespace enginery {

struct FaultyLayer {
  std::string layer;            // its name
  std::string problem, tactic;  // the timing store's keys
  std::string reason;           // "output 0 is off by 0.7 of its largest element, allowed 0.01"
  double error = 0;             // relative to the output's largest element
};

// In the engine's order; empty where no layer is at fault by itself. `inputs` run parallel to
// Plan::inputs; `bar` is what a right output may differ by, relative to its largest element:
// products are compared at 32,768 of their elements. Errors: those of preparing and running the
// engine, and of the references.
Result<std::vector<FaultyLayer>> faulty_layers(Plan plan, Device& device,
                                               const TacticSources& sources,
                                               const std::vector<Tensor>& inputs, double bar);

}  // namespace enginery
