#include "engine/tactics/cuda/cudnn/cudnn_source.h"

#include <future>
#include <map>

#include "engine/device/cuda/cuda_stream.h"
#include "engine/tactics/cuda/cudnn/conv_plan.h"
#include "engine/tactics/cuda/launch/gpu_tactic.h"
#include "engine/tactics/cuda/launch/launch_kernel.h"
#include "engine/tactics/cuda/launch/library_handle.h"
#include "engine/tactics/cuda/launch/operand_constants.h"

namespace enginery {
namespace {

// Of one problem and precision: the heuristics put the fast ones first, and each takes a second to
// compile.
constexpr size_t kMaxPlans = 8;
constexpr int64_t kMaxWorkspaceBytes = int64_t{256} << 20;

// Handles and plans are not safe to share between threads: whoever uses one locks its mutex.
using CudnnHandle = LibraryHandle<Cudnn, cudnnHandle_t>;

Result<std::shared_ptr<CudnnHandle>> create_cudnn_handle(CudaDevice& device, const Cudnn& cudnn) {
  CHECK_OK(device.make_current());
  cudnnHandle_t handle = nullptr;
  CUDNN_OK(cudnn, cudnnCreate(&handle));
  return std::make_shared<CudnnHandle>(
      device, cudnn, handle,
      [](const Cudnn& library, cudnnHandle_t h) { library.cudnnDestroy(h); });
}

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

// Where one tensor of the graph lies.
struct TensorPlace {
  enum class Source { input, output, constant };
  int64_t id = 0;  // the tensor's unique id in the graph
  Source source = Source::input;
  size_t index = 0;  // of the input, output or constant
};

class PreparedCudnn final : public PreparedTactic {
 public:
  PreparedCudnn(std::shared_ptr<const LivePlan> plan, std::vector<TensorPlace> places,
                DeviceConstants constants)
      : plan_(std::move(plan)),
        handle_(*plan_->handle),
        places_(std::move(places)),
        constants_(std::move(constants)) {}

  Status enqueue(Stream& stream, const Arguments& arguments) const override {
    CHECK_OK(handle_.device().make_current());
    const Cudnn& cudnn = handle_.library();
    std::vector<int64_t> ids;
    std::vector<void*> pointers;
    for (const TensorPlace& place : places_) {
      ids.push_back(place.id);
      pointers.push_back(address(place, arguments));
    }
    const Driver& driver = handle_.device().driver();
    CHECK_OK(begin_after_all(driver, cuda_stream(stream)));
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
    return begin_after_all(driver, cuda_stream(stream));
  }

  int64_t weight_bytes() const override { return constants_.bytes(); }
  int64_t workspace_bytes() const override { return plan_->plan.workspace_bytes; }

  Result<std::shared_ptr<const PreparedTactic>> copy() const override {
    TRY(DeviceConstants constants, constants_.copy(handle_.device()));
    return std::shared_ptr<const PreparedTactic>(
        std::make_shared<PreparedCudnn>(plan_, places_, std::move(constants)));
  }

 private:
  void* address(const TensorPlace& place, const Arguments& arguments) const {
    switch (place.source) {
      case TensorPlace::Source::input:
        return const_cast<void*>(arguments.inputs[place.index]);
      case TensorPlace::Source::output:
        return arguments.outputs[place.index];
      case TensorPlace::Source::constant:
        return const_cast<void*>(constants_.address(place.index));
    }
    return nullptr;
  }

  const std::shared_ptr<const LivePlan> plan_;
  CudnnHandle& handle_;
  const std::vector<TensorPlace> places_;
  const DeviceConstants constants_;
};

// The graph's tensors; weights and constant operands are added to `constants`.
std::vector<TensorPlace> place_tensors(const ConvShape& shape, DataType type,
                                       const LoweredEpilogue& epilogue,
                                       std::vector<PackConstant>& constants) {
  using Source = TensorPlace::Source;
  std::vector<TensorPlace> places{
      {kXId, Source::input, 0}, {kYId, Source::output, 0}, {kWId, Source::constant, 0}};
  constants.push_back(pack_krsc(shape, type));
  for (size_t slot = 0; slot < epilogue.sources.size(); ++slot) {
    const EpilogueSource& source = epilogue.sources[slot];
    TensorPlace place{kOperandIds + static_cast<int64_t>(slot), Source::input,
                      static_cast<size_t>(source.input)};
    if (source.constant) {
      place.source = Source::constant;
      place.index = constants.size();
      constants.push_back(pack_operand(source, epilogue.frame));
    }
    places.push_back(place);
  }
  return places;
}

class CudnnSource final : public TacticSource {
 public:
  CudnnSource(CudaDevice& device, std::shared_ptr<CudnnHandle> handle)
      : device_(device), handle_(std::move(handle)) {}
  SourceTraits traits() const override {
    return {.name = "cudnn",
            .trust = Trust::may_fault,
            .compiles_beside_timing = false,
            .compiles_by_shape = true};
  }

