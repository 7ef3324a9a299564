#include "engine/tactics/cuda/host_step/host_step_source.h"

#include <map>

#include "engine/base/log.h"
#include "engine/device/cuda/cuda_stream.h"
#include "engine/device/format_convert.h"
#include "engine/tactics/cpu/reference/reference_source.h"

namespace enginery {
namespace {

CUdeviceptr address(const void* p) {
  return reinterpret_cast<CUdeviceptr>(p);
}

// Pinned copies of one stream's inputs and outputs, and what the host function needs. Stays as long
// as the tactic, since recorded sequences point to it.
struct Staging {
  const Problem* problem = nullptr;
  const Tactic* tactic = nullptr;
  const std::vector<Tensor>* weights = nullptr;
  std::vector<void*> inputs, outputs;  // pinned; null where absent or constant

  Status compute() const {
    std::vector<Tensor> held(problem->inputs.size());
    std::vector<const Tensor*> in;
    for (size_t i = 0; i < held.size(); ++i) {
      const TensorDesc& desc = problem->inputs[i];
      if (desc.value)
        held[i] = *desc.value;
      else if (desc.present && desc.constant)
        held[i] = (*weights)[i];
      else if (desc.present)
        held[i] =
            convert(from_physical(inputs[i], desc.type.dims, tactic->inputs[i]), desc.type.type);
      in.push_back(desc.present ? &held[i] : nullptr);
    }
    TRY(auto out, run_problem_reference(*problem, in));
    for (size_t i = 0; i < out.size(); ++i) to_physical(out[i], tactic->outputs[i], outputs[i]);
    return {};
  }
};

void run_on_host(void* data) {
  // A host function cannot fail: what the shape rules accepted, the reference computes.
  if (auto status = static_cast<Staging*>(data)->compute(); !status.ok())
    log_error("host step: " + status.error().message);
}

class PreparedHostStep final : public PreparedTactic {
 public:
  PreparedHostStep(CudaDevice& device, Problem problem, Tactic tactic, Weights weights)
      : device_(device), problem_(std::move(problem)), tactic_(std::move(tactic)) {
    for (const Tensor* w : weights) weights_.push_back(w ? *w : Tensor());
  }
  ~PreparedHostStep() override {
    if (!device_.make_current().ok()) return;
    for (void* memory : pinned_) device_.driver().cuMemFreeHost(memory);
  }

  Status enqueue(Stream& stream, const Arguments& arguments) const override {
    CHECK_OK(device_.make_current());
    TRY(Staging * staging, staging_of(stream));
    const Driver& driver = device_.driver();
    CUstream handle = cuda_stream(stream);
    for (size_t i = 0; i < staging->inputs.size(); ++i) {
      if (!staging->inputs[i]) continue;
      size_t bytes = input_bytes(i);
      CUDA_OK(driver, cuMemcpyAsync(address(staging->inputs[i]), address(arguments.inputs[i]),
                                    bytes, handle));
    }
    CUDA_OK(driver, cuLaunchHostFunc(handle, run_on_host, staging));
    for (size_t i = 0; i < staging->outputs.size(); ++i) {
      size_t bytes = output_bytes(i);
      if (bytes)
        CUDA_OK(driver, cuMemcpyAsync(address(arguments.outputs[i]), address(staging->outputs[i]),
                                      bytes, handle));
    }
    return {};
  }

  int64_t weight_bytes() const override { return 0; }
  int64_t workspace_bytes() const override { return 0; }

 private:
  size_t input_bytes(size_t i) const {
    return static_cast<size_t>(physical_bytes(problem_.inputs[i].type.dims, tactic_.inputs[i]));
  }
  size_t output_bytes(size_t i) const {
    return static_cast<size_t>(physical_bytes(problem_.outputs[i].type.dims, tactic_.outputs[i]));
  }

  Result<void*> pinned(size_t bytes) const {
    void* memory = nullptr;
    CUDA_OK(device_.driver(), cuMemAllocHost_v2(&memory, bytes ? bytes : 1));
    pinned_.push_back(memory);
    return memory;
  }

  Result<Staging*> staging_of(Stream& stream) const {
    std::lock_guard lock(mutex_);
    std::unique_ptr<Staging>& place = staging_[cuda_stream(stream)];
    if (place) return place.get();
    auto staging = std::make_unique<Staging>();
    staging->problem = &problem_, staging->tactic = &tactic_, staging->weights = &weights_;
    for (size_t i = 0; i < problem_.inputs.size(); ++i) {
      const TensorDesc& desc = problem_.inputs[i];
      staging->inputs.push_back(nullptr);
      if (desc.present && !desc.constant && !desc.value) {
        TRY(staging->inputs.back(), pinned(input_bytes(i)));
      }
    }
    for (size_t i = 0; i < problem_.outputs.size(); ++i) {
      staging->outputs.push_back(nullptr);
      TRY(staging->outputs.back(), pinned(output_bytes(i)));
    }
    place = std::move(staging);
    return place.get();
  }

  CudaDevice& device_;
  const Problem problem_;
  const Tactic tactic_;
  std::vector<Tensor> weights_;
  mutable std::mutex mutex_;
  mutable std::map<CUstream, std::unique_ptr<Staging>> staging_;
  mutable std::vector<void*> pinned_;
};

class HostStepSource final : public TacticSource {
 public:
  explicit HostStepSource(CudaDevice& device) : device_(device) {}
  SourceTraits traits() const override {
    return {.name = "reference", .trust = Trust::reference, .takes_regions = true};
  }

  Result<std::vector<Tactic>> offer(const Problem& problem,
                                    const std::set<Precision>&) const override {
    // Two copies over the bus and a host function besides: 101 us measured on an H200.
    constexpr double kRoundTripUs = 100, kBusBytesPerUs = 2e4;
    TRY(Tactic tactic, reference_tactic(problem, "host_step"));
    tactic.estimated_us += kRoundTripUs + least_bytes(problem) / kBusBytesPerUs;
    return std::vector{tactic};
  }

  Result<std::shared_ptr<const PreparedTactic>> prepare(const Problem& problem,
                                                        const Tactic& tactic,
                                                        Weights weights) const override {
    if (tactic.id != "host_step")
      return Error{ErrorCode::incompatible, "reference: no tactic is called '" + tactic.id + "'"};
    CHECK_OK(require_reference_formats(problem, tactic));
    CHECK_OK(device_.make_current());
    return std::shared_ptr<const PreparedTactic>(
        std::make_shared<PreparedHostStep>(device_, problem, tactic, weights));
  }

 private:
  CudaDevice& device_;
};

}  // namespace

Result<std::unique_ptr<TacticSource>> make_host_step_source(CudaDevice& device) {
  return std::unique_ptr<TacticSource>(std::make_unique<HostStepSource>(device));
}

}  // namespace enginery
