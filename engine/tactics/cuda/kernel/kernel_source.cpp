#include "engine/tactics/cuda/kernel/kernel_source.h"

#include <mutex>

#include "engine/device/cuda/cuda_stream.h"
#include "engine/tactics/cuda/launch/device_constants.h"
#include "engine/tactics/cuda/launch/launch_kernel.h"
#include "engine/tactics/shapes/joined_products.h"
#include "engine/tactics/shapes/pooled_conv.h"

namespace enginery {
namespace {

// One loaded code object; shared by the tactics that have the same code.
class KernelModule {
 public:
  explicit KernelModule(const CudaDevice& device) : device_(device) {}  // empty, for load()
  static Result<std::shared_ptr<const KernelModule>> load(const CudaDevice& device,
                                                          const Bytes& code) {
    CHECK_OK(device.make_current());
    auto module = std::make_shared<KernelModule>(device);
    const Driver& driver = device.driver();
    auto status =
        driver.check(driver.cuModuleLoadDataEx(&module->module_, code.c_str(), 0, nullptr, nullptr),
                     "cuModuleLoadDataEx");
    if (!status.ok() && (status.error().code == ErrorCode::incompatible ||
                         status.error().code == ErrorCode::corrupt_data)) {
      return Error{
          ErrorCode::incompatible,
          "load a kernel on " + device.info().name + ": its driver serves CUDA " +
              std::to_string(driver.version / 1000) + "." +
              std::to_string(driver.version % 1000 / 10) +
              " and refuses this code, made by a newer compiler or for another GPU; update the "
              "driver, or build the engine again here: " +
              status.error().message};
    }
    CHECK_OK(status);
    // Older enginery made code without the variable.
    CUdeviceptr address = 0;
    size_t bytes = 0;
    module->awaits_predecessors_ =
        driver.cuModuleGetGlobal_v2(&address, &bytes, module->module_, "awaits_predecessors") ==
        CUDA_SUCCESS;
    return std::shared_ptr<const KernelModule>(std::move(module));
  }
  ~KernelModule() {
    if (module_ && device_.make_current().ok()) device_.driver().cuModuleUnload(module_);
  }
  Result<CUfunction> function(const KernelLaunch& launch) const {
    CUfunction function = nullptr;
    CUDA_OK(device_.driver(), cuModuleGetFunction(&function, module_, launch.entry.c_str()));
    // Launches of one function may ask for different amounts, the smaller one later.
    constexpr CUfunction_attribute kMost = CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
    const std::lock_guard lock(mutex_);
    int allowed = 0;
    CUDA_OK(device_.driver(), cuFuncGetAttribute(&allowed, kMost, function));
    const auto asked = static_cast<int>(launch.shared_bytes);
    if (asked > allowed) CUDA_OK(device_.driver(), cuFuncSetAttribute(function, kMost, asked));
    return function;
  }
  // Its kernels wait for the kernels before them themselves.
  bool awaits_predecessors() const { return awaits_predecessors_; }

 private:
  const CudaDevice& device_;
  CUmodule module_ = nullptr;
  mutable std::mutex mutex_;  // a function's attributes are its module's
  bool awaits_predecessors_ = false;
};

class PreparedKernel final : public PreparedTactic {
 public:
  PreparedKernel(CudaDevice& device, KernelPlan plan, std::shared_ptr<const KernelModule> module)
      : device_(device), plan_(std::move(plan)), module_(std::move(module)) {}

  Status load(Weights weights) {
    for (const KernelLaunch& launch : plan_.launches) {
      TRY(CUfunction function, module_->function(launch));
      functions_.push_back(function);
    }
    TRY(constants_, DeviceConstants::pack(device_, plan_.constants, weights));
    plan_.constants.clear();
    return {};
  }

  Status enqueue(Stream& stream, const Arguments& arguments) const override {
    CHECK_OK(device_.make_current());
    for (size_t i = 0; i < plan_.launches.size(); ++i) {
      const KernelLaunch& launch = plan_.launches[i];
      Bytes filled = launch.arguments;
      for (const PointerSlot& slot : launch.slots) {
        const void* pointer = address(slot, arguments);
        std::memcpy(filled.data() + slot.offset, &pointer, sizeof pointer);
      }
      void* parameters[] = {filled.data()};
      CHECK_OK(launch_kernel(device_.driver(), functions_[i],
                             {launch.grid, launch.threads, launch.shared_bytes},
                             cuda_stream(stream), parameters, module_->awaits_predecessors()));
    }
    return {};
  }

  int64_t weight_bytes() const override { return constants_.bytes(); }
  int64_t workspace_bytes() const override { return plan_.workspace_bytes; }

  Result<std::shared_ptr<const PreparedTactic>> copy() const override {
    auto out = std::make_shared<PreparedKernel>(*this);
    TRY(out->constants_, constants_.copy(device_));
    return std::shared_ptr<const PreparedTactic>(std::move(out));
  }

