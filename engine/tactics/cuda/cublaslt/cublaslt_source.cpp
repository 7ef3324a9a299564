#include "engine/tactics/cuda/cublaslt/cublaslt_source.h"

#include <algorithm>

#include "engine/device/cuda/cuda_stream.h"
#include "engine/tactics/cuda/cublaslt/lt_matmul.h"
#include "engine/tactics/cuda/launch/device_constants.h"
#include "engine/tactics/cuda/launch/gpu_tactic.h"
#include "engine/tactics/cuda/launch/library_handle.h"

namespace enginery {
namespace {

// What the library is told that it may use; PyTorch's figures for Hopper and for older cards.
uint64_t workspace_limit(const DeviceInfo& info) {
  return uint64_t{info.compute_capability >= 90 ? 32u : 4u} << 20;
}

// Any number of threads may use one.
using LtHandle = LibraryHandle<CublasLt, cublasLtHandle_t>;

Result<std::shared_ptr<LtHandle>> create_lt_handle(CudaDevice& device, const CublasLt& lt) {
  CHECK_OK(device.make_current());
  cublasLtHandle_t handle = nullptr;
  CUBLASLT_OK(lt, cublasLtCreate(&handle));
  return std::make_shared<LtHandle>(
      device, lt, handle,
      [](const CublasLt& library, cublasLtHandle_t h) { library.cublasLtDestroy(h); });
}

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

// What runs: an algorithm of one matrix product.
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
    TRY(auto matmul,
        LtMatmul::create(handle->library(), recipe.shape, recipe.compute, recipe.epilogue));
    if (recipe.epilogue.bias_slot >= 0) CHECK_OK(matmul->set_bias(constants.address(1)));
    CHECK_OK(matmul->check(handle->get(), recipe.algorithm));
    return std::shared_ptr<const PreparedTactic>(std::make_shared<PreparedLt>(
        std::move(handle), recipe, std::move(constants), std::move(matmul)));
  }
  // For make(), which checks what it is given.
  PreparedLt(std::shared_ptr<LtHandle> handle, const LtRecipe& recipe, DeviceConstants constants,
             std::unique_ptr<LtMatmul> matmul)
      : handle_(std::move(handle)),
        recipe_(recipe),
        constants_(std::move(constants)),
        matmul_(std::move(matmul)) {}

  Status enqueue(Stream& stream, const Arguments& arguments) const override {
    CHECK_OK(handle_->device().make_current());
    const void* c =
        recipe_.residual >= 0 ? arguments.inputs[static_cast<size_t>(recipe_.residual)] : nullptr;
    return matmul_->run(
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
  const std::shared_ptr<LtHandle> handle_;
  const LtRecipe recipe_;
  const DeviceConstants constants_;
  const std::unique_ptr<LtMatmul> matmul_;
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
    for (Precision precision : library_precisions(device_.info(), allowed)) {
      auto status = offer_once(problem, shape, precision, tactics);
      if (!status.ok()) reason = status.error().message;
    }
    if (tactics.empty()) return refusal("cublaslt: " + reason);
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
    TRY(auto matmul, LtMatmul::create(handle_->library(), shape, tactic.compute, epilogue));
    TRY(auto proposals, propose(*matmul, epilogue));
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
    if (!shape.pointwise() || shape.groups != 1) return refusal("cublaslt: no matrix product");
    return {};
  }

  // An algorithm that the heuristic gave, and what it is called for good.
  struct Proposal {
    std::string name;
    cublasLtMatmulAlgo_t algorithm;
    size_t workspace_bytes = 0;
  };

  // Likely best first, each name once.
  Result<std::vector<Proposal>> propose(LtMatmul& matmul, const LtEpilogue& epilogue) const {
    // The heuristic looks at the bias's alignment; the bias itself comes when the tactic is
    // prepared.
    if (epilogue.bias_slot >= 0)
      CHECK_OK(matmul.set_bias(reinterpret_cast<const void*>(uintptr_t{256})));
    TRY(auto results, matmul.propose(handle_->get(), workspace_limit(device_.info())));
    std::vector<Proposal> out;
    for (const auto& result : results) {
      TRY(std::string name, algorithm_name(handle_->library(), result.algo));
      bool known =
          std::any_of(out.begin(), out.end(), [&](const Proposal& p) { return p.name == name; });
      if (!known) out.push_back({std::move(name), result.algo, result.workspaceSize});
    }
    return out;
  }

  Status offer_once(const Problem& problem, const ConvShape& shape, Precision precision,
                    std::vector<Tactic>& out) const {
    const DataType type = storage_of_precision(precision);
    if (shape.c_pitch() * element_bytes(type) % 16 || shape.k_pitch() * element_bytes(type) % 16)
      return refusal("rows that are not aligned to 16 bytes");
    TRY(LoweredEpilogue lowered, lower_conv_epilogue(problem, shape, type));
    TRY(LtEpilogue epilogue, lt_epilogue(lowered));
    CHECK_OK(device_.make_current());
    TRY(auto matmul, LtMatmul::create(handle_->library(), shape, precision, epilogue));
    TRY(auto proposals, propose(*matmul, epilogue));
    double rank = 0;
    for (const Proposal& proposal : proposals) {
      if (type != DataType::float32 && keeps_partial_sums_in_half(proposal.name)) continue;
      Tactic tactic = make_conv_tactic(problem, shape, lowered, "cublaslt",
                                       std::string(to_string(precision)) + "/" + proposal.name);
      tactic.compute = precision;
      tactic.workspace_bytes = static_cast<int64_t>(proposal.workspace_bytes);
      const DeviceInfo& info = device_.info();
      const double peak = peak_flops(info, precision);
      tactic.estimated_us = 3 + 0.05 * rank++ +
                            std::max(1e6 * shape.flops() / (0.5 * peak),
                                     1e6 * conv_bytes(shape, type) / (0.8 * info.bytes_per_second));
      out.push_back(std::move(tactic));
    }
    return rank == 0 ? Status(refusal("the heuristic proposes nothing that serves")) : Status();
  }

  // Split-K that adds its parts up in the output (INPLACE) or in the output's type (OUTPUT_TYPE)
  // breaks the promise of float32 sums. Not offered; engines that have one still open.
  static bool keeps_partial_sums_in_half(const std::string& name) {
    auto reduces = [&](int scheme) {
      return name.find("_r" + std::to_string(scheme) + "_") != std::string::npos;
    };
    return reduces(CUBLASLT_REDUCTION_SCHEME_INPLACE) ||
           reduces(CUBLASLT_REDUCTION_SCHEME_OUTPUT_TYPE);
  }

  CudaDevice& device_;
  const std::shared_ptr<LtHandle> handle_;
};

}  // namespace

Result<std::unique_ptr<TacticSource>> make_cublaslt_source(CudaDevice& device) {
  TRY(const CublasLt* lt, device.cublaslt());
  TRY(auto handle, create_lt_handle(device, *lt));
  return std::unique_ptr<TacticSource>(std::make_unique<CublasLtSource>(device, std::move(handle)));
}

}  // namespace enginery
