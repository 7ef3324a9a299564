#include "engine/ops/window.h"

#include "engine/ops/support.h"

namespace enginery {
namespace {

constexpr int64_t kMost = (int64_t{1} << 31) - 1;

Status require_list(std::string_view op, std::string_view name, const std::vector<int64_t>& list,
                    size_t size, int64_t least) {
  if (list.size() != size) {
    return rule_error(op, "expected " + std::to_string(size) + " " + std::string(name) + ", got " +
                              std::to_string(list.size()));
  }
  for (const int64_t v : list) {
    if (v < least || v > kMost) {
      return rule_error(op, "expected " + std::string(name) + " between " + std::to_string(least) +
                                " and " + std::to_string(kMost) + ", got " + std::to_string(v));
    }
  }
  return {};
}

}  // namespace

Result<std::vector<Window>> make_windows(std::string_view op, size_t spatial,
                                         const WindowLists& lists) {
  CHECK_OK(require_list(op, "strides", lists.strides, spatial, 1));
  CHECK_OK(require_list(op, "dilations", lists.dilations, spatial, 1));
  CHECK_OK(require_list(op, "pads_begin", lists.pads_begin, spatial, 0));
  CHECK_OK(require_list(op, "pads_end", lists.pads_end, spatial, 0));
  if (lists.kernel.size() != spatial) {
    return rule_error(op, "expected " + std::to_string(spatial) + " kernel sizes, got " +
                              std::to_string(lists.kernel.size()));
  }
  std::vector<Window> windows(spatial);
  for (size_t i = 0; i < spatial; ++i) {
    const int64_t k = lists.kernel[i];
    if (k == 0 || k > kMost)
      return rule_error(op, "expected kernel sizes of at least 1, got " + std::to_string(k));
    windows[i] = {k, lists.strides[i], lists.dilations[i], lists.pads_begin[i], lists.pads_end[i]};
  }
  return windows;
}

Result<int64_t> windows_that_fit(std::string_view op, int64_t in, const Window& w,
                                 WindowRounding rounding) {
  if (w.kernel < 0) return kDynamic;
  const int64_t pads = w.pad_begin + w.pad_end, extent = w.extent();
  if (in < 0) return w.stride == 1 && pads == extent - 1 ? in : kDynamic;
  const int64_t room = in + pads - extent;
  if (room < 0) {
    return rule_error(op, "a window of " + std::to_string(extent) + " does not fit into " +
                              std::to_string(in) + " elements and " + std::to_string(pads) +
                              " of padding");
  }
  if (rounding == WindowRounding::floor) return room / w.stride + 1;
  int64_t n = (room + w.stride - 1) / w.stride + 1;
  if ((n - 1) * w.stride >= in + w.pad_begin) --n;
  return n;
}

Spatial spatial_of(std::span<const int64_t> values, int64_t missing) {
  ENSURE(values.size() <= 3, "at most three spatial dimensions");
  Spatial s{missing, missing, missing};
  for (size_t i = 0; i < values.size(); ++i) s[3 - values.size() + i] = values[i];
  return s;
}

}  // namespace enginery
