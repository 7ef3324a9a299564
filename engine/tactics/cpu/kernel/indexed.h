// Tensors that are read or written at indices: what the families gather_elements, gather_nd,
// scatter_elements and scatter_nd have in common. Input 0 is the tensor, input 1 the indices.
//
// Pure functions, any thread.
#pragma once

#include <string>
#include <vector>

#include "engine/kernels/cpu/isa/moving/combining.h"
#include "engine/kernels/cpu/isa/moving/element_places.h"
#include "engine/kernels/cpu/isa/moving/row_places.h"
#include "engine/tactics/cpu/kernel/broadcast.h"

namespace enginery {

// Indices of each row's first dimensions, after `batch_dims` that tensor and indices share.
// Errors: unsupported (more dimensions than kernels index).
Result<RowPlaces> row_places(const Problem& problem, size_t batch_dims);

// Indices along one dimension of the tensor, whose own sizes may be larger than theirs. Errors:
// unsupported (more loops than kernels walk, a tensor without dimensions).
Result<ElementPlaces> element_places(const Problem& problem, int64_t axis);

// Refuses an index outside of its dimension, as the reference does. Errors: invalid_argument.
using IndexCheck = std::function<Status(const void* indices)>;
IndexCheck check_of_rows(const Problem& problem, const RowPlaces& rows);
IndexCheck check_of_elements(const Problem& problem, const ElementPlaces& places);

// How updates are combined with what is there. Errors: unsupported (of such a type kernels replace
// alone).
Result<Combining> combining_of(ScatterKind kind, const Problem& problem);

// One launch.
using IndexedRun = std::function<void(const LaunchInputs& inputs, const Arguments& arguments)>;

// The tactic `id`. Indices that come at run time are checked before each launch, integers that the
// problem knows at once: outside of their dimension they are unsupported.
CpuKernelCandidates indexed_candidate(const CpuKernelContext& context, const Problem& problem,
                                      const std::string& id, const IndexCheck& check,
                                      const IndexedRun& run);

}  // namespace enginery
