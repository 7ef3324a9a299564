#include "engine/tactics/cpu/kernel/broadcast.h"

#include <algorithm>

namespace enginery {
namespace {

template <typename I>
Status require_indices_within(std::string_view op, const IndexList& indices) {
  const I* at = static_cast<const I*>(indices.at);
  I lowest = 0, highest = 0;
  for (int64_t i = 0; i < indices.count; ++i) {
    lowest = std::min(lowest, at[i]);
    highest = std::max(highest, at[i]);
  }
  const bool is_low = lowest < -indices.size;
  if (!is_low && highest < std::max<int64_t>(indices.size, 1)) return {};
  return Error{ErrorCode::invalid_argument, std::string(op) + ": index " +
                                                std::to_string(is_low ? lowest : highest) +
                                                " is outside [" + std::to_string(-indices.size) +
                                                ", " + std::to_string(indices.size) + ")"};
}

}  // namespace

Dims repeating_strides(const Dims& dims, size_t rank) {
  const Dims all = aligned(dims, rank);
  Dims strides = strides_of(all);
  for (size_t d = 0; d < rank; ++d)
    if (all[d] == 1) strides[d] = 0;
  return strides;
}

Result<BroadcastLoops> broadcast_loops(const Dims& out, const std::vector<Dims>& strides) {
  BroadcastLoops loops{};
  const auto stride_of = [&](size_t o, size_t d) { return strides[o][d]; };
  for (size_t d = 0; d < out.size(); ++d) {
    if (out[d] == 1) continue;
    const int last = loops.loops - 1;
    bool joins = last >= 0;
    for (size_t o = 0; joins && o < strides.size(); ++o)
      joins = loops.stride[o][last] == out[d] * stride_of(o, d);
    if (!joins && loops.loops == kMaxBroadcastLoops) return no_cpu_kernel("a tensor of high rank");
    const int at = joins ? last : loops.loops++;
    loops.extent[at] = joins ? loops.extent[at] * out[d] : out[d];
    for (size_t o = 0; o < strides.size(); ++o) loops.stride[o][at] = stride_of(o, d);
  }
  if (loops.loops == 0) loops.extent[loops.loops++] = 1;
  return loops;
}

Result<BroadcastLoops> broadcast_loops(const Problem& problem, size_t count) {
  const Dims& out = output_dims(problem);
  std::vector<Dims> strides;
  for (size_t i = 0; i < count; ++i)
    strides.push_back(repeating_strides(input_dims(problem, i), out.size()));
  return broadcast_loops(out, strides);
}

LaunchInputs::LaunchInputs(const Problem& problem, Weights weights) {
  for (size_t i = 0; i < problem.inputs.size(); ++i)
    known_.push_back(weights[i] ? std::optional(*weights[i]) : problem.inputs[i].value);
}

const void* LaunchInputs::address(size_t input, const Arguments& arguments) const {
  return known_[input] ? known_[input]->byte_span().data() : arguments.inputs[input];
}

Status require_within(std::string_view op, const IndexList& indices) {
  return indices.wide ? require_indices_within<int64_t>(op, indices)
                      : require_indices_within<int32_t>(op, indices);
}

}  // namespace enginery
