// Host-side conversion between a tensor's logical order (row-major) and its storage in a Format.
// The slow, plain way: for staging, checking and the reference, never for speed. Thread-safe.
#pragma once

#include "engine/device/format.h"
#include "engine/tensor/tensor.h"

namespace enginery {

// Where the element with row-major number `index` lies, in elements from the start of the storage.
class Placement {
 public:
  Placement(const Dims& dims, const Layout& layout);
  int64_t offset(int64_t index) const;

 private:
  struct Step {
    int64_t size, stride, block_stride;  // channels: stride of a block, stride within it
    int64_t block;
  };
  std::vector<Step> steps_;  // innermost dimension first
};

// Writes `tensor` to `storage` (physical_bytes large) as `format`, converting the element type;
// padding becomes zero.
// What lies between the pixels of one with a pitch is left as it is.
void to_physical(const Tensor& tensor, const Format& format, void* storage);
// Reads a tensor of `dims` back, in the format's element type.
Tensor from_physical(const void* storage, const Dims& dims, const Format& format);

}  // namespace enginery
