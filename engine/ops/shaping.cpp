#include "engine/ops/shaping.h"

#include <algorithm>

#include "engine/ops/support.h"

namespace enginery {
namespace {

InferredTypes same_type(Operands in, Dims dims) {
  return std::vector<TensorType>{{in[0].type.type, std::move(dims)}};
}

// All of these keep the elements in order.
Status copy_elements(ReferenceInputs in, ReferenceOutputs out) {
  if (out[0].bytes() > 0)
    std::memcpy(out[0].mutable_bytes(), in[0]->raw(), static_cast<size_t>(out[0].bytes()));
  return {};
}

// -1 in `shape` takes what the rest leaves of x. A 0 copies its size, known or not, and so cancels
// on both sides.
Result<Dims> resolve_reshape(const Dims& x, const std::vector<int64_t>& shape, bool allow_zero) {
  const std::string_view name = Reshape::kName;
  Dims out;
  Dims left = x;  // what the target has not copied
  int64_t wanted = 1;
  bool copied_zero = false;  // both sides are empty, whatever else they hold
  std::optional<size_t> rest;
  for (size_t i = 0; i < shape.size(); ++i) {
    int64_t s = shape[i];
    if (s == -1) {
      if (rest) return rule_error(name, "expected at most one -1 in the shape " + ints_text(shape));
      rest = i;
    } else if (s == 0 && !allow_zero) {
      if (i >= x.size())
        return rule_error(name, "0 copies dimension " + std::to_string(i) + " of " + to_string(x));
      s = x[i];
      left[i] = 1;
      copied_zero |= s == 0;
    } else if (s < 0 || s > (int64_t{1} << 40) || __builtin_mul_overflow(wanted, s, &wanted)) {
      return rule_error(
          name, "expected sizes of at least -1 and at most 2^40 elements, got " + ints_text(shape));
    }
    out.push_back(s);
  }
  const int64_t have = product_of(left);
  const auto mismatch = [&] {
    return rule_error(name, to_string(x) + " does not reshape to " + ints_text(shape));
  };
  if (!rest) {
    if (have >= 0 && have != wanted && !copied_zero) return mismatch();
    return out;
  }
  if (wanted == 0) return mismatch();
  if (have < 0) {
    out[*rest] = wanted == 1 ? have : kDynamic;
  } else {
    if (have % wanted != 0) return mismatch();
    out[*rest] = have / wanted;
  }
  return out;
}

Result<std::vector<size_t>> checked_permutation(const Transpose& op, size_t rank) {
  std::vector<size_t> order(rank);
  for (size_t i = 0; i < rank; ++i) order[i] = rank - 1 - i;
  if (op.permutation.empty()) return order;
  std::vector<bool> seen(rank, false);
  bool valid = op.permutation.size() == rank;
  for (size_t i = 0; valid && i < rank; ++i) {
    const int64_t p = op.permutation[i];
    valid = p >= 0 && p < static_cast<int64_t>(rank) && !seen[static_cast<size_t>(p)];
    if (valid) seen[order[i] = static_cast<size_t>(p)] = true;
  }
  if (valid) return order;
  return rule_error(Transpose::kName, "expected a permutation of " + std::to_string(rank) +
                                          " dimensions, got " + ints_text(op.permutation));
}

// Which of `rank` dimensions the axes name; no axis twice.
Result<std::vector<bool>> named_axes(std::string_view op, const std::vector<int64_t>& axes,
                                     int64_t rank) {
  std::vector<bool> named(static_cast<size_t>(rank), false);
  for (const int64_t a : axes) {
    TRY(const int64_t axis, normalize_axis(op, a, rank));
    if (named[static_cast<size_t>(axis)])
      return rule_error(op, "axis " + std::to_string(a) + " is named twice");
    named[static_cast<size_t>(axis)] = true;
  }
  return named;
}

Error needs_constant(std::string_view op, std::string_view what) {
  return {ErrorCode::unsupported,
          std::string(op) + ": " + std::string(what) + " must be known at build time"};
}

}  // namespace

InferredTypes infer(const Reshape& op, Operands in) {
  CHECK_OK(require_inputs(Reshape::kName, in, 2, 2));
  CHECK_OK(require_int_vector(Reshape::kName, in, 1, "the shape"));
  if (auto shape = constant_ints(in, 1)) {
    TRY(Dims dims, resolve_reshape(in[0].type.dims, *shape, op.allow_zero));
    return same_type(in, std::move(dims));
  }
  TRY(const int64_t rank, rank_of_shape(Reshape::kName, in, 1));
  return same_type(in, unknown_dims(rank));
}

Status reference(const Reshape&, ReferenceInputs in, ReferenceOutputs out) {
  return copy_elements(in, out);
}

InferredTypes infer(const Transpose& op, Operands in) {
  CHECK_OK(require_inputs(Transpose::kName, in, 1, 1));
  const Dims& x = in[0].type.dims;
  TRY(const auto order, checked_permutation(op, x.size()));
  Dims y;
  for (const size_t i : order) y.push_back(x[i]);
  return same_type(in, std::move(y));
}

Status reference(const Transpose& op, ReferenceInputs in, ReferenceOutputs out) {
  TRY(const auto order, checked_permutation(op, in[0]->dims().size()));
  Dims from = strides_of(in[0]->dims()), strides;
  for (const size_t i : order) strides.push_back(from[i]);
  copy_strided(*in[0], 0, strides, out[0]);
  return {};
}

InferredTypes infer(const Flatten& op, Operands in) {
  CHECK_OK(require_inputs(Flatten::kName, in, 1, 1));
  std::span<const int64_t> x = in[0].type.dims;
  const int64_t rank = static_cast<int64_t>(x.size());
  if (op.axis < -rank || op.axis > rank) {
    return rule_error(Flatten::kName, "axis " + std::to_string(op.axis) + " is outside [" +
                                          std::to_string(-rank) + ", " + std::to_string(rank) +
                                          "]");
  }
  const size_t axis = static_cast<size_t>(op.axis < 0 ? op.axis + rank : op.axis);
  return same_type(in, {product_of(x.first(axis)), product_of(x.subspan(axis))});
}

Status reference(const Flatten&, ReferenceInputs in, ReferenceOutputs out) {
  return copy_elements(in, out);
}

InferredTypes infer(const Squeeze&, Operands in) {
  const std::string_view name = Squeeze::kName;
  CHECK_OK(require_inputs(name, in, 1, 2));
  CHECK_OK(require_int_vector(name, in, 1, "the axes"));
  const Dims& x = in[0].type.dims;
  std::vector<bool> gone(x.size(), false);
  if (!has(in, 1)) {
    if (!is_static(x)) return needs_constant(name, "which sizes of " + to_string(x) + " are 1");
    for (size_t i = 0; i < x.size(); ++i) gone[i] = x[i] == 1;
  } else {
    const auto axes = constant_ints(in, 1);
    if (!axes) return needs_constant(name, "the axes");
    TRY(gone, named_axes(name, *axes, static_cast<int64_t>(x.size())));
  }
  Dims y;
  for (size_t i = 0; i < x.size(); ++i) {
    if (!gone[i])
      y.push_back(x[i]);
    else if (!merge_sizes(x[i], 1)) {
      return rule_error(name,
                        "dimension " + std::to_string(i) + " of " + to_string(x) + " is not 1");
    }
  }
  return same_type(in, std::move(y));
}

Status reference(const Squeeze&, ReferenceInputs in, ReferenceOutputs out) {
  return copy_elements(in, out);
}

InferredTypes infer(const Unsqueeze&, Operands in) {
  const std::string_view name = Unsqueeze::kName;
  CHECK_OK(require_inputs(name, in, 2, 2));
  CHECK_OK(require_int_vector(name, in, 1, "the axes"));
  const auto axes = constant_ints(in, 1);
  if (!axes) return needs_constant(name, "the axes");
  const Dims& x = in[0].type.dims;
  TRY(const auto added, named_axes(name, *axes, static_cast<int64_t>(x.size() + axes->size())));
  Dims y;
  size_t next = 0;
  for (const bool is_new : added) y.push_back(is_new ? 1 : x[next++]);
  return same_type(in, std::move(y));
}

Status reference(const Unsqueeze&, ReferenceInputs in, ReferenceOutputs out) {
  return copy_elements(in, out);
}

namespace {

struct DimRange {
  int64_t first, last;
};
DimRange shape_range(const Shape& op, int64_t rank) {
  const auto clamp = [&](int64_t v) { return std::clamp<int64_t>(v < 0 ? v + rank : v, 0, rank); };
  const int64_t first = clamp(op.start);
  return {first, std::max(first, clamp(op.end))};
}

}  // namespace

InferredTypes infer(const Shape& op, Operands in) {
  CHECK_OK(require_inputs(Shape::kName, in, 1, 1));
  DimRange range = shape_range(op, static_cast<int64_t>(in[0].type.dims.size()));
  return std::vector<TensorType>{{DataType::int64, {range.last - range.first}}};
}

Status reference(const Shape& op, ReferenceInputs in, ReferenceOutputs out) {
  DimRange range = shape_range(op, in[0]->rank());
  std::copy(in[0]->dims().begin() + range.first, in[0]->dims().begin() + range.last,
            elements<int64_t>(out[0]));
  return {};
}

InferredTypes infer(const Expand&, Operands in) {
  const std::string_view name = Expand::kName;
  CHECK_OK(require_inputs(name, in, 2, 2));
  CHECK_OK(require_int_vector(name, in, 1, "the shape"));
  const auto shape = constant_ints(in, 1);
  if (!shape) {
    TRY(const int64_t rank, rank_of_shape(name, in, 1));
    return same_type(
        in, unknown_dims(std::max<int64_t>(rank, static_cast<int64_t>(in[0].type.dims.size()))));
  }
  if (!is_static(*shape))
    return rule_error(name, "expected sizes of at least 0, got " + ints_text(*shape));
  auto dims = broadcast(in[0].type.dims, *shape);
  if (!dims.ok()) return dims.error().within(std::string(name));
  return same_type(in, std::move(*dims));
}

Status reference(const Expand&, ReferenceInputs in, ReferenceOutputs out) {
  copy_strided(*in[0], 0, broadcast_strides(in[0]->dims(), out[0].dims()), out[0]);
  return {};
}

InferredTypes infer(const Identity&, Operands in) {
  CHECK_OK(require_inputs(Identity::kName, in, 1, 1));
  return same_type(in, in[0].type.dims);
}

Status reference(const Identity&, ReferenceInputs in, ReferenceOutputs out) {
  return copy_elements(in, out);
}

}  // namespace enginery
