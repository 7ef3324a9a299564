#include "engine/tactics/cpu/kernel/cpu_kernel_source.h"

#include <algorithm>

#include "engine/device/cpu/cpu_device.h"
#include "engine/device/cpu/cpu_stream.h"
#include "engine/tactics/cpu/kernel/cpu_kernel_family.h"
#include "engine/tactics/shapes/averaged_bytes.h"
#include "engine/tactics/shapes/averaged_product.h"
#include "engine/tactics/shapes/depthwise_block.h"
#include "engine/tactics/shapes/float64_call.h"
#include "engine/tactics/shapes/pointwise_region.h"
#include "engine/tactics/shapes/pooled_conv.h"
#include "engine/tactics/shapes/requantized.h"

namespace enginery {

#define CPU_KERNEL_FAMILY(name, ...) \
  CpuKernelCandidates offer_cpu_##name(const CpuKernelContext& context, const Problem& problem);
#include "engine/tactics/cpu/kernel/families.inc"
#undef CPU_KERNEL_FAMILY

namespace {

bool has_groups(const Problem& problem) {
  const auto* convolution = std::get_if<Convolution>(&problem.op);
  return convolution && convolution->groups > 1;
}

bool has_many_rows(const Problem& problem) {
  const Dims& y = output_dims(problem);
  return is_one_of<Gemm, MatMul>(problem) && !y.empty() && volume(y) > kMaxGemvRows * y.back();
}

bool is_discrete(const Problem& problem) {
  return is_one_of<Binary, Unary>(problem) && !is_floating(problem.outputs[0].type.type);
}

bool is_pointwise(const Problem& problem) {
  if (is_region(problem)) return is_pointwise_region(problem);
  return is_one_of<Activation, Unary, Binary, PRelu, BatchNorm>(problem) && !is_discrete(problem);
}

// Whether the family packs whatever inputs are constants, and at least one is none.
bool packs_its_first_input(const Problem& p) {
  const auto comes_at_run_time = [](const TensorDesc& d) {
    return d.present && !d.constant && !d.value;
  };
  return (is_one_of<Concat, Gather, GatherElements, GatherNd, ScatterElements, ScatterNd, Where>(
              p) ||
          is_discrete(p) || is_float64_elementwise(p)) &&
         std::ranges::any_of(p.inputs, comes_at_run_time);
}

constexpr CpuKernelFamily kCpuKernelFamilies[] = {
#define CPU_KERNEL_FAMILY(name, ...) {#name, __VA_ARGS__, offer_cpu_##name},
#include "engine/tactics/cpu/kernel/families.inc"
#undef CPU_KERNEL_FAMILY
};

CpuKernelCandidates candidates_of(const CpuKernelContext& context, const Problem& p) {
  const Status sizes = require_elements(p);
  if (!sizes.ok()) return no_cpu_kernel(sizes.error().message);
  const bool packs = packs_its_first_input(p) || gives_a_constant(p);
  const Status data = packs ? Status() : require_run_time_data(p);
  if (!data.ok()) return no_cpu_kernel(data.error().message);
  const auto* family =
      std::ranges::find_if(kCpuKernelFamilies, [&](const auto& f) { return f.serves(p); });
  if (family == std::end(kCpuKernelFamilies))
    return no_cpu_kernel(std::string(op_name(p.op)) + " has no kernel");
  return family->offer(context, p);
}

// Whether `wanted` is `offered` with the pitches that it says it serves, or without any. (A
// reformat is offered with its pitches.)
bool is_twin(const Tactic& offered, const Tactic& wanted) {
  const bool reads = has_pitch(wanted.inputs[0]), writes = has_pitch(wanted.outputs[0]);
  if ((reads && !offered.reads_pitched) || (writes && !offered.writes_pitched)) return false;
  Tactic plain = wanted;
  plain.inputs[0] = without_pitch(wanted.inputs[0]);
  plain.outputs[0] = without_pitch(wanted.outputs[0]);
  return offered.inputs == plain.inputs && offered.outputs == plain.outputs;
}

class PreparedCpuKernel final : public PreparedTactic {
 public:
  PreparedCpuKernel(CpuKernelRun run, CpuDataCheck check, int64_t weight_bytes,
                    int64_t workspace_bytes)
      : run_(std::move(run)),
        check_(std::move(check)),
        weight_bytes_(weight_bytes),
        workspace_bytes_(workspace_bytes) {}
  Status enqueue(Stream& stream, const Arguments& arguments) const override {
    const Status taken = check_ ? check_(arguments) : Status();
    if (!taken.ok()) return taken;
    ComputeScope scope(stream);
    run_(arguments);
    return {};
  }
  int64_t weight_bytes() const override { return weight_bytes_; }
  int64_t workspace_bytes() const override { return workspace_bytes_; }