 private:
  const void* address(const PointerSlot& slot, const Arguments& arguments) const {
    auto index = static_cast<size_t>(slot.index);
    switch (slot.source) {
      case PointerSource::input:
        return arguments.inputs[index];
      case PointerSource::output:
        return arguments.outputs[index];
      case PointerSource::workspace:
        return arguments.workspace;
      case PointerSource::constant:
        return constants_.address(index);
    }
    return nullptr;
  }

  CudaDevice& device_;
  KernelPlan plan_;
  const std::shared_ptr<const KernelModule> module_;
  std::vector<CUfunction> functions_;
  DeviceConstants constants_;
};

class KernelSource final : public TacticSource {
 public:
  KernelSource(CudaDevice& device, const KernelSourceOptions& options)
      : device_(device), options_(options), info_(device.info()) {
    if (options.compute_capability) info_.compute_capability = options.compute_capability;
  }

  SourceTraits traits() const override {
    return {
        .name = "kernel", .trust = Trust::may_fault, .takes_regions = true, .serves_pitches = true};
  }
  std::vector<RegionPattern> regions() const override {
    using Operands = RegionPattern::Operands;
    std::vector<RegionPattern> out = joined_patterns();
    for (const auto& patterns :
         {quantized_patterns_with_addend(Operands::dequantized), quantized_patterns_with_addend(),
          quantized_patterns(), pooled_patterns()})
      out.insert(out.end(), patterns.begin(), patterns.end());
    return out;
  }

  Result<std::vector<Tactic>> offer(const Problem& problem,
                                    const std::set<Precision>& allowed) const override {
    return offer_kernels(problem, context(allowed), options_.every_variant);
  }

  Result<Bytes> compile(const Problem& problem, const Tactic& tactic) const override {
    TRY(KernelPlan plan, plan_kernel(problem, tactic, context({})));
    return code_of(plan);
  }

  Result<std::shared_ptr<const PreparedTactic>> prepare(const Problem& problem,
                                                        const Tactic& tactic,
                                                        Weights weights) const override {
    TRY(KernelPlan plan, plan_kernel(problem, tactic, context({})));
    std::shared_ptr<const KernelModule> module;
    if (!plan.launches.empty()) {
      Bytes code;
      if (tactic.code)
        code = *tactic.code;
      else {
        TRY(code, code_of(plan));
      }
      TRY(module, loaded(code));
    }
    auto prepared = std::make_shared<PreparedKernel>(device_, std::move(plan), std::move(module));
    if (auto status = prepared->load(weights); !status.ok())
      return status.error().within("kernel " + tactic.id);
    return std::shared_ptr<const PreparedTactic>(std::move(prepared));
  }

 private:
  KernelContext context(std::set<Precision> allowed) const {
    return {info_, sm_limits(info_.compute_capability), std::move(allowed), options_.more_families};
  }

  Result<Bytes> code_of(const KernelPlan& plan) const {
    if (plan.launches.empty()) return Bytes();
    std::string text = program_text(plan.program);
    Digest key = kernel_cache_key(text, info_.compute_capability, options_.kind);
    if (options_.cache) {
      if (auto cached = options_.cache->find(key)) return *cached;
    }
    TRY(KernelCompiler * compiler, this->compiler());
    auto code = compiler->compile(text);
    if (code.ok() && options_.cache) options_.cache->insert(key, *code);
    return code;
  }

  Result<KernelCompiler*> compiler() const {
    std::lock_guard lock(mutex_);
    if (!compiler_) {
      const Nvrtc* nvrtc = nullptr;
      if (info_.compute_capability == device_.info().compute_capability) {
        TRY(nvrtc, device_.nvrtc());
      } else {
        TRY(Nvrtc other, Nvrtc::open(info_.compute_capability));
        other_nvrtc_ = std::make_unique<Nvrtc>(other);
        nvrtc = other_nvrtc_.get();
      }
      compiler_ = std::make_unique<KernelCompiler>(*nvrtc, info_.compute_capability, options_.kind);
    }
    return compiler_.get();
  }

  Result<std::shared_ptr<const KernelModule>> loaded(const Bytes& code) const {
    Digest id = sha256(code);
    std::lock_guard lock(mutex_);
    std::weak_ptr<const KernelModule>& place = modules_[id];
    if (auto module = place.lock()) return module;
    TRY(auto module, KernelModule::load(device_, code));
    place = module;
    return module;
  }

  CudaDevice& device_;
  const KernelSourceOptions options_;
  DeviceInfo info_;
  mutable std::mutex mutex_;
  mutable std::unique_ptr<KernelCompiler> compiler_;
  mutable std::unique_ptr<Nvrtc> other_nvrtc_;
  mutable std::map<Digest, std::weak_ptr<const KernelModule>> modules_;
};

}  // namespace

Result<std::unique_ptr<TacticSource>> make_kernel_source(CudaDevice& device,
                                                         const KernelSourceOptions& options) {
  return std::unique_ptr<TacticSource>(std::make_unique<KernelSource>(device, options));
}

}  // namespace enginery
