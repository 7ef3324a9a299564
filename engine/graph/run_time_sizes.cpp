#include "engine/graph/run_time_sizes.h"

#include <algorithm>
#include <set>
#include <tuple>

namespace enginery {

size_t own_output_count(const RunTimeSizes& sizes, size_t outputs) {
  for (const RunTimeSize& size : sizes) outputs = std::min(outputs, size.count);
  return outputs;
}

bool are_counted(const RunTimeSizes& sizes, const std::vector<TensorType>& outputs) {
  const size_t own = own_output_count(sizes, outputs.size());
  const TensorType count{DataType::int64, {}};
  std::set<size_t> counts;
  for (size_t i = 0; i < sizes.size(); ++i) {
    const auto& [output, axis, at] = sizes[i];
    if (output >= own || at >= outputs.size() || !(outputs[at] == count)) return false;
    if (axis < 0 || axis >= std::ssize(outputs[output].dims)) return false;
    if (i > 0 && std::tie(sizes[i - 1].output, sizes[i - 1].axis) >= std::tie(output, axis))
      return false;
    counts.insert(at);
  }
  return own + counts.size() == outputs.size();
}

Result<int64_t> counted_size(const Tensor& count, int64_t largest, const std::string& output) {
  const int64_t size = to_int64s(count)[0];
  if (size >= 0 && size <= largest) return size;
  return Error{ErrorCode::internal, "output '" + output + "': its size was counted as " +
                                        std::to_string(size) + ", the most is " +
                                        std::to_string(largest)};
}

Tensor with_dims(const Tensor& output, Dims dims) {
  if (dims == output.dims()) return output;
  Tensor out(output.type(), std::move(dims));
  if (out.bytes() > 0)
    std::memcpy(out.mutable_bytes(), output.raw(), static_cast<size_t>(out.bytes()));
  return out;
}

}  // namespace enginery