 private:
  const CpuKernelRun run_;
  const CpuDataCheck check_;
  const int64_t weight_bytes_, workspace_bytes_;
};

// A view runs nothing; the runtime does not even call it.
class PreparedCpuView final : public PreparedTactic {
 public:
  Status enqueue(Stream&, const Arguments&) const override { return {}; }
  int64_t weight_bytes() const override { return 0; }
  int64_t workspace_bytes() const override { return 0; }
};

class CpuKernelSource final : public TacticSource {
 public:
  CpuKernelSource(const DeviceInfo& info, const CpuTileKernels* tiles)
      : isa_(cpu_isa_of(info)), context_{cpu_kernels_for(isa_), isa_, info.threads, tiles} {}
  SourceTraits traits() const override {
    return {
        .name = "kernel", .trust = Trust::may_fault, .takes_regions = true, .serves_pitches = true};
  }
  std::vector<RegionPattern> regions() const override {
    std::vector<RegionPattern> out = requantized_patterns();
    for (const auto& more : {averaged_patterns(), depthwise_block_patterns(),
                             averaged_product_patterns(), pooled_float_patterns()})
      out.insert(out.end(), more.begin(), more.end());
    return out;
  }

  Result<std::vector<Tactic>> offer(const Problem& problem,
                                    const std::set<Precision>& allowed) const override {
    TRY(auto candidates, candidates_of(context_, problem));
    std::vector<Tactic> tactics;
    for (CpuKernelCandidate& c : candidates) {
      if (allowed.contains(c.tactic.compute)) tactics.push_back(std::move(c.tactic));
    }
    if (tactics.empty()) return no_cpu_kernel("none in the allowed precisions");
    return tactics;
  }

  Result<std::shared_ptr<const PreparedTactic>> prepare(const Problem& problem,
                                                        const Tactic& tactic,
                                                        Weights weights) const override {
    using Prepared = std::shared_ptr<const PreparedTactic>;
    CpuKernelContext context = context_;
    if (!is_reformat(problem)) {
      context.in_pitch = tactic.inputs.empty() ? 0 : tactic.inputs[0].layout.pitch;
      context.out_pitch = tactic.outputs[0].layout.pitch;
    }
    TRY(auto candidates, candidates_of(context, problem));
    for (const CpuKernelCandidate& c : candidates) {
      const Tactic& t = c.tactic;
      const bool same = t.inputs == tactic.inputs && t.outputs == tactic.outputs;
      if (t.id != tactic.id || !(same || is_twin(t, tactic))) continue;
      if (!c.prepare) return Prepared(std::make_shared<PreparedCpuView>());
      int64_t bytes = c.packed_bytes;
      if (bytes == 0) {
        for (const Tensor* w : weights) bytes += w ? w->bytes() : 0;
      }
      return Prepared(std::make_shared<PreparedCpuKernel>(c.prepare(weights), c.check, bytes,
                                                          t.workspace_bytes));
    }
    return Error{ErrorCode::incompatible,
                 "prepare " + tactic_key(tactic) + ": this version has no such kernel"};
  }

 private:
  const CpuIsa isa_;
  const CpuKernelContext context_;
};

}  // namespace

Result<std::unique_ptr<TacticSource>> make_cpu_kernel_source(const DeviceInfo& info) {
  return make_cpu_kernel_source(info, cpu_tile_kernels_for(cpu_isa_of(info)));
}

Result<std::unique_ptr<TacticSource>> make_cpu_kernel_source(const DeviceInfo& info,
                                                             const CpuTileKernels* tiles) {
  return std::unique_ptr<TacticSource>(std::make_unique<CpuKernelSource>(info, tiles));
}

}  // namespace enginery
