#include "engine/tactics/shapes/pointwise_region.h"

#include <algorithm>

#include "engine/ops/float_function.h"

namespace enginery {

bool is_pointwise_region(const Problem& problem) {
  if (!is_region(problem) || problem.outputs.size() != 1) return false;
  const TensorType& result = problem.outputs[0].type;
  const bool begins = is_float_function(problem.op) || makes_floats(problem.op);
  return is_floating(result.type) && begins &&
         std::ranges::all_of(problem.rest,
                             [](const RegionOp& r) { return is_float_function(r.op); }) &&
         std::ranges::all_of(problem.inner, [&](const TensorType& t) { return t == result; });
}

}  // namespace enginery
