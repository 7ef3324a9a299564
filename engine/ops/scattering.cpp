#include "engine/ops/scattering.h"

#include <algorithm>
#include <utility>

#include "engine/ops/support.h"

namespace enginery {
namespace {

constexpr std::string_view kScatterKinds[] = {"replace", "add", "mul", "min", "max"};

Status require_scatter_type(std::string_view op, ScatterKind kind, DataType type) {
  if (kind == ScatterKind::replace || type != DataType::boolean) return {};
  return rule_error(
      op, std::string(kScatterKinds[static_cast<size_t>(kind)]) + " of boolean is not defined");
}

template <typename T>
T combined(ScatterKind kind, T old, T update) {
  switch (kind) {
    case ScatterKind::replace:
      return update;
    case ScatterKind::min:
      return std::min(old, update);
    case ScatterKind::max:
      return std::max(old, update);
    default:
      break;
  }
  if constexpr (std::is_integral_v<T>) {
    const uint64_t a = static_cast<uint64_t>(old), b = static_cast<uint64_t>(update);
    return static_cast<T>(kind == ScatterKind::add ? a + b : a * b);
  } else {
    return kind == ScatterKind::add ? old + update : old * update;
  }
}

// Offsets, in elements of data, of the blocks that the last dimension of `indices` addresses, after
// `first` dimensions.
Result<std::vector<int64_t>> block_offsets(std::string_view op, const Tensor& indices,
                                           const Dims& data, size_t first) {
  const int64_t k = indices.dims().back();
  const std::vector<int64_t> flat = to_int64s(indices);
  const Dims strides = strides_of(data);
  const int64_t tuples = volume(Dims(indices.dims().begin(), indices.dims().end() - 1));
  std::vector<int64_t> offsets(static_cast<size_t>(tuples), 0);
  for (size_t t = 0; t < offsets.size(); ++t) {
    for (size_t d = 0; d < static_cast<size_t>(k); ++d) {
      TRY(const int64_t at,
          checked_index(op, flat[t * static_cast<size_t>(k) + d], data[first + d]));
      offsets[t] += at * strides[first + d];
    }
  }
  return offsets;
}

int64_t volume_from(const Dims& dims, size_t first) {
  return volume(Dims(dims.begin() + static_cast<int64_t>(first), dims.end()));
}

void copy_all(const Tensor& from, Tensor& to) {
  if (to.bytes() > 0) std::memcpy(to.mutable_bytes(), from.raw(), static_cast<size_t>(to.bytes()));
}

// Index tuples need a known length: it decides the output's rank.
Result<size_t> tuple_length(std::string_view op, const Operand& indices, size_t most) {
  CHECK_OK(require_index_type(op, indices.type));
  CHECK_OK(require_rank(op, indices.type.dims, 1));
  const int64_t k = indices.type.dims.back();
  if (k < 0)
    return Error{ErrorCode::unsupported,
                 std::string(op) + ": the length of index tuples must be known at build time"};
  if (k < 1 || static_cast<size_t>(k) > most) {
    return rule_error(op, "expected index tuples of 1 to " + std::to_string(most) + ", got " +
                              to_string(indices.type));
  }
  return static_cast<size_t>(k);
}

}  // namespace

std::span<const std::string_view> enum_names(ScatterKind) {
  return kScatterKinds;
}

InferredTypes infer(const GatherNd& op, Operands in) {
  const std::string_view name = GatherNd::kName;
  CHECK_OK(require_inputs(name, in, 2, 2));
  const Dims &x = in[0].type.dims, &indices = in[1].type.dims;
  if (op.batch_dims < 0 ||
      static_cast<uint64_t>(op.batch_dims) >= std::min(x.size(), indices.size())) {
    return rule_error(name, "expected fewer batch_dims than dimensions of " + to_string(x) +
                                " and " + to_string(indices) + ", got " +
                                std::to_string(op.batch_dims));
  }
  const size_t batch = static_cast<size_t>(op.batch_dims);
  TRY(const size_t k, tuple_length(name, in[1], x.size() - batch));
  Dims y(indices.begin(), indices.end() - 1);
  for (size_t d = 0; d < batch; ++d) {
    const auto size = merge_sizes(x[d], indices[d]);
    if (!size)
      return rule_error(
          name, "batch dimensions of " + to_string(x) + " and " + to_string(indices) + " differ");
    y[d] = *size;
  }
  y.insert(y.end(), x.begin() + static_cast<int64_t>(batch + k), x.end());
  return std::vector<TensorType>{{in[0].type.type, y}};
}

Status reference(const GatherNd& op, ReferenceInputs in, ReferenceOutputs out) {
  const size_t batch = static_cast<size_t>(op.batch_dims);
  const Dims& x = in[0]->dims();
  TRY(const auto offsets, block_offsets(GatherNd::kName, *in[1], x, batch));
  if (out[0].size() == 0) return {};
  const int64_t block = volume_from(x, batch + static_cast<size_t>(in[1]->dims().back()));
  const int64_t batches = volume(Dims(x.begin(), x.begin() + op.batch_dims)),
                batch_size = volume_from(x, batch);
  const int64_t tuples = static_cast<int64_t>(offsets.size()) / batches;
  with_element_bytes(in[0]->type(), [&](auto type) {
    using T = decltype(type);
    T* y = elements<T>(out[0]);
    for (size_t t = 0; t < offsets.size(); ++t) {
      const T* from =
          elements<T>(*in[0]) + static_cast<int64_t>(t) / tuples * batch_size + offsets[t];
      y = std::copy_n(from, block, y);
    }
  });
  return {};
}

InferredTypes infer(const ScatterElements& op, Operands in) {
  const std::string_view name = ScatterElements::kName;
  CHECK_OK(require_inputs(name, in, 3, 3));
  CHECK_OK(require_index_type(name, in[1].type));
  CHECK_OK(require_same_type(name, in, {0, 2}));
  CHECK_OK(require_scatter_type(name, op.kind, in[0].type.type));
  const Dims &x = in[0].type.dims, &indices = in[1].type.dims, &updates = in[2].type.dims;
  TRY(const int64_t axis, normalize_axis(name, op.axis, static_cast<int64_t>(x.size())));
  bool fits = indices.size() == x.size() && updates.size() == x.size();
  for (size_t d = 0; fits && d < x.size(); ++d) {
    fits = merge_sizes(indices[d], updates[d]) &&
           (static_cast<int64_t>(d) == axis || x[d] < 0 || indices[d] <= x[d]);
  }
  if (!fits) {
    return rule_error(name, "expected indices and updates of one shape within " + to_string(x) +
                                ", got " + to_string(indices) + " and " + to_string(updates));
  }
  return std::vector<TensorType>{in[0].type};
}

Status reference(const ScatterElements& op, ReferenceInputs in, ReferenceOutputs out) {
  TRY(const int64_t axis, normalize_axis(ScatterElements::kName, op.axis, in[0]->rank()));
  std::vector<int64_t> indices = to_int64s(*in[1]);
  for (int64_t& i : indices) {
    TRY(i, checked_index(ScatterElements::kName, i, in[0]->dims()[static_cast<size_t>(axis)]));
  }
  copy_all(*in[0], out[0]);
  Dims strides = strides_of(in[0]->dims());
  const int64_t along = std::exchange(strides[static_cast<size_t>(axis)], 0);
  return with_number_type(in[0]->type(), [&](auto type) -> Status {
    using T = decltype(type);
    const T* updates = elements<T>(*in[2]);
    T* y = elements<T>(out[0]);
    for_each_mapped(in[1]->dims(), strides, [&](int64_t i, int64_t j) {
      T& target = y[j + indices[static_cast<size_t>(i)] * along];
      target = combined(op.kind, target, updates[i]);
    });
    return {};
  });
}

InferredTypes infer(const ScatterNd& op, Operands in) {
  const std::string_view name = ScatterNd::kName;
  CHECK_OK(require_inputs(name, in, 3, 3));
  CHECK_OK(require_same_type(name, in, {0, 2}));
  CHECK_OK(require_scatter_type(name, op.kind, in[0].type.type));
  const Dims &x = in[0].type.dims, &indices = in[1].type.dims, &updates = in[2].type.dims;
  TRY(const size_t k, tuple_length(name, in[1], x.size()));
  Dims expected(indices.begin(), indices.end() - 1);
  expected.insert(expected.end(), x.begin() + static_cast<int64_t>(k), x.end());
  bool fits = updates.size() == expected.size();
  for (size_t d = 0; fits && d < expected.size(); ++d)
    fits = merge_sizes(updates[d], expected[d]).has_value();
  if (!fits)
    return rule_error(name,
                      "expected updates of " + to_string(expected) + ", got " + to_string(updates));
  return std::vector<TensorType>{in[0].type};
}

Status reference(const ScatterNd& op, ReferenceInputs in, ReferenceOutputs out) {
  TRY(const auto offsets, block_offsets(ScatterNd::kName, *in[1], in[0]->dims(), 0));
  copy_all(*in[0], out[0]);
  const int64_t block = volume_from(in[0]->dims(), static_cast<size_t>(in[1]->dims().back()));
  return with_number_type(in[0]->type(), [&](auto type) -> Status {
    using T = decltype(type);
    const T* update = elements<T>(*in[2]);
    for (const int64_t offset : offsets) {
      T* target = elements<T>(out[0]) + offset;
      for (int64_t i = 0; i < block; ++i, ++update)
        target[i] = combined(op.kind, target[i], *update);
    }
    return {};
  });
}

}  // namespace enginery
