#include "engine/ops/slicing.h"

#include <algorithm>
#include <utility>

#include "engine/ops/support.h"

namespace enginery {
namespace {

void copy_bytes(const Tensor& from, int64_t from_at, Tensor& to, int64_t to_at, int64_t n) {
  if (n == 0) return;
  const int64_t bytes = element_bytes(from.type());
  std::memcpy(static_cast<std::byte*>(to.mutable_bytes()) + to_at * bytes,
              static_cast<const std::byte*>(from.raw()) + from_at * bytes,
              static_cast<size_t>(n * bytes));
}

// ONNX Slice-13: negative positions count from the end, then everything is clamped. Requires a
// known `dim`.
SliceDim slice_dim(int64_t dim, int64_t start, int64_t end, int64_t step) {
  if (dim == 0) return {0, step, 0};
  if (start < 0) start += dim;
  if (end < 0) end += dim;
  start = std::clamp<int64_t>(start, 0, step > 0 ? dim : dim - 1);
  end = std::clamp<int64_t>(end, step > 0 ? 0 : -1, step > 0 ? dim : dim - 1);
  __int128 distance =
      step > 0 ? static_cast<__int128>(end) - start : static_cast<__int128>(start) - end;
  const __int128 stride = step > 0 ? static_cast<__int128>(step) : -static_cast<__int128>(step);
  const int64_t size = distance <= 0 ? 0 : static_cast<int64_t>((distance + stride - 1) / stride);
  return {start, step, size};
}

struct SliceInputs {
  std::vector<int64_t> starts, ends, axes, steps;
};

Result<SliceInputs> complete(SliceInputs s, bool has_axes, bool has_steps, int64_t rank) {
  const std::string_view name = Slice::kName;
  const size_t n = s.starts.size();
  if (!has_axes) {
    for (size_t i = 0; i < n; ++i) s.axes.push_back(static_cast<int64_t>(i));
  }
  if (!has_steps) s.steps.assign(n, 1);
  if (s.ends.size() != n || s.axes.size() != n || s.steps.size() != n) {
    return rule_error(name, "expected starts, ends, axes and steps of one length, got " +
                                std::to_string(n) + ", " + std::to_string(s.ends.size()) + ", " +
                                std::to_string(s.axes.size()) + " and " +
                                std::to_string(s.steps.size()));
  }
  std::vector<bool> seen(static_cast<size_t>(rank), false);
  for (size_t i = 0; i < n; ++i) {
    TRY(s.axes[i], normalize_axis(name, s.axes[i], rank));
    if (seen[static_cast<size_t>(s.axes[i])]) return rule_error(name, "an axis is named twice");
    seen[static_cast<size_t>(s.axes[i])] = true;
    if (s.steps[i] == 0) return rule_error(name, "expected steps other than 0");
  }
  return s;
}

bool keeps_all(int64_t start, int64_t end, int64_t step) {
  return start == 0 && step == 1 && end >= (int64_t{1} << 31) - 1;  // exporters' "to the end" marks
}

Status require_indices(std::string_view op, const Operand& indices, int64_t size) {
  if (!indices.constant || size < 0) return {};
  for (const int64_t i : to_int64s(*indices.constant)) {
    const auto index = checked_index(op, i, size);
    if (!index.ok()) return index.error();
  }
  return {};
}

}  // namespace

InferredTypes infer(const Concat& op, Operands in) {
  const std::string_view name = Concat::kName;
  CHECK_OK(require_inputs(name, in, 1, SIZE_MAX));
  Dims y = in[0].type.dims;
  TRY(const int64_t axis, normalize_axis(name, op.axis, static_cast<int64_t>(y.size())));
  for (size_t i = 1; i < in.size(); ++i) {
    if (!in[i].present) return rule_error(name, "input " + std::to_string(i) + " is absent");
    CHECK_OK(require_same_type(name, in, {0, i}));
    const Dims& x = in[i].type.dims;
    const auto mismatch = [&] {
      return rule_error(name, "input " + std::to_string(i) + " of " + to_string(x) +
                                  " does not join " + to_string(in[0].type.dims) + " along axis " +
                                  std::to_string(axis));
    };
    if (x.size() != y.size()) return mismatch();
    for (size_t d = 0; d < y.size(); ++d) {
      if (d == static_cast<size_t>(axis)) {
        if (x[d] == 0) continue;
        const bool sum_known = (y[d] >= 0 && x[d] >= 0) || y[d] == 0;
        y[d] = sum_known ? y[d] + x[d] : kDynamic;
        continue;
      }
      const auto size = merge_sizes(y[d], x[d]);
      if (!size) return mismatch();
      y[d] = *size;
    }
    CHECK_OK(require_representable({in[0].type.type, y}));
  }
  return std::vector<TensorType>{{in[0].type.type, y}};
}

Status reference(const Concat& op, ReferenceInputs in, ReferenceOutputs out) {
  TRY(const int64_t axis, normalize_axis(Concat::kName, op.axis, out[0].rank()));
  const AxisView y = view_axis(out[0].dims(), axis);
  int64_t at = 0;
  for (const Tensor* t : in) {
    const AxisView x = view_axis(t->dims(), axis);
    const int64_t block = x.size * x.inner;
    for (int64_t o = 0; o < x.outer; ++o)
      copy_bytes(*t, o * block, out[0], o * y.size * y.inner + at, block);
    at += block;
  }
  return {};
}

InferredTypes infer(const Split& op, Operands in) {
  const std::string_view name = Split::kName;
  CHECK_OK(require_inputs(name, in, 1, 1));
  const TensorType& x = in[0].type;
  TRY(const int64_t axis, normalize_axis(name, op.axis, static_cast<int64_t>(x.dims.size())));
  if (op.sizes.empty()) return rule_error(name, "expected sizes, one for each output");
  int64_t sum = 0, size = x.dims[static_cast<size_t>(axis)];
  std::vector<TensorType> outputs;
  for (const int64_t s : op.sizes) {
    if (s < 0 || __builtin_add_overflow(sum, s, &sum)) {
      return rule_error(name, "expected sizes of at least 0, got " + ints_text(op.sizes));
    }
    outputs.push_back(x);
    outputs.back().dims[static_cast<size_t>(axis)] = s;
  }
  if (size >= 0 && sum != size) {
    return rule_error(name, "sizes " + ints_text(op.sizes) + " do not add up to the " +
                                std::to_string(size) + " elements along axis " +
                                std::to_string(axis));
  }
  return outputs;
}

Status reference(const Split& op, ReferenceInputs in, ReferenceOutputs out) {
  TRY(const int64_t axis, normalize_axis(Split::kName, op.axis, in[0]->rank()));
  const AxisView x = view_axis(in[0]->dims(), axis);
  int64_t at = 0;
  for (size_t i = 0; i < out.size(); ++i) {
    const int64_t block = op.sizes[i] * x.inner;
    for (int64_t o = 0; o < x.outer; ++o)
      copy_bytes(*in[0], o * x.size * x.inner + at, out[i], o * block, block);
    at += block;
  }
  return {};
}

InferredTypes infer(const Slice&, Operands in) {
  const std::string_view name = Slice::kName;
  CHECK_OK(require_inputs(name, in, 3, 5));
  constexpr std::string_view kRoles[] = {"x", "starts", "ends", "axes", "steps"};
  for (size_t i = 1; i < in.size(); ++i) CHECK_OK(require_int_vector(name, in, i, kRoles[i]));
  const Dims& x = in[0].type.dims;
  const int64_t rank = static_cast<int64_t>(x.size());
  const auto starts = constant_ints(in, 1), ends = constant_ints(in, 2),
             axes = constant_ints(in, 3), steps = constant_ints(in, 4);
  Dims y = x;
  const bool axes_known = !has(in, 3) || axes, steps_known = !has(in, 4) || steps;
  if (!starts || !ends || !axes_known || !steps_known) {
    if (!axes) return std::vector<TensorType>{{in[0].type.type, unknown_dims(rank)}};
    for (const int64_t a : *axes) {
      TRY(const int64_t axis, normalize_axis(name, a, rank));
      y[static_cast<size_t>(axis)] = kDynamic;
    }
    return std::vector<TensorType>{{in[0].type.type, y}};
  }
  TRY(SliceInputs s, complete({*starts, *ends, axes.value_or(Dims{}), steps.value_or(Dims{})},
                              has(in, 3), has(in, 4), rank));
  for (size_t i = 0; i < s.axes.size(); ++i) {
    int64_t& size = y[static_cast<size_t>(s.axes[i])];
    if (size >= 0)
      size = slice_dim(size, s.starts[i], s.ends[i], s.steps[i]).size;
    else if (!keeps_all(s.starts[i], s.ends[i], s.steps[i]))
      size = kDynamic;
  }
  return std::vector<TensorType>{{in[0].type.type, y}};
}

Status reference(const Slice&, ReferenceInputs in, ReferenceOutputs out) {
  const Dims axes = given(in, 3) ? to_int64s(*in[3]) : Dims{},
             steps = given(in, 4) ? to_int64s(*in[4]) : Dims{};
  TRY(auto dims, slice_dims(in[0]->dims(), to_int64s(*in[1]), to_int64s(*in[2]),
                            given(in, 3) ? &axes : nullptr, given(in, 4) ? &steps : nullptr));
  if (out[0].size() == 0) return {};
  Dims strides = strides_of(in[0]->dims());
  int64_t offset = 0;
  for (size_t d = 0; d < dims.size(); ++d) {
    offset += dims[d].start * strides[d];
    // A single element needs no step, and a hostile one would overflow.
    strides[d] = dims[d].size > 1 ? strides[d] * dims[d].step : 0;
  }
  copy_strided(*in[0], offset, strides, out[0]);
  return {};
}

Result<std::vector<SliceDim>> slice_dims(const Dims& in, const std::vector<int64_t>& starts,
                                         const std::vector<int64_t>& ends,
                                         const std::vector<int64_t>* axes,
                                         const std::vector<int64_t>* steps) {
  TRY(SliceInputs s, complete({starts, ends, axes ? *axes : Dims{}, steps ? *steps : Dims{}},
                              axes != nullptr, steps != nullptr, static_cast<int64_t>(in.size())));
  std::vector<SliceDim> dims;
  for (int64_t size : in) dims.push_back({0, 1, size});
  for (size_t i = 0; i < s.axes.size(); ++i) {
    const auto d = static_cast<size_t>(s.axes[i]);
    dims[d] = slice_dim(in[d], s.starts[i], s.ends[i], s.steps[i]);
  }
  return dims;
}

InferredTypes infer(const Gather& op, Operands in) {
  const std::string_view name = Gather::kName;
  CHECK_OK(require_inputs(name, in, 2, 2));
  CHECK_OK(require_index_type(name, in[1].type));
  const Dims &x = in[0].type.dims, &indices = in[1].type.dims;
  TRY(const int64_t axis, normalize_axis(name, op.axis, static_cast<int64_t>(x.size())));
  CHECK_OK(require_indices(name, in[1], x[static_cast<size_t>(axis)]));
  Dims y(x.begin(), x.begin() + axis);
  y.insert(y.end(), indices.begin(), indices.end());
  y.insert(y.end(), x.begin() + axis + 1, x.end());
  return std::vector<TensorType>{{in[0].type.type, y}};
}

Status reference(const Gather& op, ReferenceInputs in, ReferenceOutputs out) {
  TRY(const int64_t axis, normalize_axis(Gather::kName, op.axis, in[0]->rank()));
  const AxisView x = view_axis(in[0]->dims(), axis);
  std::vector<int64_t> indices = to_int64s(*in[1]);
  for (int64_t& i : indices) {
    TRY(i, checked_index(Gather::kName, i, x.size));
  }
  int64_t at = 0;
  for (int64_t o = 0; o < x.outer; ++o) {
    for (const int64_t i : indices) {
      copy_bytes(*in[0], (o * x.size + i) * x.inner, out[0], at, x.inner);
      at += x.inner;
    }
  }
  return {};
}

InferredTypes infer(const GatherElements& op, Operands in) {
  const std::string_view name = GatherElements::kName;
  CHECK_OK(require_inputs(name, in, 2, 2));
  CHECK_OK(require_index_type(name, in[1].type));
  const Dims &x = in[0].type.dims, &indices = in[1].type.dims;
  TRY(const int64_t axis, normalize_axis(name, op.axis, static_cast<int64_t>(x.size())));
  bool fits = indices.size() == x.size();
  for (size_t d = 0; fits && d < x.size(); ++d) {
    fits = static_cast<int64_t>(d) == axis || x[d] < 0 || indices[d] <= x[d];
  }
  if (!fits) {
    return rule_error(name, "expected indices that lie within " + to_string(x) +
                                " except along axis " + std::to_string(axis) + ", got " +
                                to_string(indices));
  }
  CHECK_OK(require_indices(name, in[1], x[static_cast<size_t>(axis)]));
  return std::vector<TensorType>{{in[0].type.type, indices}};
}

Status reference(const GatherElements& op, ReferenceInputs in, ReferenceOutputs out) {
  TRY(const int64_t axis, normalize_axis(GatherElements::kName, op.axis, in[0]->rank()));
  std::vector<int64_t> indices = to_int64s(*in[1]);
  const int64_t size = in[0]->dims()[static_cast<size_t>(axis)];
  for (int64_t& i : indices) {
    TRY(i, checked_index(GatherElements::kName, i, size));
  }
  Dims strides = strides_of(in[0]->dims());
  const int64_t along = std::exchange(strides[static_cast<size_t>(axis)], 0);
  with_element_bytes(in[0]->type(), [&](auto type) {
    using T = decltype(type);
    const T* x = elements<T>(*in[0]);
    T* y = elements<T>(out[0]);
    for_each_mapped(out[0].dims(), strides, [&](int64_t i, int64_t j) {
      y[i] = x[j + indices[static_cast<size_t>(i)] * along];
    });
  });
  return {};
}

}  // namespace enginery
