// Family resample, `sample` in tactic ids: resizing and padding (resample.cuh).
#include <algorithm>

#include "engine/tactics/cuda/kernel/families.h"
#include "engine/tactics/cuda/kernel/resample/args.h"
#include "engine/tactics/cuda/kernel/text/epilogue_text.h"
#include "engine/tactics/shapes/resampled_dims.h"

namespace enginery {
namespace {

struct ResampleVariant {
  int threads;  // of a block, a vector of outputs each
};

constexpr ResampleVariant kResampleVariants[] = {{256}};

std::string id_of(const ResampleVariant& v) {
  return id_by_threads("sample/taps", v.threads, 256);
}

constexpr size_t kMaxResampled = 3;

// What a kernel is told of dims in memory's order: where an output lies along the kept ones, its
// row along each sampled one, and these ones' tables.
struct ResampleCode {
  BroadcastStrides kept, rows[kMaxResampled];
  std::vector<gpu::ResampleTap> taps{
      {0, 1}};  // first the only row of a dimension that is not there
  size_t first[kMaxResampled] = {0, 0, 0}, count[kMaxResampled] = {1, 1, 1};
};

// Appends the rows of a dimension whose elements lie `stride` apart.
void append_rows(const ResampledDim& dim, int64_t stride, size_t number, ResampleCode& code) {
  code.first[number] = code.taps.size();
  code.count[number] = dim.row_taps();
  for (const SampleTaps& row : dim.taps) {
    for (size_t i = 0; i < code.count[number]; ++i) {
      const SampleTap tap =
          i < row.taps.size() ? row.taps[i] : SampleTap{row.taps.empty() ? 0 : row.taps[0].at, 0};
      code.taps.push_back(
          {row.outside ? -1 : static_cast<int>(tap.at * stride), static_cast<float>(tap.weight)});
    }
  }
}

ResampleCode resample_code(const std::vector<ResampledDim>& dims) {
  ResampleCode code;
  Dims in;
  for (const ResampledDim& dim : dims) in.push_back(dim.in);
  const Dims strides = strides_of(in);
  for (size_t d = 0; d < dims.size(); ++d)
    code.kept.append(dims[d].out, dims[d].taps.empty() ? strides[d] : 0);
  // Tables from the innermost dimension outwards: code in engine files has their places in it.
  size_t number = 0;
  for (size_t d = dims.size(); d-- > 0;) {
    if (dims[d].taps.empty()) continue;
    for (size_t e = 0; e < dims.size(); ++e) code.rows[number].append(dims[e].out, e == d ? 1 : 0);
    append_rows(dims[d], strides[d], number++, code);
  }
  return code;
}

size_t resampled_count(const std::vector<ResampledDim>& dims) {
  return static_cast<size_t>(std::count_if(dims.begin(), dims.end(),
                                           [](const ResampledDim& d) { return !d.taps.empty(); }));
}

// Elements a thread: 16 bytes where what is innermost is kept.
int64_t resample_vector(const BroadcastStrides& kept, DataType type) {
  const int64_t wide = 16 / element_bytes(type);
  return !kept.dims.empty() && kept.strides.back() == 1 && kept.dims.back() % wide == 0 ? wide : 1;
}

double resample_estimate_us(const Problem& problem, const std::vector<ResampledDim>& dims,
                            DataType type, const KernelContext& context) {
  double reads = 1;
  for (const ResampledDim& dim : dims) reads *= static_cast<double>(dim.row_taps());
  const auto elements =
      static_cast<double>(volume(problem.inputs[0].type.dims)) +
      (1 + 0.1 * reads) * static_cast<double>(volume(problem.outputs[0].type.dims));
  return context.memory_us(elements * static_cast<double>(element_bytes(type)));
}

Status offer_resample(const Problem& problem, const KernelContext& context,
                      std::vector<Tactic>& out) {
  TRY(const auto dims, resampled_dims(problem));
  if (resampled_count(dims) > kMaxResampled)
    return refusal("more than three dimensions to resample");
  const Dims &x = problem.inputs[0].type.dims, &y = problem.outputs[0].type.dims;
  for (DataType type : context.storage_types()) {
    for (LayoutKind kind : {LayoutKind::linear, LayoutKind::channels_last}) {
      if (kind == LayoutKind::channels_last && (x.size() < 3 || x[1] % 8 || y[1] % 8)) continue;
      for (const ResampleVariant& variant : kResampleVariants) {
        Tactic tactic = make_kernel_tactic(problem, id_of(variant));
        tactic.inputs[0] = tactic.outputs[0] = {type, {kind, 0}};
        tactic.compute = precision_of_storage(type);
        tactic.estimated_us = resample_estimate_us(problem, dims, type, context);
        out.push_back(std::move(tactic));
      }
    }
  }
  return {};
}

KernelProgram resample_program(const ResampleCode& code, DataType type, int64_t vector,
                               const ResampleVariant& v) {
  KernelProgram program;
  define_types(program, type, type);
  program.define("VECTOR", vector);
  program.define("THREADS", v.threads);
  program.functions = place_text("kept_place", code.kept);
  for (size_t j = 0; j < kMaxResampled; ++j) {
    const std::string number = std::to_string(j);
    program.define("FIRST_" + number, static_cast<int64_t>(code.first[j]));
    program.define("TAPS_" + number, static_cast<int64_t>(code.count[j]));
    program.functions += place_text("row_" + number, code.rows[j]);
  }
  program.files = {"resample/args.h", "resample/resample.cuh"};
  return program;
}

// What elements outside of the input are: Pad's constant, or zero.
PointerSlot outside_slot(const Problem& problem, KernelPlan& plan) {
  constexpr size_t kOffset = offsetof(gpu::ResampleArgs, outside);
  const bool has_constant = std::holds_alternative<Pad>(problem.op) && problem.inputs.size() > 2 &&
                            problem.inputs[2].present;
  if (has_constant) return operand_slot(problem, 2, DataType::float32, kOffset, plan);
  const int zero =
      plan.add_constant([](Weights) { return bytes_of_values(std::vector<float>{0}); });
  return {kOffset, PointerSource::constant, zero};
}

Result<KernelPlan> plan_resample(const Problem& problem, const Tactic& tactic,
                                 const KernelContext&) {
  const ResampleVariant* variant = find_variant(kResampleVariants, tactic);
  if (!variant) return no_variant(tactic);
  TRY(const auto logical, resampled_dims(problem));
  const DataType type = tactic.outputs[0].type;
  if (resampled_count(logical) > kMaxResampled) return no_variant(tactic);
  ResampleCode code = resample_code(as_stored(logical, tactic.outputs[0].layout.kind));
  const int64_t vector = resample_vector(code.kept, type);
  KernelPlan plan;
  plan.program = resample_program(code, type, vector, *variant);
  gpu::ResampleArgs args{};
  args.total = static_cast<unsigned>(volume(problem.outputs[0].type.dims) / vector);
  KernelLaunch launch = launch_of(args, args.total, static_cast<unsigned>(variant->threads));
  const int taps =
      plan.add_constant([taps = std::move(code.taps)](Weights) { return bytes_of_values(taps); });
  launch.slots = {{offsetof(gpu::ResampleArgs, x), PointerSource::input, 0},
                  {offsetof(gpu::ResampleArgs, taps), PointerSource::constant, taps},
                  {offsetof(gpu::ResampleArgs, y), PointerSource::output, 0}};
  launch.slots.push_back(outside_slot(problem, plan));
  plan.launches.push_back(std::move(launch));
  return plan;
}

}  // namespace

const KernelFamily kResampleFamily{"sample", offer_resample, plan_resample};

}  // namespace enginery
