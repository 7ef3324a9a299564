#include "engine/tactics/cuda/cudnn/cudnn_source.h"

#include <future>
#include <map>

#include "engine/device/cuda/cuda_stream.h"
#include "engine/tactics/cuda/cudnn/conv_plan.h"
#include "engine/tactics/cuda/kernel/device_constants.h"

namespace enginery {
namespace {

constexpr size_t kMaxPlans = 12;  // of one problem and precision
constexpr int64_t kMaxWorkspaceBytes = int64_t{256} << 20;

// A cuDNN handle and the right to use it: handles and plans are not safe to share between threads.
class CudnnHandle {
 public:
  static Result<std::unique_ptr<CudnnHandle>> create(CudaDevice& device, const Cudnn& cudnn) {
    CHECK_OK(device.make_current());
    std::unique_ptr<CudnnHandle> handle(new CudnnHandle(device, cudnn));
    CUDNN_OK(cudnn, cudnnCreate(&handle->handle_));
    return handle;
  }
  ~CudnnHandle() {
    if (handle_ && device_.make_current().ok()) cudnn_.cudnnDestroy(handle_);
  }
  CudaDevice& device() const { return device_; }
  const Cudnn& cudnn() const { return cudnn_; }
  cudnnHandle_t get() const { return handle_; }
  std::mutex& mutex() { return mutex_; }

 private:
  CudnnHandle(CudaDevice& device, const Cudnn& cudnn) : device_(device), cudnn_(cudnn) {}
  CudaDevice& device_;
  const Cudnn& cudnn_;
  cudnnHandle_t handle_ = nullptr;
  std::mutex mutex_;
};

// Weights as cuDNN reads them: [k padded][r][s][c of the group, padded] in the storage type.
PackConstant pack_krsc(const ConvShape& shape, DataType type) {
  return [shape, type](Weights weights) {
    std::vector<float> krsc = filter_krsc(shape, *weights[1]);
    int64_t c = shape.c / shape.groups, c_pitch = shape.c_pitch() / shape.groups,
            rs = shape.r * shape.s;
    Tensor packed(DataType::float32, {shape.k_pitch() * rs * c_pitch});
    auto out = packed.mutable_data<float>();
    std::fill(out.begin(), out.end(), 0.0f);
    for (int64_t row = 0; row < shape.k * rs; ++row) {
      for (int64_t j = 0; j < c; ++j)
        out[static_cast<size_t>(row * c_pitch + j)] = krsc[static_cast<size_t>(row * c + j)];
    }
    return Bytes(as_text(convert(packed, type).byte_span()));
  };
}

// A plan with the handle that it was made on; compiled once, shared by all that run it.
struct LivePlan {
  std::shared_ptr<CudnnHandle> handle;
  CudnnPlan plan;
};

class PreparedCudnn final : public PreparedTactic {
 public:
  // `slots[i].offset` is a tensor's unique id.
  PreparedCudnn(std::shared_ptr<const LivePlan> plan, std::vector<PointerSlot> slots,
                DeviceConstants constants)
      : plan_(std::move(plan)),
        handle_(*plan_->handle),
        slots_(std::move(slots)),
        constants_(std::move(constants)) {}

  Status enqueue(Stream& stream, const Arguments& arguments) const override {
    CHECK_OK(handle_.device().make_current());
    const Cudnn& cudnn = handle_.cudnn();
    std::vector<int64_t> ids;
    std::vector<void*> pointers;
    for (const PointerSlot& slot : slots_) {
      auto index = static_cast<size_t>(slot.index);
      ids.push_back(static_cast<int64_t>(slot.offset));
      pointers.push_back(
          slot.source == PointerSource::input    ? const_cast<void*>(arguments.inputs[index])
          : slot.source == PointerSource::output ? arguments.outputs[index]
                                                 : const_cast<void*>(constants_.address(index)));
    }
    std::lock_guard lock(handle_.mutex());
    TRY(CudnnDescriptor pack,
        CudnnDescriptor::create(cudnn, CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR));
    CHECK_OK(pack.set_int64s(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, ids));
    CHECK_OK(pack.set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR,
                      static_cast<int64_t>(pointers.size()), pointers.data()));
    CHECK_OK(
        pack.set_one(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, arguments.workspace));
    CHECK_OK(pack.finalize());
    CUDNN_OK(cudnn,
             cudnnSetStream(handle_.get(), reinterpret_cast<cudaStream_t>(cuda_stream(stream))));
    CUDNN_OK(cudnn, cudnnBackendExecute(handle_.get(), plan_->plan.plan.get(), pack.get()));
    return {};
  }

