// What was considered for a node of a model, as `build --explain` tells it.
//
// Where: build asks for the layers, has each explained (worker/local_explain.h) and prints the
// report. Threads: free functions without state.
#pragma once

#include <string>
#include <vector>

#include "cli/output/json_output.h"
#include "engine/plan/plan.h"
#include "tuner/explain/considered.h"

namespace enginery {

// A layer of an engine with what was considered for it.
struct ExplainedLayer {
  std::string layer, op;
  std::string chosen;  // the engine's tactic, by its selected_key
  ConsideredProblem considered;
};

// The layers of that name, or, where none is called so, those that the node is a part of ("conv" in
// "conv+relu"). Errors: not_found, with the nearest names.
Result<std::vector<const PlanStep*>> layers_of_node(const Plan& plan, const std::string& node);

// Tables in so many columns (0: any number), one for each layer.
std::string explained_text(const std::vector<ExplainedLayer>& layers, int columns);
Json explained_json(const std::string& node, const std::vector<ExplainedLayer>& layers);

}  // namespace enginery
