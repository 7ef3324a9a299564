#include "engine/tactics/cublaslt/cublaslt_source.h"

#include <algorithm>

#include "engine/device/cuda/cuda_stream.h"
#include "engine/tactics/cublaslt/product.h"

namespace enginery {
namespace {

// What the library is told that it may use; PyTorch's figures for Hopper and for older cards.
uint64_t workspace_limit(const DeviceInfo& info) { return uint64_t{info.compute_capability >= 90 ? 32u : 4u} << 20; }

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
    for (int64_t c = 0; c < shape.c; ++c) out[static_cast<size_t>(k * shape.c_pitch() + c)] = kc[static_cast<size_t>(k * shape.c + c)];
  }
  return Bytes(as_text(convert(packed, type).byte_span()));
}

Bytes pack_bias(const EpilogueSource& source, int64_t padded, DataType type, Weights weights) {
  Tensor values = convert(*weights[static_cast<size_t>(source.input)], DataType::float32);
  Tensor packed(DataType::float32, {padded});
  auto out = packed.mutable_data<float>();
  std::fill(out.begin(), out.end(), 0.0f);
  for (int64_t i = 0; i < values.size(); ++i) out[static_cast<size_t>(i)] = source.scale * values.data<float>()[static_cast<size_t>(i)];
  return Bytes(as_text(convert(packed, type).byte_span()));
}

class PreparedLt final : public PreparedTactic {
 public:
  PreparedLt(std::shared_ptr<LtHandle> handle, std::unique_ptr<LtProduct> product, const cublasLtMatmulAlgo_t& algorithm,
             size_t workspace_bytes, int residual)
      : handle_(std::move(handle)), product_(std::move(product)), algorithm_(algorithm), workspace_bytes_(workspace_bytes), residual_(residual) {}

  Status upload(const Bytes& weights, const Bytes& bias) {
    auto bias_at = static_cast<size_t>(round_up(static_cast<int64_t>(weights.size()), 256));
    Bytes all = weights;
    all.resize(bias_at);
    all += bias;
    TRY(memory_, handle_->device().allocate(all.size()));
    TRY(auto stream, handle_->device().create_stream());
    CHECK_OK(handle_->device().copy(*stream, memory_.data(), all.data(), all.size(), CopyKind::to_device));
    CHECK_OK(stream->synchronize());
    if (!bias.empty()) CHECK_OK(product_->set_bias(static_cast<char*>(memory_.data()) + bias_at));
    return product_->check(handle_->get(), algorithm_);
  }

  Status enqueue(Stream& stream, const Arguments& arguments) const override {
    CHECK_OK(handle_->device().make_current());
    const void* c = residual_ >= 0 ? arguments.inputs[static_cast<size_t>(residual_)] : nullptr;
    return product_->run(handle_->get(), algorithm_, {memory_.data(), arguments.inputs[0], c, arguments.outputs[0], arguments.workspace},
                         workspace_bytes_, cuda_stream(stream));
  }

  int64_t weight_bytes() const override { return static_cast<int64_t>(memory_.bytes()); }
  int64_t workspace_bytes() const override { return static_cast<int64_t>(workspace_bytes_); }

 private:
  const std::shared_ptr<LtHandle> handle_;
  const std::unique_ptr<LtProduct> product_;
  const cublasLtMatmulAlgo_t algorithm_;
  const size_t workspace_bytes_;
  const int residual_;
  DeviceMemory memory_;
};

class CublasLtSource final : public TacticSource {
 public:
  CublasLtSource(CudaDevice& device, std::shared_ptr<LtHandle> handle) : device_(device), handle_(std::move(handle)) {}
  std::string_view name() const override { return "cublaslt"; }