  int64_t weight_bytes() const override { return constants_.bytes(); }
  int64_t workspace_bytes() const override { return plan_->plan.workspace_bytes; }

  Result<std::shared_ptr<const PreparedTactic>> copy() const override {
    TRY(DeviceConstants constants, constants_.copy(handle_.device()));
    return std::shared_ptr<const PreparedTactic>(
        std::make_shared<PreparedCudnn>(plan_, slots_, std::move(constants)));
  }

 private:
  const std::shared_ptr<const LivePlan> plan_;
  CudnnHandle& handle_;
  const std::vector<PointerSlot> slots_;
  const DeviceConstants constants_;
};

class CudnnSource final : public TacticSource {
 public:
  CudnnSource(CudaDevice& device, std::shared_ptr<CudnnHandle> handle)
      : device_(device), handle_(std::move(handle)) {}
  SourceTraits traits() const override {
    return {.name = "cudnn", .trust = Trust::may_fault, .compiles_beside_timing = false};
  }

  Result<std::vector<Tactic>> offer(const Problem& problem,
                                    const std::set<Precision>& allowed) const override {
    TRY(ConvShape shape, conv_shape(problem));
    CHECK_OK(why_not(shape));
    std::vector<Tactic> tactics;
    std::string reason = "no precision that cuDNN has";
    for (Precision precision : {Precision::fp16, Precision::tf32, Precision::fp32}) {
      if (!allowed.contains(precision)) continue;
      auto offered = offer_once(problem, shape, precision);
      if (offered.ok())
        tactics.insert(tactics.end(), offered->begin(), offered->end());
      else
        reason = offered.error().message;
    }
    if (tactics.empty()) return no_kernel("cudnn: " + reason);
    return tactics;
  }

  Result<std::shared_ptr<const PreparedTactic>> prepare(const Problem& problem,
                                                        const Tactic& tactic,
                                                        Weights weights) const override {
    TRY(ConvShape shape, conv_shape(problem));
    TRY(LoweredEpilogue epilogue, lower_conv_epilogue(problem, shape, tactic.inputs[0].type));
    TRY(auto plan, plan_of(problem, tactic, shape, epilogue));
    KernelPlan constants;
    KernelLaunch launch;
    launch.slots = {{kXId, PointerSource::input, 0},
                    {kYId, PointerSource::output, 0},
                    {kWId, PointerSource::constant,
                     constants.add_constant(pack_krsc(shape, tactic.inputs[0].type))}};
    attach_epilogue(epilogue, 0, constants, launch);
    for (size_t i = 3; i < launch.slots.size(); ++i)
      launch.slots[i].offset = kOperandIds + launch.slots[i].offset / sizeof(void*);
    TRY(DeviceConstants packed, DeviceConstants::pack(device_, constants.constants, weights));
    return std::shared_ptr<const PreparedTactic>(
        std::make_shared<PreparedCudnn>(std::move(plan), launch.slots, std::move(packed)));
  }

  // A plan belongs to a handle; whoever runs another of that handle's plans would wait for it.
  void compile_ahead(const Problem& problem, const Tactic& tactic) const override {
    auto shape = conv_shape(problem);
    if (!shape.ok()) return;
    auto epilogue = lower_conv_epilogue(problem, *shape, tactic.inputs[0].type);
    if (epilogue.ok()) (void)plan_of(problem, tactic, *shape, *epilogue);
  }

 private:
  static Status why_not(const ConvShape& shape) {
    if (shape.product) return no_kernel("cudnn: products are cuBLASLt's");
    bool padded = shape.c != shape.c_pitch() || shape.k != shape.k_pitch();
    if (shape.groups > 1 && padded) return no_kernel("cudnn: groups with padded channels");
    return {};
  }

