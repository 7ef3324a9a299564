#include "engine/ops/support.h"

#include <algorithm>

#include "engine/base/parallel.h"

namespace enginery {

Error rule_error(std::string_view op, const std::string& message) {
  return {ErrorCode::invalid_argument, std::string(op) + ": " + message};
}

Status require_floating(std::string_view op, Operands in) {
  const Operand* first = nullptr;
  for (size_t i = 0; i < in.size(); ++i) {
    if (!in[i].present) continue;
    if (!first) first = &in[i];
    if (!is_floating(in[i].type.type) || in[i].type.type != first->type.type) {
      return rule_error(op, "expected inputs of one floating type, input " + std::to_string(i) +
                                " is " + to_string(in[i].type));
    }
  }
  return {};
}

Status require_same_type(std::string_view op, Operands in, std::initializer_list<size_t> inputs) {
  const Operand* first = nullptr;
  for (const size_t i : inputs) {
    if (!has(in, i)) continue;
    if (!first) first = &in[i];
    if (in[i].type.type != first->type.type) {
      return rule_error(op, "expected inputs of one type, got " + to_string(first->type) + " and " +
                                to_string(in[i].type));
    }
  }
  return {};
}

Status require_int_vector(std::string_view op, Operands in, size_t i, std::string_view what) {
  if (!has(in, i)) return {};
  const TensorType& t = in[i].type;
  const bool is_int = t.type == DataType::int64 || t.type == DataType::int32;
  if (is_int && t.dims.size() <= 1) return {};
  return rule_error(op,
                    "expected " + std::string(what) + " as an int64 vector, got " + to_string(t));
}

Status require_vector(std::string_view op, Operands in, size_t i, int64_t size,
                      std::string_view what) {
  if (!has(in, i)) return {};
  const Dims& d = in[i].type.dims;
  if (d.size() == 1 && merge_sizes(d[0], size)) return {};
  return rule_error(
      op, "expected " + std::string(what) + " as a vector of " +
              (size < 0 ? std::string("as many elements as channels") : std::to_string(size)) +
              ", got " + to_string(in[i].type));
}

Status require_rank(std::string_view op, const Dims& dims, size_t least, size_t most) {
  if (dims.size() >= least && dims.size() <= most) return {};
  std::string expected = std::to_string(least);
  if (most == SIZE_MAX)
    expected += " or more";
  else if (most != least)
    expected += " to " + std::to_string(most);
  return rule_error(op, "expected " + expected + " dimensions, got " + std::to_string(dims.size()) +
                            " (" + to_string(dims) + ")");
}

Status refuse_double(std::string_view op, Operands in, size_t i, std::string_view what) {
  if (!has(in, i) || in[i].type.type != DataType::float64) return {};
  return Error{ErrorCode::unsupported, std::string(op) + ": " + std::string(what) +
                                           " of float64 would be rounded to float32; cast it to "
                                           "float32 in the model"};
}

Status require_index_type(std::string_view op, const TensorType& t) {
  if (t.type == DataType::int32 || t.type == DataType::int64) return {};
  return rule_error(op, "expected int32 or int64 indices, got " + to_string(t));
}

Result<int64_t> checked_index(std::string_view op, int64_t index, int64_t size) {
  if (index >= -size && index < size) return index < 0 ? index + size : index;
  return rule_error(op, "index " + std::to_string(index) + " is outside [" + std::to_string(-size) +
                            ", " + std::to_string(size) + ")");
}

std::optional<std::vector<int64_t>> constant_ints(Operands in, size_t i) {
  if (!has(in, i) || !in[i].constant) return std::nullopt;
  return to_int64s(*in[i].constant);
}

Result<int64_t> rank_of_shape(std::string_view op, Operands in, size_t i) {
  const Dims& d = in[i].type.dims;
  if (d.empty()) return int64_t{1};
  if (d[0] >= 0) {
    CHECK_OK(require_representable_rank(d[0]));
    return d[0];
  }
  return Error{ErrorCode::unsupported,
               std::string(op) + ": the output's rank depends on run-time data"};
}

std::optional<int64_t> merge_sizes(int64_t a, int64_t b) {
  if (a >= 0 && b >= 0) return a == b ? std::optional(a) : std::nullopt;
  if (a >= 0) return a;
  if (b >= 0) return b;
  return a == kDynamic ? b : a;  // both hold at run time: keep a name rather than none
}

int64_t product_of(std::span<const int64_t> sizes) {
  int64_t known = 1, symbol = 1;
  for (const int64_t s : sizes) {
    if (s == 0) return 0;
    if (s > 0)
      known *= s;
    else
      symbol = symbol == 1 ? s : kDynamic;
  }
  if (symbol == 1) return known;
  return known == 1 ? symbol : kDynamic;
}

Dims broadcast_strides(const Dims& from, const Dims& to) {
  const Dims own = strides_of(from);
  Dims strides(to.size(), 0);
  const size_t lead = to.size() - from.size();
  for (size_t i = 0; i < from.size(); ++i) strides[lead + i] = from[i] == 1 ? 0 : own[i];
  return strides;
}

void copy_strided(const Tensor& in, int64_t offset, const Dims& strides, Tensor& out) {
  if (out.size() == 0) return;
  Dims outer = out.dims(), outer_strides = strides;
  int64_t n = 1, step = 1;
  if (!outer.empty()) {
    n = outer.back();
    step = strides.back();
    outer.pop_back();
    outer_strides.pop_back();
  }
  with_element_bytes(in.type(), [&](auto type) {
    using T = decltype(type);
    const T* from = elements<T>(in) + offset;
    T* to = elements<T>(out);
    row_ranges(volume(outer), n, [&](int64_t begin, int64_t end) {
      for_each_mapped(outer, outer_strides, begin, end, [&](int64_t i, int64_t j) {
        for (int64_t k = 0; k < n; ++k) to[i * n + k] = from[j + k * step];
      });
    });
  });
}

Tensor broadcast_to(const Tensor& t, const Dims& dims) {
  if (t.dims() == dims) return t;
  Tensor out(t.type(), dims);
  copy_strided(t, 0, broadcast_strides(t.dims(), dims), out);
  return out;
}

void row_ranges(int64_t rows, int64_t size, const std::function<void(int64_t, int64_t)>& work) {
  constexpr int64_t kElementsWorthThread = 1 << 15;  // of simple arithmetic
  const int64_t piece = kElementsWorthThread / std::max<int64_t>(size, 1);
  parallel_ranges(rows, std::max<int64_t>(piece, 1), work);
}

void element_ranges(int64_t count, const std::function<void(int64_t, int64_t)>& work) {
  row_ranges(count, 1, work);
}

void each_row(int64_t rows, int64_t size, const std::function<void(int64_t)>& work) {
  row_ranges(rows, size, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) work(row);
  });
}

AxisView view_axis(const Dims& dims, int64_t axis) {
  AxisView v;
  for (int64_t i = 0; i < static_cast<int64_t>(dims.size()); ++i) {
    (i < axis ? v.outer : i == axis ? v.size : v.inner) *= dims[static_cast<size_t>(i)];
  }
  return v;
}

}  // namespace enginery