  Result<std::vector<Tactic>> offer(const Problem& problem, const std::set<Precision>& allowed) const override {
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

  Result<std::shared_ptr<const PreparedTactic>> prepare(const Problem& problem, const Tactic& tactic,
                                                        Weights weights) const override {
    TRY(ConvShape shape, conv_shape(problem));
    DataType type = tactic.inputs[0].type;
    TRY(LoweredEpilogue lowered, lower_conv_epilogue(problem, shape, type));
    TRY(LtEpilogue epilogue, lt_epilogue(lowered));
    CHECK_OK(device_.make_current());
    TRY(auto product, LtProduct::create(handle_->lt(), shape, tactic.compute, epilogue));
    TRY(auto proposals, propose(*product, epilogue));
    const std::string wanted = tactic.id.substr(tactic.id.find('/') + 1);
    auto found = std::find_if(proposals.begin(), proposals.end(), [&](const Proposal& p) { return p.name == wanted; });
    if (found == proposals.end()) {
      return Error{ErrorCode::incompatible, "cublaslt: its heuristic no longer proposes '" + tactic.id + "'"};
    }
    Bytes bias;
    if (epilogue.bias_slot >= 0) bias = pack_bias(lowered.sources[static_cast<size_t>(epilogue.bias_slot)], shape.k_pitch(), type, weights);
    int residual = epilogue.add_slot >= 0 ? lowered.sources[static_cast<size_t>(epilogue.add_slot)].input : -1;
    auto prepared = std::make_shared<PreparedLt>(handle_, std::move(product), found->algorithm, found->workspace_bytes, residual);
    auto uploaded = prepared->upload(pack_weights(shape, type, weights), bias);
    if (!uploaded.ok()) return uploaded.error().within("cublaslt " + tactic.id);
    return std::shared_ptr<const PreparedTactic>(std::move(prepared));
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
    // The heuristic looks at the bias's alignment; the bias itself comes when the tactic is prepared.
    if (epilogue.bias_slot >= 0) CHECK_OK(product.set_bias(reinterpret_cast<const void*>(uintptr_t{256})));
    TRY(auto results, product.propose(handle_->get(), workspace_limit(device_.info())));
    std::vector<Proposal> out;
    for (const auto& result : results) {
      TRY(std::string name, algorithm_name(handle_->lt(), result.algo));
      bool known = std::any_of(out.begin(), out.end(), [&](const Proposal& p) { return p.name == name; });
      if (!known) out.push_back({std::move(name), result.algo, result.workspaceSize});
    }
    return out;
  }

  Status offer_once(const Problem& problem, const ConvShape& shape, Precision precision, std::vector<Tactic>& out) const {
    DataType type = precision == Precision::fp16 ? DataType::float16 : DataType::float32;
    if (shape.c_pitch() * element_bytes(type) % 16 || shape.k_pitch() * element_bytes(type) % 16) return no_kernel("rows that are not aligned to 16 bytes");
    TRY(LoweredEpilogue lowered, lower_conv_epilogue(problem, shape, type));
    TRY(LtEpilogue epilogue, lt_epilogue(lowered));
    CHECK_OK(device_.make_current());
    TRY(auto product, LtProduct::create(handle_->lt(), shape, precision, epilogue));
    TRY(auto proposals, propose(*product, epilogue));
    double rank = 0;
    for (const Proposal& proposal : proposals) {
      Tactic tactic = make_conv_tactic(problem, shape, lowered, std::string(to_string(precision)) + "/" + proposal.name);
      tactic.source = "cublaslt";
      tactic.compute = precision;
      tactic.workspace_bytes = static_cast<int64_t>(proposal.workspace_bytes);
      const DeviceInfo& info = device_.info();
      double peak = precision == Precision::fp16 ? info.float16_flops : precision == Precision::tf32 ? info.tf32_flops : info.float32_flops;
      tactic.estimated_us = 3 + 0.05 * rank++ + std::max(1e6 * shape.flops() / (0.5 * peak), 1e6 * conv_bytes(shape, type) / (0.8 * info.bytes_per_second));
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
