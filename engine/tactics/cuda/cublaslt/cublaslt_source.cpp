#include "engine/tactics/cuda/cublaslt/cublaslt_source.h"

#include <algorithm>

#include "engine/device/cuda/cuda_stream.h"
#include "engine/tactics/cuda/cublaslt/product.h"
#include "engine/tactics/cuda/kernel/device_constants.h"

namespace enginery {
namespace {

// What the library is told that it may use; PyTorch's figures for Hopper and for older cards.
uint64_t workspace_limit(const DeviceInfo& info) {
  return uint64_t{info.compute_capability >= 90 ? 32u : 4u} << 20;
}

// A cuBLASLt handle; any number of threads may use it.
class LtHandle {
 public:
  static Result<std::shared_ptr<LtHandle>> create(CudaDevice& device, const CublasLt& lt) {
    CHECK_OK(device.make_current());
    std::shared_ptr<LtHandle> out(new LtHandle(device, lt));
    CUBLASLT_OK(lt, cublasLtCreate(&out->handle_));
    return out;
  }
  ~LtHandle() {
    if (handle_ && device_.make_current().ok()) lt_.cublasLtDestroy(handle_);
  }
  CudaDevice& device() const { return device_; }
  const CublasLt& lt() const { return lt_; }
  cublasLtHandle_t get() const { return handle_; }

 private:
  LtHandle(CudaDevice& device, const CublasLt& lt) : device_(device), lt_(lt) {}
  CudaDevice& device_;
  const CublasLt& lt_;
  cublasLtHandle_t handle_ = nullptr;
};

// The bias in the storage type, padded, after the weights [k padded][c padded].
Bytes pack_weights(const ConvShape& shape, DataType type, Weights weights) {
  std::vector<float> kc = filter_krsc(shape, *weights[1]);
  Tensor packed(DataType::float32, {shape.k_pitch() * shape.c_pitch()});
  auto out = packed.mutable_data<float>();
  std::fill(out.begin(), out.end(), 0.0f);
  for (int64_t k = 0; k < shape.k; ++k) {
    for (int64_t c = 0; c < shape.c; ++c)
      out[static_cast<size_t>(k * shape.c_pitch() + c)] = kc[static_cast<size_t>(k * shape.c + c)];
  }
  return Bytes(as_text(convert(packed, type).byte_span()));
}

Bytes pack_bias(const EpilogueSource& source, int64_t padded, DataType type, Weights weights) {
  Tensor values = convert(*weights[static_cast<size_t>(source.input)], DataType::float32);
  Tensor packed(DataType::float32, {padded});
  auto out = packed.mutable_data<float>();
  std::fill(out.begin(), out.end(), 0.0f);
  for (int64_t i = 0; i < values.size(); ++i)
    out[static_cast<size_t>(i)] = source.scale * values.data<float>()[static_cast<size_t>(i)];
  return Bytes(as_text(convert(packed, type).byte_span()));
}

// What runs: an algorithm of one product.
struct LtRecipe {
  ConvShape shape;
  Precision compute;
  LtEpilogue epilogue;
  cublasLtMatmulAlgo_t algorithm;
  size_t workspace_bytes = 0;
  int residual = -1;  // the input that is added, or -1
};

class PreparedLt final : public PreparedTactic {
 public:
  // Constants: weights and, where the epilogue has one, the bias.
  static Result<std::shared_ptr<const PreparedTactic>> make(std::shared_ptr<LtHandle> handle,
                                                            const LtRecipe& recipe,
                                                            DeviceConstants constants) {
    std::shared_ptr<PreparedLt> out(
        new PreparedLt(std::move(handle), recipe, std::move(constants)));
    TRY(out->product_,
        LtProduct::create(out->handle_->lt(), recipe.shape, recipe.compute, recipe.epilogue));
    if (recipe.epilogue.bias_slot >= 0)
      CHECK_OK(out->product_->set_bias(out->constants_.address(1)));
    CHECK_OK(out->product_->check(out->handle_->get(), recipe.algorithm));
    return std::shared_ptr<const PreparedTactic>(std::move(out));
  }

