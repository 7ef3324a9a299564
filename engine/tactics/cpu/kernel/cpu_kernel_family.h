// Families of our CPU kernels: each says how it would run a problem, in which formats.
//
// Where: families.inc lists them; cpu_kernel_source.cpp asks the first one that serves a problem.
// One family is one file, of the same name as its kernel in engine/kernels/cpu/isa. What a family
// returns may be used from any thread.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "engine/kernels/cpu/dispatch.h"
#include "engine/kernels/cpu/isa/number_type.h"
#include "engine/tactics/tactic.h"

namespace enginery {

// The device as the families see it.
struct CpuKernelContext {
  const CpuKernels& kernels;
  CpuIsa isa;
  int threads;
  const CpuTileKernels* tiles;  // null: the device has none
  // Of the first input and output of what is prepared, in elements; 0: none. Tactics that say
  // `reads_pitched` or `writes_pitched` keep to them.
  int64_t in_pitch = 0, out_pitch = 0;
  // Channels of one block in blocked layouts.
  int32_t block() const { return isa >= CpuIsa::avx512 ? 16 : 8; }
};

// Matrix products of at most so many rows are family gemv's, those of more product's.
constexpr int64_t kMaxGemvRows = 8;

// One launch, in the calling thread and its OpenMP team; what does not change between launches is
// captured.
using CpuKernelRun = std::function<void(const Arguments&)>;

// Refuses the data of one launch, before it runs.
using CpuDataCheck = std::function<Status(const Arguments&)>;

// A tactic with the way to prepare it.
struct CpuKernelCandidate {
  Tactic tactic;
  std::function<CpuKernelRun(Weights)> prepare;  // packs the weights; empty for views
  CpuDataCheck check = {};                       // empty: the kernel takes any data
  // Bytes of the packed weights, where they are much more than the weights; 0: about as many.
  int64_t packed_bytes = 0;
};
// Likely best first. Errors: unsupported, with the reason.
using CpuKernelCandidates = Result<std::vector<CpuKernelCandidate>>;

// One row of families.inc.
struct CpuKernelFamily {
  std::string_view name;
  bool (*serves)(const Problem&);  // of the rows that do, the first one offers
  CpuKernelCandidates (*offer)(const CpuKernelContext&, const Problem&);
};

// ---- shared by the families

// unsupported, in this source's name.
inline Error no_cpu_kernel(const std::string& reason) {
  return {ErrorCode::unsupported, "kernel: " + reason};
}

// A tactic of this source with every format linear in the tensor's own type.
Tactic cpu_kernel_tactic(const Problem& problem, std::string id);

// Wraps a kernel and its arguments: at each launch the first input and output are filled in, as the
// fields `in` and `out`.
template <typename Kernel, typename KernelArguments>
CpuKernelRun run_of(Kernel kernel, const KernelArguments& fixed) {
  return [kernel, fixed](const Arguments& arguments) {
    KernelArguments call = fixed;
    call.in = static_cast<decltype(call.in)>(arguments.inputs[0]);
    call.out = static_cast<decltype(call.out)>(arguments.outputs[0]);
    kernel(call);
  };
}

// The type as kernels name it that compute in numbers of several types; nothing for others.
std::optional<NumberType> number_type(DataType type);

// Estimated microseconds of moving the problem's bytes once; orders candidates.
double movement_us(const CpuKernelContext& context, const Problem& problem);
// The same and the problem's arithmetic at a rate per microsecond, thread and float of a vector.
double movement_and_arithmetic_us(const CpuKernelContext& context, const Problem& problem,
                                  double flops_per_us);
// What a tactic that moves bfloat16 takes of that, where the float32 one moves twice the bytes.
inline constexpr double kNarrowShare = 0.6;

// The layouts that `dims` fill without padding. Rank 3 to 5 has channels-last ones.
bool has_channels_last(const Dims& dims);
std::vector<Layout> unblocked_layouts(const Dims& dims);  // linear, channels-last
std::vector<Layout> dense_layouts(const CpuKernelContext& context,
                                  const Dims& dims);  // channels-last, linear, blocked
inline Layout channels_last_layout() {
  return {LayoutKind::channels_last, 0};
}

// A fused epilogue of at most an optional bias operand, then relu or clip.
struct EpilogueBounds {
  int bias = -1;    // problem input, a weight, or -1
  float low, high;  // infinite: no bound
};
enum class BiasAllowed { yes, no };
// Nothing where the epilogue is more than that.
std::optional<EpilogueBounds> read_bounds(const Problem& problem, BiasAllowed bias);

// An image of rank 3 or 4 as height and width (height 1 for rank 3), and its windows likewise;
// `missing` is the value for the height that rank 3 lacks.
struct Plane {
  int64_t h = 1, w = 1;
};
Plane plane_of(const std::vector<int64_t>& spatial, int64_t missing);
Plane plane_of_dims(const Dims& dims);
// Errors: unsupported where the first input is not float32 of rank 3 or 4.
Status require_plane(const Problem& problem, const std::string& what);

// What depthwise convolution and pooling have in common: fills the fields `n` to `pad_w` of the
// kernel's arguments from the images and from the operator's strides, dilations and paddings.
// Requires require_plane.
template <typename O, typename KernelArguments>
void set_windows(const Problem& problem, const O& op, const Plane& kernel, KernelArguments& a) {
  const Plane in = plane_of_dims(input_dims(problem, 0)), out = plane_of_dims(output_dims(problem));
  const Plane stride = plane_of(op.strides, 1), dilation = plane_of(op.dilations, 1),
              pad = plane_of(op.pads_begin, 0);
  a.n = input_dims(problem, 0)[0];
  a.channels = input_dims(problem, 0)[1];
  a.in_h = in.h;
  a.in_w = in.w;
  a.out_h = out.h;
  a.out_w = out.w;
  a.kernel_h = kernel.h;
  a.kernel_w = kernel.w;
  a.stride_h = stride.h;
  a.stride_w = stride.w;
  a.dilation_h = dilation.h;
  a.dilation_w = dilation.w;
  a.pad_h = pad.h;
  a.pad_w = pad.w;
}

// A linear tensor as [outer, size, inner] around dimensions [first, last].
struct AxisExtents {
  int64_t outer = 1, size = 1, inner = 1;
};
AxisExtents linear_extents(const Dims& dims, size_t first, size_t last);

// The copy from the tactic's input format to its output's, which differ in the element type.
// Errors: unsupported (types that no kernel converts, high rank).
Result<CpuKernelCandidate> convert_candidate(const CpuKernelContext& context,
                                             const Problem& problem, Tactic tactic);

// The tactics of views in unblocked layouts; empty where the problem moves elements.
std::vector<CpuKernelCandidate> view_candidates(const Problem& problem);

}  // namespace enginery