  Result<std::vector<Tactic>> offer(const Problem& problem,
                                    const std::set<Precision>& allowed) const override {
    TRY(ConvShape shape, conv_shape(problem));
    CHECK_OK(why_not(shape));
    std::vector<Tactic> tactics;
    std::string reason = "no precision that cuDNN has";
    for (Precision precision : library_precisions(device_.info(), allowed)) {
      auto offered = offer_once(problem, shape, precision);
      if (offered.ok())
        tactics.insert(tactics.end(), offered->begin(), offered->end());
      else
        reason = offered.error().message;
    }
    if (tactics.empty()) return refusal("cudnn: " + reason);
    return tactics;
  }

  Result<std::shared_ptr<const PreparedTactic>> prepare(const Problem& problem,
                                                        const Tactic& tactic,
                                                        Weights weights) const override {
    TRY(ConvShape shape, conv_shape(problem));
    TRY(LoweredEpilogue epilogue, lower_conv_epilogue(problem, shape, tactic.inputs[0].type));
    TRY(auto plan, plan_of(problem, tactic, shape, epilogue));
    std::vector<PackConstant> constants;
    const std::vector<TensorPlace> places =
        place_tensors(shape, tactic.inputs[0].type, epilogue, constants);
    TRY(DeviceConstants packed, DeviceConstants::pack(device_, constants, weights));
    return std::shared_ptr<const PreparedTactic>(
        std::make_shared<PreparedCudnn>(std::move(plan), places, std::move(packed)));
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
    if (shape.gemm) return refusal("cudnn: products are cuBLASLt's");
    bool padded = shape.c != shape.c_pitch() || shape.k != shape.k_pitch();
    if (shape.groups > 1 && padded) return refusal("cudnn: groups with padded channels");
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
      TRY(auto handle, create_cudnn_handle(device_, handle_->library()));
      handles_.push_back(handle);
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
    TRY(ConvGraph graph, make_conv_graph(handle.library(), handle.get(), shape, epilogue));
    TRY(CudnnPlan plan, make_plan(handle.library(), handle.get(), std::move(graph), config));
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
    const DataType type = storage_of_precision(precision);
    TRY(LoweredEpilogue epilogue, lower_conv_epilogue(problem, shape, type));
    if (epilogue.code.zero_padding && !keeps_zero(epilogue))
      return refusal("padded channels that would not stay zero");
    std::vector<CudnnConfig> configs;
    {
      TRY(const LockedHandle locked, some_handle());
      TRY(ConvGraph graph,
          make_conv_graph(locked.handle->library(), locked.handle->get(), shape, epilogue));
      TRY(configs, propose_configs(locked.handle->library(), graph));
    }
    std::vector<Tactic> tactics;
    for (const CudnnConfig& config : configs) {
      if (tactics.size() == kMaxPlans) break;
      if (!keeps_promise(config, precision) || known_wrong(config, shape)) continue;
      std::string id = std::string(to_string(precision)) + "/" + config.name();
      auto workspace_bytes = workspace_of(problem, shape, epilogue, id, config);
      if (!workspace_bytes.ok() || *workspace_bytes > kMaxWorkspaceBytes) continue;
      Tactic tactic = make_conv_tactic(problem, shape, epilogue, "cudnn", id);
      tactic.compute = precision;
      tactic.deterministic = config.deterministic;
      tactic.algorithm = config.algorithm;
      tactic.workspace_bytes = *workspace_bytes;
      tactic.estimated_us = estimate_us(shape, precision, type, tactics.size());
      tactics.push_back(std::move(tactic));
    }
    if (tactics.empty())
      return refusal("no plan of cuDNN's serves in " + std::string(to_string(precision)));
    return tactics;
  }

  // Whether padded channels, where convolution and bias give zero, are zero after the activations
  // too.
  static bool keeps_zero(const LoweredEpilogue& epilogue) {
    for (const FusedStep& step : epilogue.code.steps) {
      if (step.kind == FusedStepKind::activation && activate(step.activation, 0.0f) != 0.0f)
        return false;
    }
    return true;
  }

  double estimate_us(const ConvShape& shape, Precision precision, DataType type,
                     size_t rank) const {
    const DeviceInfo& info = device_.info();
    const double peak = peak_flops(info, precision);
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
  TRY(auto handle, create_cudnn_handle(device, *cudnn));
  return std::unique_ptr<TacticSource>(std::make_unique<CudnnSource>(device, std::move(handle)));
}

}  // namespace enginery
