// Where a wrong result begins: one run of a model against another one, value by value. Free
// functions without state.
#pragma once

#include <optional>
#include <string>

#include "engine/compile/run_trace.h"

namespace enginery {

struct Divergence {
  std::string layer, op;
  // How far its first wrong output is from the most similar value that was expected, relative to
  // that one's largest element; infinite where no value has those dims.
  double error = 0;
};

// "layer 'conv_12' (conv)"
std::string to_string(const Divergence& divergence);

// The first layer of `actual` from which a wrong output comes, whose values no value of `expected`
// has; nothing where the outputs agree. Values are told by what they hold, since passes rename
// them. What nothing in `expected` is like (are_alike: 8-bit numbers beside a float model) cannot
// be judged: its layer is looked through, unless that makes an output, and what is wrong there
// shows in the first layer behind it that can be judged. `bar` is relative to a value's largest
// element. Both have as many outputs.
std::optional<Divergence> first_divergence(const RunTrace& expected, const RunTrace& actual,
                                           double bar);

// The same of two graphs, both run with the references: nothing means that no pass made a wrong
// output. `inputs` run parallel to both graphs' inputs. Errors: those of the references.
Result<std::optional<Divergence>> first_divergence(const Graph& imported, const Graph& optimised,
                                                   const std::vector<Tensor>& inputs, double bar);

}  // namespace enginery
