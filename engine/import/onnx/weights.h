// Tensors of an ONNX file (TensorProto, SparseTensorProto) as ours: every way that the format may
// store elements.
#pragma once

#include "engine/import/onnx/external_data.h"
#include "engine/tensor/tensor.h"

namespace onnx {
class TensorProto;
class SparseTensorProto;
}  // namespace onnx

namespace enginery {

// Reads tensors of one model. Not thread-safe.
class WeightReader {
 public:
  explicit WeightReader(std::optional<std::filesystem::path> folder) : files_(std::move(folder)) {}

  // Type, dims and stored length without touching the elements.
  // Errors: invalid_argument (they contradict each other), unsupported (the type; more than 2 GiB
  // in all).
  Status check(const onnx::TensorProto& proto);
  // A copy of the elements. Errors: those of check, storage (an external file).
  Result<Tensor> read(const onnx::TensorProto& proto);
  // Dense; at most 64 MiB, because a few bytes may name a huge tensor.
  Result<Tensor> read(const onnx::SparseTensorProto& proto);

 private:
  Status charge(int64_t bytes);

  ExternalFiles files_;
  int64_t bytes_left_ = int64_t{1} << 31;  // all tensors together
};

// The elements as TensorProto::raw_data holds them.
Bytes raw_data_of(const Tensor& tensor);

}  // namespace enginery
