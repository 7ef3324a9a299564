// Family sample: resizing and padding (sample.cuh).
#include <algorithm>

#include "engine/kernels/cuda/epilogue.h"
#include "engine/ops/sampling.h"
#include "engine/tactics/cuda/kernel/kernel_family.h"

namespace enginery {
namespace {

// One dimension; without taps where it is kept as it is.
struct SampledDim {
  int64_t in = 1, out = 1;
  std::vector<SampleTaps> taps;  // one row an output index

  // Of every row: shorter ones are filled up with weights of 0.
  size_t row_taps() const {
    size_t longest = 1;
    for (const SampleTaps& row : taps) longest = std::max(longest, row.taps.size());
    return longest;
  }
};

Result<std::vector<SampledDim>> resized_dims(const Problem& problem, const Resize& op) {
  const auto& inputs = problem.inputs;
  const bool sizes_alone = inputs.size() > 2 && inputs[2].value &&
                           (!inputs[1].present || volume(inputs[1].type.dims) == 0);
  if (!sizes_alone || op.coordinates == ResizeCoordinates::crop)
    return no_kernel("a resize by more than known sizes");
  const Dims &in = inputs[0].type.dims, &out = problem.outputs[0].type.dims;
  std::vector<SampledDim> dims;
  for (size_t d = 0; d < in.size(); ++d) {
    SampledDim& dim = dims.emplace_back(SampledDim{in[d], out[d], {}});
    if (in[d] != out[d])
      dim.taps =
          resize_taps(op, {in[d], out[d], static_cast<float>(out[d]) / static_cast<float>(in[d])});
  }
  return dims;
}

Result<std::vector<SampledDim>> padded_dims(const Problem& problem, const Pad& op) {
  const auto& inputs = problem.inputs;
  const bool has_axes = inputs.size() > 3 && inputs[3].present;
  if (!inputs[1].value || (has_axes && !inputs[3].value))
    return no_kernel("pads that are computed");
  const std::vector<int64_t> axes = has_axes ? to_int64s(*inputs[3].value) : std::vector<int64_t>();
  const Dims &in = inputs[0].type.dims, &out = problem.outputs[0].type.dims;
  TRY(auto sources,
      pad_sources(op, to_int64s(*inputs[1].value), has_axes ? &axes : nullptr, in, out));
  std::vector<SampledDim> dims;
  for (size_t d = 0; d < in.size(); ++d) {
    SampledDim& dim = dims.emplace_back(SampledDim{in[d], out[d], {}});
    bool kept = in[d] == out[d];
    for (int64_t o = 0; o < out[d]; ++o) {
      const int64_t at = sources[d][static_cast<size_t>(o)];
      kept &= at == o;
      dim.taps.push_back(at < 0 ? SampleTaps{{}, true} : SampleTaps{{{at, 1}}, false});
    }
    if (kept) dim.taps.clear();
  }
  return dims;
}

// In the logical order.
Result<std::vector<SampledDim>> sampled_dims(const Problem& problem) {
  const auto* resize = std::get_if<Resize>(&problem.op);
  const auto* pad = std::get_if<Pad>(&problem.op);
  if (!resize && !pad) return no_kernel("no resize and no padding");
  CHECK_OK(require_static(problem));
  const TensorDesc& x = problem.inputs[0];
  if (!is_floating(x.type.type) || x.constant || !problem.epilogue.empty())
    return no_kernel("integers, a constant or a fused chain");
  if (volume(x.type.dims) == 0 || volume(problem.outputs[0].type.dims) == 0)
    return no_kernel("no elements");
  return resize ? resized_dims(problem, *resize) : padded_dims(problem, *pad);
}

// As the elements lie in memory.
std::vector<SampledDim> in_order(std::vector<SampledDim> dims, LayoutKind layout) {
  if (layout == LayoutKind::channels_last)
    std::rotate(dims.begin() + 1, dims.begin() + 2, dims.end());
  return dims;
}

constexpr size_t kMaxSampled = 3;

// What a kernel is told of dims in memory's order: where an output lies along the kept ones, its
// row along each sampled one, and these ones' tables.
struct SampleCode {
  OperandWalk kept, rows[kMaxSampled];
  std::vector<gpu::SampleTap> taps{{0, 1}};  // first the only row of a dimension that is not there
  size_t first[kMaxSampled] = {0, 0, 0}, count[kMaxSampled] = {1, 1, 1};
};

// Appends the rows of a dimension whose elements lie `stride` apart.
void append_rows(const SampledDim& dim, int64_t stride, size_t number, SampleCode& code) {
  code.first[number] = code.taps.size(), code.count[number] = dim.row_taps();
  for (const SampleTaps& row : dim.taps) {
    for (size_t i = 0; i < code.count[number]; ++i) {
      const SampleTap tap =
          i < row.taps.size() ? row.taps[i] : SampleTap{row.taps.empty() ? 0 : row.taps[0].at, 0};
      code.taps.push_back(
          {row.outside ? -1 : static_cast<int>(tap.at * stride), static_cast<float>(tap.weight)});
    }
  }
}

SampleCode code_of(const std::vector<SampledDim>& dims) {
  SampleCode code;
  Dims in;
  for (const SampledDim& dim : dims) in.push_back(dim.in);
  const Dims strides = strides_of(in);
  size_t number = 0;
  for (size_t d = 0; d < dims.size(); ++d) {
    const bool kept = dims[d].taps.empty();
    code.kept.append(dims[d].out, kept ? strides[d] : 0);
    if (kept) continue;
    for (size_t e = 0; e < dims.size(); ++e) code.rows[number].append(dims[e].out, e == d ? 1 : 0);
    append_rows(dims[d], strides[d], number++, code);
  }
  return code;
}

size_t sampled_count(const std::vector<SampledDim>& dims) {
  return static_cast<size_t>(
      std::count_if(dims.begin(), dims.end(), [](const SampledDim& d) { return !d.taps.empty(); }));
}

// Elements a thread: 16 bytes where what is innermost is kept.
int64_t vector_of(const OperandWalk& kept, DataType type) {
  const int64_t wide = 16 / element_bytes(type);
  return !kept.dims.empty() && kept.strides.back() == 1 && kept.dims.back() % wide == 0 ? wide : 1;
}

}  // namespace

Status offer_sample(const Problem& problem, const KernelContext& context,
                    std::vector<Tactic>& out) {
  TRY(const auto dims, sampled_dims(problem));
  if (sampled_count(dims) > kMaxSampled) return no_kernel("more than three dimensions to sample");
  const Dims &x = problem.inputs[0].type.dims, &y = problem.outputs[0].type.dims;
  double reads = 1;
  for (const SampledDim& dim : dims) reads *= static_cast<double>(dim.row_taps());
  for (DataType type : context.storage_types()) {
    for (LayoutKind kind : {LayoutKind::linear, LayoutKind::channels_last}) {
      if (kind == LayoutKind::channels_last && (x.size() < 3 || x[1] % 8 || y[1] % 8)) continue;
      Tactic tactic = make_kernel_tactic(problem, "sample/taps");
      tactic.inputs[0] = tactic.outputs[0] = {type, {kind, 0}};
      tactic.compute = precision_of_storage(type);
      const auto elements =
          static_cast<double>(volume(x)) + (1 + 0.1 * reads) * static_cast<double>(volume(y));
      tactic.estimated_us = context.memory_us(elements * static_cast<double>(element_bytes(type)));
      out.push_back(std::move(tactic));
    }
  }
  return {};
}

Result<KernelPlan> plan_sample(const Problem& problem, const Tactic& tactic, const KernelContext&) {
  if (tactic.id != "sample/taps") return no_variant(tactic);
  TRY(const auto logical, sampled_dims(problem));
  const DataType type = tactic.outputs[0].type;
  if (sampled_count(logical) > kMaxSampled) return no_variant(tactic);
  SampleCode code = code_of(in_order(logical, tactic.outputs[0].layout.kind));
  const int64_t vector = vector_of(code.kept, type);
  KernelPlan plan;
  define_types(plan.program, type, type);
  plan.program.define("VECTOR", vector);
  for (size_t j = 0; j < kMaxSampled; ++j) {
    plan.program.define("FIRST_" + std::to_string(j), static_cast<int64_t>(code.first[j]));
    plan.program.define("TAPS_" + std::to_string(j), static_cast<int64_t>(code.count[j]));
  }
  plan.program.functions = place_text("kept_place", code.kept);
  for (size_t j = 0; j < kMaxSampled; ++j)
    plan.program.functions += place_text("row_" + std::to_string(j), code.rows[j]);
  plan.program.files = {"sample.cuh"};
  gpu::SampleArgs args{};
  args.total = static_cast<unsigned>(volume(problem.outputs[0].type.dims) / vector);
  KernelLaunch launch;
  launch.grid = grid_for(args.total, 256);
  launch.threads = 256;
  launch.arguments = argument_bytes(args);
  const int taps =
      plan.add_constant([taps = std::move(code.taps)](Weights) { return bytes_of_values(taps); });
  launch.slots = {{offsetof(gpu::SampleArgs, x), PointerSource::input, 0},
                  {offsetof(gpu::SampleArgs, taps), PointerSource::constant, taps},
                  {offsetof(gpu::SampleArgs, y), PointerSource::output, 0}};
  const bool has_constant = std::holds_alternative<Pad>(problem.op) && problem.inputs.size() > 2 &&
                            problem.inputs[2].present;
  if (has_constant) {
    launch.slots.push_back(
        operand_slot(problem, 2, DataType::float32, offsetof(gpu::SampleArgs, outside), plan));
  } else {
    const int zero =
        plan.add_constant([](Weights) { return bytes_of_values(std::vector<float>{0}); });
    launch.slots.push_back({offsetof(gpu::SampleArgs, outside), PointerSource::constant, zero});
  }
  plan.launches.push_back(std::move(launch));
  return plan;
}

}  // namespace enginery
