// BroadcastLoops of a problem, and inputs that may be constants: what the families select, gather,
// discrete and those of indexed.h have in common.
//
// Pure functions, any thread.
#pragma once

#include "engine/kernels/cpu/isa/broadcast.h"
#include "engine/tactics/cpu/kernel/cpu_kernel_family.h"

namespace enginery {

// The strides of a linear tensor beside an output of `rank` dimensions: 0 where it repeats.
Dims repeating_strides(const Dims& dims, size_t rank);

// Loops over a linear output, without those of one turn, neighbours that run on joined. `strides`:
// of up to three operands along its dimensions, 0 or 1 along the last. Errors: unsupported (more
// loops than kernels walk).
Result<BroadcastLoops> broadcast_loops(const Dims& out, const std::vector<Dims>& strides);

// The problem's operands [0, count), all linear, beside its first output.
Result<BroadcastLoops> broadcast_loops(const Problem& problem, size_t count);

// The problem's inputs at a launch: those that it knows before, which are weights and integers, and
// those that come at run time.
class LaunchInputs {
 public:
  LaunchInputs(const Problem& problem, Weights weights);
  const void* address(size_t input, const Arguments& arguments) const;

 private:
  std::vector<std::optional<Tensor>> known_;
};

// Refuses an index outside of [-size, size), as the reference of operator `op` does.
// Errors: invalid_argument.
struct IndexList {
  const void* at;
  bool wide;  // of 64 bits, else of 32
  int64_t count, size;
};
Status require_within(std::string_view op, const IndexList& indices);

}  // namespace enginery