  Status enqueue(Stream& stream, const Arguments& arguments) const override {
    CHECK_OK(handle_->device().make_current());
    const void* c =
        recipe_.residual >= 0 ? arguments.inputs[static_cast<size_t>(recipe_.residual)] : nullptr;
    return product_->run(
        handle_->get(), recipe_.algorithm,
        {constants_.address(0), arguments.inputs[0], c, arguments.outputs[0], arguments.workspace},
        recipe_.workspace_bytes, cuda_stream(stream));
  }

  int64_t weight_bytes() const override { return constants_.bytes(); }
  int64_t workspace_bytes() const override { return static_cast<int64_t>(recipe_.workspace_bytes); }

  Result<std::shared_ptr<const PreparedTactic>> copy() const override {
    TRY(DeviceConstants constants, constants_.copy(handle_->device()));
    return make(handle_, recipe_, std::move(constants));
  }

 private:
  PreparedLt(std::shared_ptr<LtHandle> handle, const LtRecipe& recipe, DeviceConstants constants)
      : handle_(std::move(handle)), recipe_(recipe), constants_(std::move(constants)) {}
  const std::shared_ptr<LtHandle> handle_;
  const LtRecipe recipe_;
  const DeviceConstants constants_;
  std::unique_ptr<LtProduct> product_;
};

class CublasLtSource final : public TacticSource {
 public:
  CublasLtSource(CudaDevice& device, std::shared_ptr<LtHandle> handle)
      : device_(device), handle_(std::move(handle)) {}
  SourceTraits traits() const override { return {.name = "cublaslt", .trust = Trust::may_fault}; }

  Result<std::vector<Tactic>> offer(const Problem& problem,
                                    const std::set<Precision>& allowed) const override {
    TRY(ConvShape shape, conv_shape(problem));
    CHECK_OK(why_not(shape));
    std::vector<Tactic> tactics;
    std::string reason = "no precision that cuBLASLt has";
    for (Precision precision : {Precision::fp16, Precision::tf32, Precision::fp32}) {
      if (!allowed.contains(precision)) continue;
      if (precision == Precision::tf32 && device_.info().tf32_flops == 0) continue;
      auto status = offer_once(problem, shape, precision, tactics);
      if (!status.ok()) reason = status.error().message;
    }
    if (tactics.empty()) return no_kernel("cublaslt: " + reason);
    return tactics;
  }

  Result<std::shared_ptr<const PreparedTactic>> prepare(const Problem& problem,
                                                        const Tactic& tactic,
                                                        Weights weights) const override {
    TRY(ConvShape shape, conv_shape(problem));
    DataType type = tactic.inputs[0].type;
    TRY(LoweredEpilogue lowered, lower_conv_epilogue(problem, shape, type));
    TRY(LtEpilogue epilogue, lt_epilogue(lowered));
    CHECK_OK(device_.make_current());
    TRY(auto product, LtProduct::create(handle_->lt(), shape, tactic.compute, epilogue));
    TRY(auto proposals, propose(*product, epilogue));
    const std::string wanted = tactic.id.substr(tactic.id.find('/') + 1);
    auto found = std::find_if(proposals.begin(), proposals.end(),
                              [&](const Proposal& p) { return p.name == wanted; });
    if (found == proposals.end()) {
      return Error{ErrorCode::incompatible,
                   "cublaslt: its heuristic no longer proposes '" + tactic.id + "'"};
    }
    std::vector<PackConstant> constants{[&](Weights w) { return pack_weights(shape, type, w); }};
    if (epilogue.bias_slot >= 0) {
      const EpilogueSource& bias = lowered.sources[static_cast<size_t>(epilogue.bias_slot)];
      constants.emplace_back([&](Weights w) { return pack_bias(bias, shape.k_pitch(), type, w); });
    }
    const int residual =
        epilogue.add_slot >= 0 ? lowered.sources[static_cast<size_t>(epilogue.add_slot)].input : -1;
    TRY(DeviceConstants packed, DeviceConstants::pack(device_, constants, weights));
    auto prepared = PreparedLt::make(
        handle_,
        {shape, tactic.compute, epilogue, found->algorithm, found->workspace_bytes, residual},
        std::move(packed));
    if (!prepared.ok()) return prepared.error().within("cublaslt " + tactic.id);
    return prepared;
  }

