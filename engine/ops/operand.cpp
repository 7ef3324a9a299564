#include "engine/ops/operand.h"

#include <algorithm>

namespace enginery {
namespace {

// Most dimensions of any value; exporters write 6 at most.
constexpr int64_t kMaxRank = 64;

// A run-time size meets a known one: broadcasting decides at run time, unless the known one forces
// the result.
Result<int64_t> broadcast_size(int64_t a, int64_t b) {
  if (a == b || b == 1) return a;
  if (a == 1) return b;
  if (a < 0 && b < 0) return kDynamic;
  if (a < 0) return b;
  if (b < 0) return a;
  return Error{ErrorCode::invalid_argument, std::to_string(a) + " against " + std::to_string(b)};
}

}  // namespace

Status require_representable_rank(int64_t rank) {
  if (rank <= kMaxRank) return {};
  return Error{ErrorCode::invalid_argument, "a tensor of " + std::to_string(rank) +
                                                " dimensions; at most " + std::to_string(kMaxRank) +
                                                " are supported"};
}

Status require_representable(const TensorType& type) {
  CHECK_OK(require_representable_rank(static_cast<int64_t>(type.dims.size())));
  Dims known;
  std::copy_if(type.dims.begin(), type.dims.end(), std::back_inserter(known),
               [](int64_t d) { return d >= 0; });
  const auto n = checked_volume(known, element_bytes(type.type));
  if (!n.ok()) return n.error();
  return {};
}

Status require_inputs(std::string_view op, Operands in, size_t least, size_t most) {
  if (in.size() < least || in.size() > most) {
    std::string expected =
        std::to_string(least) + (most == least ? "" : " to " + std::to_string(most));
    return Error{ErrorCode::invalid_argument, std::string(op) + ": expected " + expected +
                                                  " inputs, got " + std::to_string(in.size())};
  }
  for (size_t i = 0; i < in.size(); ++i) {
    const std::string where = std::string(op) + ": input " + std::to_string(i);
    if (!in[i].present) {
      if (i < least) return Error{ErrorCode::invalid_argument, where + " is required but absent"};
      continue;
    }
    if (Status s = require_representable(in[i].type); !s.ok()) return s.error().within(where);
  }
  return {};
}

Result<Dims> broadcast(const Dims& a, const Dims& b) {
  Dims out(std::max(a.size(), b.size()), 1);
  for (size_t i = 0; i < out.size(); ++i) {
    const int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1;
    const int64_t y = i < b.size() ? b[b.size() - 1 - i] : 1;
    const auto size = broadcast_size(x, y);
    if (!size.ok()) {
      return size.error().within("shapes " + to_string(a) + " and " + to_string(b) +
                                 " do not broadcast");
    }
    out[out.size() - 1 - i] = *size;
  }
  return out;
}

Dims aligned(Dims dims, size_t rank) {
  if (dims.size() < rank) dims.insert(dims.begin(), rank - dims.size(), 1);
  return dims;
}

Result<int64_t> normalize_axis(std::string_view op, int64_t axis, int64_t rank) {
  if (axis < -rank || axis >= rank) {
    return Error{ErrorCode::invalid_argument, std::string(op) + ": axis " + std::to_string(axis) +
                                                  " is outside [" + std::to_string(-rank) + ", " +
                                                  std::to_string(rank) + ")"};
  }
  return axis < 0 ? axis + rank : axis;
}

}  // namespace enginery
