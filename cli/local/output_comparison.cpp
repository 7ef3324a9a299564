#include "cli/local/output_comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace enginery {
namespace {

// The entries of `tensor` whose index along each axis is below that of `dims`.
Tensor first_entries(const Tensor& tensor, const Dims& dims) {
  if (dims == tensor.dims()) return tensor;
  Tensor out(tensor.type(), dims);
  if (out.size() == 0) return out;
  const auto element = static_cast<size_t>(out.bytes() / out.size());
  const Dims from = strides_of(tensor.dims()), to = strides_of(dims);
  const size_t run = static_cast<size_t>(dims.back()) * element;
  const auto* source = static_cast<const std::byte*>(tensor.raw());
  auto* target = static_cast<std::byte*>(out.mutable_bytes());
  for (int64_t i = 0; i < out.size(); i += dims.back()) {
    int64_t offset = 0;
    for (size_t axis = 0; axis + 1 < dims.size(); ++axis)
      offset += i / to[axis] % dims[axis] * from[axis];
    std::memcpy(target + static_cast<size_t>(i) * element,
                source + static_cast<size_t>(offset) * element, run);
  }
  return out;
}

}  // namespace

bool OutputComparison::counts_agree() const {
  return std::ranges::all_of(counts, [](const OutputCount& count) { return count.a == count.b; });
}

std::string OutputComparison::counts_text() const {
  std::string text;
  for (const OutputCount& count : counts) {
    if (count.a == count.b) continue;
    const std::string what =
        count.axis == 0 ? "rows" : fmt::format("entries along axis {}", count.axis);
    const int64_t common = std::min(count.a, count.b);
    text += (text.empty() ? "" : "; ") +
            fmt::format("output '{}' has {} of at most {} {} in A against {} in B: {}", name,
                        count.a, count.most, what, count.b,
                        common == 0 ? "none is in both"
                                    : fmt::format("the first {} of both were compared", common));
  }
  return text;
}

Result<OutputComparison> compare_tensors(const std::string& name, const Tensor& a, const Tensor& b,
                                         const CountedSizes* counted) {
  OutputComparison out{name, a.tensor_type(), {}, {}};
  Dims common = a.dims();
  if (counted && a.dims().size() == b.dims().size() && counted->largest.size() == a.dims().size()) {
    for (const int64_t axis : counted->axes) {
      const auto at = static_cast<size_t>(axis);
      out.counts.push_back({axis, a.dims()[at], b.dims()[at], counted->largest[at]});
      common[at] = std::min(a.dims()[at], b.dims()[at]);
    }
  }
  Dims of_b = b.dims();
  for (const OutputCount& count : out.counts)
    of_b[static_cast<size_t>(count.axis)] = common[static_cast<size_t>(count.axis)];
  if (of_b != common)
    return Error{ErrorCode::invalid_argument, "output '" + name + "' is " +
                                                  to_string(a.tensor_type()) + " in A and " +
                                                  to_string(b.tensor_type()) + " in B"};
  out.errors = errors_of(first_entries(a, common), first_entries(b, common));
  return out;
}

}  // namespace enginery
