// OutputSizes: the sizes of an engine's outputs that each run tells: where the runs write the
// counts, and the dims that follow from them.
//
// Where: between ExecutionContext, whose caller gives memory for the model's own outputs, and
// Execution, which takes the counts' as well. Belongs to its context's thread.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "engine/graph/run_time_sizes.h"
#include "engine/runtime/execution.h"

namespace enginery {

class OutputSizes {
 public:
  // With memory on the device for the counts among so many outputs. Errors: out_of_memory,
  // device_lost.
  static Result<OutputSizes> make(RunTimeSizes sizes, size_t outputs, Device& device);

  bool any() const { return !sizes_.empty(); }
  // The memory of the model's own outputs, and of the counts behind them.
  std::vector<TensorMemory> with_counts(std::span<const TensorMemory> own) const;
  // The dims of an output that has `largest`, after the run's end. Errors: those of a copy;
  // internal (a count that is not one).
  Result<Dims> dims_of(size_t output, const Dims& largest, Execution& execution) const;

 private:
  RunTimeSizes sizes_;
  size_t own_ = 0;
  std::vector<DeviceMemory> counts_;
};

}  // namespace enginery
