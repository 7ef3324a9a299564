// RunTrace: what a run computed, layer by layer: samples of every value, whether it was the
// references that ran a graph or an engine on its device.
//
// Where: two traces of one model on the same inputs show where a result goes wrong
// (first_divergence.h). Plain values and free functions without state.
#pragma once

#include <string>
#include <vector>

#include "engine/compile/compile.h"

namespace enginery {

struct TracedValue {
  std::string name;             // the graph's; of several tensors of a plan that hold it the same
  TensorType type;              // the model's, in whatever format it lay
  std::vector<double> samples;  // at places that depend on the type alone; empty: not seen
  bool computed = false;        // by a layer: neither an input nor a constant
  bool constant = false;

  bool is_seen() const;  // its samples are known, if only that there are none
};

// Whether the samples of one can be those of the other: both have the same dims and type, or
// floating types of any width.
bool are_alike(const TracedValue& a, const TracedValue& b);

// Inputs that are constants are left out.
struct TracedLayer {
  std::string name, op;
  std::vector<size_t> inputs, outputs;  // indices of RunTrace::values
};

struct RunTrace {
  std::vector<TracedValue> values;
  std::vector<TracedLayer> layers;  // producers before consumers
  std::vector<size_t> outputs;      // indices of values, in the model's order
};

// `inputs` run parallel to the graph's. Its constants are seen, too. Errors: those of the
// references.
Result<RunTrace> trace_graph(const Graph& graph, const std::vector<Tensor>& inputs);

// The engine's steps one after another; `inputs` run parallel to Plan::inputs. A layer that
// launches nothing (a view) is seen where another one reads what it gives. Errors: those of
// preparing and running it.
Result<RunTrace> trace_engine(Plan plan, const Target& target, const std::vector<Tensor>& inputs);

}  // namespace enginery
