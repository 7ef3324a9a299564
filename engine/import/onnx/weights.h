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
  explicit WeightReader(std::optional<std::filesystem::path> folder,
                        std::string_view contained = {},
                        std::shared_ptr<const void> owner = nullptr)
      : files_(std::move(folder), contained, std::move(owner)) {}

  // Type, dims and stored length without touching the elements.
  // Errors: invalid_argument (they contradict each other), unsupported (the type).
  Status check(const onnx::TensorProto& proto);
  // The elements: a copy, or those of the container where they lie. Errors: those of check, storage
  // (an external file); unsupported (all tensors together take more than what holds them, as where
  // many name the same bytes of a file).
  Result<Tensor> read(const onnx::TensorProto& proto);
  // Dense; at most 64 MiB, because a few bytes may name a huge tensor.
  Result<Tensor> read(const onnx::SparseTensorProto& proto);

  // Where a tensor's elements lie outside of the model.
  struct Range {
    std::string location;
    uint64_t offset = 0, bytes = 0;
    auto operator<=>(const Range&) const = default;
  };
  // None: they are inside. Errors: those of check.
  Result<std::optional<Range>> outside(const onnx::TensorProto& proto);
  // Whether so many bytes are plausible beside what holds them. Errors: unsupported.
  Status check_total(uint64_t bytes) const;
  // Reads them as they are stored.
  Status read(const Range& range, char* target) {
    return files_.read(range.location, range.offset, range.bytes, target);
  }

 private:
  Status charge(int64_t bytes);
  Result<Tensor> read_outside(const Range& range, const TensorType& type);

  ExternalFiles files_;
  uint64_t bytes_read_ = 0;  // of all tensors together
};

// The elements as TensorProto::raw_data holds them.
Bytes raw_data_of(const Tensor& tensor);

}  // namespace enginery
