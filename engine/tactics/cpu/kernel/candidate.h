// Candidate: one of our CPU kernels set up for a problem in given formats. Makers turn a problem
// into candidates; cpu_kernel_source.cpp offers them as tactics and prepares the chosen one.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "engine/kernels/cpu/dispatch.h"
#include "engine/tactics/tactic.h"

namespace enginery::cpu_kernel {

// Runs in the calling thread's team; everything that does not change between launches is captured.
using Run = std::function<void(const Arguments&)>;

struct Candidate {
  Tactic tactic;
  std::function<Run(Weights)> build;  // packs the weights; empty for views
};
using Candidates = Result<std::vector<Candidate>>;

struct Context {
  const cpu_kernels::Kernels& kernels;
  CpuIsa isa;
  int threads;
};

// The makers; unsupported with the reason.
std::vector<Candidate> view_candidates(const Problem& problem);
Candidates reformat_candidates(const Context& context, const Problem& problem);
Candidates transpose_candidates(const Context& context, const Problem& problem);
Candidates concat_candidates(const Context& context, const Problem& problem);
Candidates split_candidates(const Context& context, const Problem& problem);
Candidates slice_candidates(const Context& context, const Problem& problem);
Candidates pooling_candidates(const Context& context, const Problem& problem);
Candidates reduction_candidates(const Context& context, const Problem& problem);
Candidates softmax_candidates(const Context& context, const Problem& problem);
Candidates lrn_candidates(const Context& context, const Problem& problem);
Candidates pointwise_candidates(const Context& context, const Problem& problem);
Candidates depthwise_candidates(const Context& context, const Problem& problem);
Candidates pixel_product_candidates(const Context& context, const Problem& problem);
Candidates few_rows_candidates(const Context& context, const Problem& problem);

// ---- shared by the makers

inline Error unsupported(const std::string& reason) {
  return {ErrorCode::unsupported, "kernel: " + reason};
}
inline const Dims& input_dims(const Problem& p, size_t i) {
  return p.inputs[i].type.dims;
}
inline const Dims& output_dims(const Problem& p) {
  return p.outputs[0].type.dims;
}

// A tactic of this source with every format linear in the tensor's own type.
Tactic base_tactic(const Problem& problem, std::string id);

// Time of moving the problem's bytes once, in microseconds; orders candidates.
double movement_us(const Context& context, const Problem& problem);

// Linear, channels-last and blocked, where `dims` fill them without padding.
std::vector<Layout> dense_layouts(const Context& context, const Dims& dims);

// What a fused epilogue of bounds needs: an optional bias operand, then relu or clip.
struct Bounds {
  int bias = -1;  // problem input, or -1
  float low, high;
};
enum class BiasAllowed { yes, no };
// Nothing where the epilogue is more than that.
std::optional<Bounds> read_bounds(const Problem& problem, BiasAllowed bias);

// A picture of rank 3 or 4 as height and width (height 1 for rank 3), and its windows likewise.
struct Plane {
  int64_t h = 1, w = 1;
};
Plane plane_of(const std::vector<int64_t>& spatial, int64_t missing);
Plane plane_of_dims(const Dims& dims);

}  // namespace enginery::cpu_kernel