  struct LockedHandle {
    std::shared_ptr<CudnnHandle> handle;
    std::unique_lock<std::mutex> lock;
  };

  // Plans keep a pointer to their handle, and executing one is not safe beside another on the same
  // handle: one that nobody uses now, or one of sixteen in turn.
  Result<LockedHandle> some_handle() const {
    constexpr size_t kMaxHandles = 16;
    CHECK_OK(device_.make_current());
    std::unique_lock lock(mutex_);
    for (const auto& handle : handles_) {
      std::unique_lock idle(handle->mutex(), std::try_to_lock);
      if (idle.owns_lock()) return LockedHandle{handle, std::move(idle)};
    }
    if (handles_.size() < kMaxHandles) {
      TRY(auto created, CudnnHandle::create(device_, handle_->cudnn()));
      std::shared_ptr<CudnnHandle> handle = handles_.emplace_back(std::move(created));
      std::unique_lock idle(handle->mutex());
      return LockedHandle{std::move(handle), std::move(idle)};
    }
    std::shared_ptr<CudnnHandle> handle = handles_[turn_++ % kMaxHandles];
    lock.unlock();
    std::unique_lock waited(handle->mutex());
    return LockedHandle{std::move(handle), std::move(waited)};
  }

  // Plans are kept, and each is compiled by one thread while others wait for it: the tuner prepares
  // several copies of a tactic, a network has the same layer several times.
  using SharedPlan = Result<std::shared_ptr<const LivePlan>>;
  SharedPlan plan_once(const Problem& problem, const ConvShape& shape,
                       const LoweredEpilogue& epilogue, const std::string& id,
                       const CudnnConfig& config) const {
    std::promise<SharedPlan> promise;
    std::shared_future<SharedPlan> plan;
    bool mine = false;
    {
      std::lock_guard lock(mutex_);
      auto [place, inserted] = plans_.try_emplace(problem.key() + "|" + id);
      if (inserted) place->second = promise.get_future().share();
      plan = place->second;
      mine = inserted;
    }
    if (mine) promise.set_value(compile_plan(shape, epilogue, config));
    return plan.get();
  }

  SharedPlan plan_of(const Problem& problem, const Tactic& tactic, const ConvShape& shape,
                     const LoweredEpilogue& epilogue) const {
    auto config = CudnnConfig::parse(tactic.id.substr(tactic.id.find('/') + 1));
    if (!config)
      return Error{ErrorCode::incompatible, "cudnn: no tactic is called '" + tactic.id + "'"};
    auto plan = plan_once(problem, shape, epilogue, tactic.id, *config);
    if (plan.ok()) return plan;
    return Error{plan.error().code == ErrorCode::out_of_memory ? ErrorCode::out_of_memory
                                                               : ErrorCode::incompatible,
                 "cudnn " + tactic.id + ": " + plan.error().message};
  }

  SharedPlan compile_plan(const ConvShape& shape, const LoweredEpilogue& epilogue,
                          const CudnnConfig& config) const {
    TRY(const LockedHandle locked, some_handle());
    const CudnnHandle& handle = *locked.handle;
    TRY(ConvGraph graph, make_conv_graph(handle.cudnn(), handle.get(), shape, epilogue));
    TRY(CudnnPlan plan, make_plan(handle.cudnn(), handle.get(), std::move(graph), config));
    return std::make_shared<const LivePlan>(LivePlan{locked.handle, std::move(plan)});
  }

  // Compiling a plan takes up to a second, an offer must not: it takes the configuration's word for
  // its workspace.
  Result<int64_t> workspace_of(const Problem& problem, const ConvShape& shape,
                               const LoweredEpilogue& epilogue, const std::string& id,
                               const CudnnConfig& config) const {
    if (config.workspace_bytes) return *config.workspace_bytes;
    TRY(auto plan, plan_once(problem, shape, epilogue, id, config));
    return plan->plan.workspace_bytes;
  }

  // Proposals are kept: the same problem is offered once for each node that has it.
  Result<std::vector<Tactic>> offer_once(const Problem& problem, const ConvShape& shape,
                                         Precision precision) const {
    std::string key = problem.key() + "|" + std::string(to_string(precision));
    {
      std::lock_guard lock(mutex_);
      if (auto known = offers_.find(key); known != offers_.end()) return known->second;
    }
    auto offered = offer_fresh(problem, shape, precision);
    std::lock_guard lock(mutex_);
    return offers_.try_emplace(key, offered).first->second;
  }

