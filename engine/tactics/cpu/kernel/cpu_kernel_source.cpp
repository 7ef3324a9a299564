#include "engine/tactics/cpu/kernel/cpu_kernel_source.h"

#include <algorithm>

#include "engine/device/cpu/cpu_device.h"
#include "engine/device/cpu/cpu_stream.h"
#include "engine/tactics/cpu/kernel/candidate.h"

namespace enginery {
namespace cpu_kernel {
namespace {

Candidates candidates_of(const Context& context, const Problem& p) {
  for (const auto* descs : {&p.inputs, &p.outputs}) {
    for (const TensorDesc& desc : *descs) {
      if (desc.present && !is_static(desc.type.dims))
        return unsupported(to_string(desc.type) + " has run-time sizes");
      if (desc.present && volume(desc.type.dims) == 0) return unsupported("an empty tensor");
    }
  }
  if (p.inputs.empty() || p.outputs.empty()) return unsupported("a node without inputs");
  const Op& op = p.op;
  if (is_reformat(p)) return reformat_candidates(context, p);
  if (std::holds_alternative<Transpose>(op)) return transpose_candidates(context, p);
  if (std::holds_alternative<Concat>(op)) return concat_candidates(context, p);
  if (std::holds_alternative<Split>(op)) return split_candidates(context, p);
  if (std::holds_alternative<Slice>(op)) return slice_candidates(context, p);
  if (std::holds_alternative<Pooling>(op)) return pooling_candidates(context, p);
  if (std::holds_alternative<GlobalPooling>(op) || std::holds_alternative<Reduce>(op))
    return reduction_candidates(context, p);
  if (std::holds_alternative<Softmax>(op)) return softmax_candidates(context, p);
  if (std::holds_alternative<Lrn>(op)) return lrn_candidates(context, p);
  if (auto* convolution = std::get_if<Convolution>(&op)) {
    return convolution->groups > 1 ? depthwise_candidates(context, p)
                                   : pixel_product_candidates(context, p);
  }
  if (std::holds_alternative<Gemm>(op) || std::holds_alternative<MatMul>(op))
    return few_rows_candidates(context, p);
  if (std::holds_alternative<Activation>(op) || std::holds_alternative<Unary>(op) ||
      std::holds_alternative<Binary>(op) || std::holds_alternative<PRelu>(op) ||
      std::holds_alternative<BatchNorm>(op)) {
    return pointwise_candidates(context, p);
  }
  std::vector<Candidate> views = view_candidates(p);
  if (views.empty()) return unsupported(std::string(op_name(op)) + " has no kernel");
  return views;
}

class PreparedKernel final : public PreparedTactic {
 public:
  PreparedKernel(Run run, int64_t weight_bytes, int64_t workspace_bytes)
      : run_(std::move(run)), weight_bytes_(weight_bytes), workspace_bytes_(workspace_bytes) {}
  Status enqueue(Stream& stream, const Arguments& arguments) const override {
    ComputeScope scope(stream);
    run_(arguments);
    return {};
  }
  int64_t weight_bytes() const override { return weight_bytes_; }
  int64_t workspace_bytes() const override { return workspace_bytes_; }

 private:
  const Run run_;
  const int64_t weight_bytes_, workspace_bytes_;
};

// A view runs nothing; the runtime does not even call it.
class PreparedView final : public PreparedTactic {
 public:
  Status enqueue(Stream&, const Arguments&) const override { return {}; }
  int64_t weight_bytes() const override { return 0; }
  int64_t workspace_bytes() const override { return 0; }
};

class CpuKernelSource final : public TacticSource {
 public:
  explicit CpuKernelSource(const DeviceInfo& info)
      : isa_(cpu_isa_of(info)), context_{cpu_kernels_for(isa_), isa_, info.threads} {}
  SourceTraits traits() const override { return {.name = "kernel", .trust = Trust::may_be_wrong}; }

  Result<std::vector<Tactic>> offer(const Problem& problem,
                                    const std::set<Precision>& allowed) const override {
    if (!allowed.contains(Precision::fp32)) return unsupported("only float32 arithmetic so far");
    TRY(auto candidates, candidates_of(context_, problem));
    std::vector<Tactic> tactics;
    for (Candidate& c : candidates) tactics.push_back(std::move(c.tactic));
    return tactics;
  }

  Result<std::shared_ptr<const PreparedTactic>> prepare(const Problem& problem,
                                                        const Tactic& tactic,
                                                        Weights weights) const override {
    using Prepared = std::shared_ptr<const PreparedTactic>;
    TRY(auto candidates, candidates_of(context_, problem));
    for (const Candidate& c : candidates) {
      const Tactic& t = c.tactic;
      if (t.id != tactic.id || t.inputs != tactic.inputs || t.outputs != tactic.outputs) continue;
      if (!c.build) return Prepared(std::make_shared<PreparedView>());
      int64_t bytes = 0;
      for (const Tensor* w : weights) bytes += w ? w->bytes() : 0;
      return Prepared(std::make_shared<PreparedKernel>(c.build(weights), bytes, t.workspace_bytes));
    }
    return Error{ErrorCode::incompatible,
                 "prepare " + tactic_key(tactic) + ": this version has no such kernel"};
  }

 private:
  const CpuIsa isa_;
  const Context context_;
};

}  // namespace
}  // namespace cpu_kernel

Result<std::unique_ptr<TacticSource>> make_cpu_kernel_source(const DeviceInfo& info) {
  return std::unique_ptr<TacticSource>(std::make_unique<cpu_kernel::CpuKernelSource>(info));
}

}  // namespace enginery