 private:
  static Status why_not(const ConvShape& shape) {
    if (!shape.pointwise() || shape.groups != 1) return no_kernel("cublaslt: no matrix product");
    return {};
  }

  // An algorithm that the heuristic gave, and what it is called for good.
  struct Proposal {
    std::string name;
    cublasLtMatmulAlgo_t algorithm;
    size_t workspace_bytes = 0;
  };

  // Likely best first, each name once.
  Result<std::vector<Proposal>> propose(LtProduct& product, const LtEpilogue& epilogue) const {
    // The heuristic looks at the bias's alignment; the bias itself comes when the tactic is
    // prepared.
    if (epilogue.bias_slot >= 0)
      CHECK_OK(product.set_bias(reinterpret_cast<const void*>(uintptr_t{256})));
    TRY(auto results, product.propose(handle_->get(), workspace_limit(device_.info())));
    std::vector<Proposal> out;
    for (const auto& result : results) {
      TRY(std::string name, algorithm_name(handle_->lt(), result.algo));
      bool known =
          std::any_of(out.begin(), out.end(), [&](const Proposal& p) { return p.name == name; });
      if (!known) out.push_back({std::move(name), result.algo, result.workspaceSize});
    }
    return out;
  }

  Status offer_once(const Problem& problem, const ConvShape& shape, Precision precision,
                    std::vector<Tactic>& out) const {
    DataType type = precision == Precision::fp16 ? DataType::float16 : DataType::float32;
    if (shape.c_pitch() * element_bytes(type) % 16 || shape.k_pitch() * element_bytes(type) % 16)
      return no_kernel("rows that are not aligned to 16 bytes");
    TRY(LoweredEpilogue lowered, lower_conv_epilogue(problem, shape, type));
    TRY(LtEpilogue epilogue, lt_epilogue(lowered));
    CHECK_OK(device_.make_current());
    TRY(auto product, LtProduct::create(handle_->lt(), shape, precision, epilogue));
    TRY(auto proposals, propose(*product, epilogue));
    double rank = 0;
    for (const Proposal& proposal : proposals) {
      Tactic tactic = make_conv_tactic(problem, shape, lowered,
                                       std::string(to_string(precision)) + "/" + proposal.name);
      tactic.source = "cublaslt";
      tactic.compute = precision;
      tactic.workspace_bytes = static_cast<int64_t>(proposal.workspace_bytes);
      const DeviceInfo& info = device_.info();
      double peak = precision == Precision::fp16   ? info.float16_flops
                    : precision == Precision::tf32 ? info.tf32_flops
                                                   : info.float32_flops;
      tactic.estimated_us = 3 + 0.05 * rank++ +
                            std::max(1e6 * shape.flops() / (0.5 * peak),
                                     1e6 * conv_bytes(shape, type) / (0.8 * info.bytes_per_second));
      out.push_back(std::move(tactic));
    }
    return proposals.empty() ? Status(no_kernel("the heuristic proposes nothing")) : Status();
  }

  CudaDevice& device_;
  const std::shared_ptr<LtHandle> handle_;
};

}  // namespace

Result<std::unique_ptr<TacticSource>> make_cublaslt_source(CudaDevice& device) {
  TRY(const CublasLt* lt, device.cublaslt());
  TRY(auto handle, LtHandle::create(device, *lt));
  return std::unique_ptr<TacticSource>(std::make_unique<CublasLtSource>(device, std::move(handle)));
}

}  // namespace enginery