  Result<std::vector<Tactic>> offer_fresh(const Problem& problem, const ConvShape& shape,
                                          Precision precision) const {
    DataType type = precision == Precision::fp16 ? DataType::float16 : DataType::float32;
    TRY(LoweredEpilogue epilogue, lower_conv_epilogue(problem, shape, type));
    if (epilogue.code.zero_padding && !keeps_zero(epilogue))
      return no_kernel("padded channels that would not stay zero");
    std::vector<CudnnConfig> configs;
    {
      TRY(const LockedHandle locked, some_handle());
      TRY(ConvGraph graph,
          make_conv_graph(locked.handle->cudnn(), locked.handle->get(), shape, epilogue));
      TRY(configs, propose_configs(locked.handle->cudnn(), graph));
    }
    std::vector<Tactic> tactics;
    for (const CudnnConfig& config : configs) {
      if (tactics.size() == kMaxPlans) break;
      if (!fits(config, precision)) continue;
      std::string id = std::string(to_string(precision)) + "/" + config.name();
      auto workspace_bytes = workspace_of(problem, shape, epilogue, id, config);
      if (!workspace_bytes.ok() || *workspace_bytes > kMaxWorkspaceBytes) continue;
      Tactic tactic = make_conv_tactic(problem, shape, epilogue, id);
      tactic.source = "cudnn";
      tactic.compute = precision;
      tactic.deterministic = config.deterministic;
      tactic.workspace_bytes = *workspace_bytes;
      tactic.estimated_us = estimate_us(shape, precision, type, tactics.size());
      tactics.push_back(std::move(tactic));
    }
    if (tactics.empty())
      return no_kernel("no plan of cuDNN's serves in " + std::string(to_string(precision)));
    return tactics;
  }

  // fp32 promises full precision; tf32 and fp16 are for tensor cores.
  static bool fits(const CudnnConfig& config, Precision precision) {
    if (precision == Precision::fp32) return !config.tensor_cores && !config.down_converts;
    if (precision == Precision::tf32) return config.tensor_cores;
    return true;
  }

  // Whether padded channels, where convolution and bias give zero, are zero after the activations
  // too.
  static bool keeps_zero(const LoweredEpilogue& epilogue) {
    for (const CodeStep& step : epilogue.code.steps) {
      if (step.kind == CodeStepKind::activation && activate(step.activation, 0.0f) != 0.0f)
        return false;
    }
    return true;
  }

  double estimate_us(const ConvShape& shape, Precision precision, DataType type,
                     size_t rank) const {
    const DeviceInfo& info = device_.info();
    double peak = precision == Precision::fp16   ? info.float16_flops
                  : precision == Precision::tf32 ? info.tf32_flops
                                                 : info.float32_flops;
    constexpr double kShare = 0.5, kStartUs = 3;
    double us = std::max(1e6 * shape.flops() / (kShare * peak),
                         1e6 * conv_bytes(shape, type) / (0.8 * info.bytes_per_second));
    return kStartUs + us * (1 + 0.05 * static_cast<double>(rank));
  }

  CudaDevice& device_;
  const std::shared_ptr<CudnnHandle> handle_;
  mutable std::mutex mutex_;
  mutable size_t turn_ = 0;
  mutable std::vector<std::shared_ptr<CudnnHandle>> handles_;
  mutable std::map<std::string, Result<std::vector<Tactic>>> offers_;
  mutable std::map<std::string, std::shared_future<SharedPlan>> plans_;  // by problem and tactic id
};

}  // namespace

Result<std::unique_ptr<TacticSource>> make_cudnn_source(CudaDevice& device) {
  TRY(const Cudnn* cudnn, device.cudnn());
  TRY(auto handle, CudnnHandle::create(device, *cudnn));
  return std::unique_ptr<TacticSource>(
      std::make_unique<CudnnSource>(device, std::shared_ptr<CudnnHandle>(std::move(handle))));
}

}  // namespace enginery
