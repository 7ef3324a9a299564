#include "engine/runtime/output_sizes.h"

namespace enginery {

Result<OutputSizes> OutputSizes::make(RunTimeSizes sizes, size_t outputs, Device& device) {
  OutputSizes out;
  out.own_ = own_output_count(sizes, outputs);
  out.sizes_ = std::move(sizes);
  for (size_t i = out.own_; i < outputs; ++i) {
    TRY(out.counts_.emplace_back(), device.allocate(sizeof(int64_t)));
  }
  return out;
}

std::vector<TensorMemory> OutputSizes::with_counts(std::span<const TensorMemory> own) const {
  std::vector<TensorMemory> out(own.begin(), own.end());
  for (const DeviceMemory& count : counts_) out.push_back({count.data(), MemoryKind::device});
  return out;
}

Result<Dims> OutputSizes::dims_of(size_t output, const Dims& largest, Execution& execution) const {
  Dims dims = largest;
  for (const RunTimeSize& size : sizes_) {
    if (size.output != output) continue;
    const DeviceMemory& at = counts_[size.count - own_];
    TRY(const Tensor count, execution.read(at.data(), {}, Format{DataType::int64, {}}));
    int64_t& dim = dims[static_cast<size_t>(size.axis)];
    TRY(dim, counted_size(count, dim, std::to_string(output)));
  }
  return dims;
}

}  // namespace enginery
