#include "engine/ops/filling.h"

#include <algorithm>
#include <cmath>

#include "engine/ops/support.h"

namespace enginery {
namespace {

constexpr std::string_view kPadModes[] = {"constant", "reflect", "edge", "wrap"};
constexpr int64_t kMaxSize = int64_t{1} << 40;

// Elements added (or, negative, cropped) before and after one dimension.
struct PadDim {
  int64_t before = 0, after = 0;
};

Result<std::vector<PadDim>> pads_by_dimension(const std::vector<int64_t>& pads,
                                              const std::vector<int64_t>* axes, int64_t rank) {
  const std::string_view name = Pad::kName;
  const size_t n = axes ? axes->size() : static_cast<size_t>(rank);
  if (pads.size() != 2 * n) {
    return rule_error(name, "expected " + std::to_string(2 * n) + " pads, got " + ints_text(pads));
  }
  std::vector<PadDim> result(static_cast<size_t>(rank));
  std::vector<bool> seen(static_cast<size_t>(rank), false);
  for (size_t i = 0; i < n; ++i) {
    TRY(const int64_t axis,
        normalize_axis(name, axes ? (*axes)[i] : static_cast<int64_t>(i), rank));
    if (seen[static_cast<size_t>(axis)])
      return rule_error(name, "axis " + std::to_string(axis) + " is named twice");
    seen[static_cast<size_t>(axis)] = true;
    PadDim p{pads[i], pads[n + i]};
    if (std::max(p.before, p.after) > kMaxSize || std::min(p.before, p.after) < -kMaxSize) {
      return rule_error(name, "expected pads of at most 2^40 elements, got " + ints_text(pads));
    }
    result[static_cast<size_t>(axis)] = p;
  }
  return result;
}

// What cropping leaves of `size`, which padding then surrounds.
struct Kept {
  int64_t first, size;
};
Kept kept_of(const PadDim& p, int64_t size) {
  const int64_t first = std::max<int64_t>(0, -p.before);
  return {first, size - first - std::max<int64_t>(0, -p.after)};
}

Result<int64_t> padded_size(const Pad& op, const PadDim& p, int64_t size) {
  if (size < 0) return p.before == 0 && p.after == 0 ? size : kDynamic;
  const int64_t total = size + p.before + p.after;
  Kept kept = kept_of(p, size);
  if (total < 0 || kept.size < 0) {
    return rule_error(
        Pad::kName, "pads crop more than the " + std::to_string(size) + " elements that there are");
  }
  if (op.mode != PadMode::constant && kept.size == 0 && total > 0) {
    return rule_error(Pad::kName, "nothing to repeat along an empty dimension");
  }
  return total;
}

int64_t modulo(int64_t a, int64_t n) {
  return (a % n + n) % n;
}

// The input position of each output position along one dimension; -1 for the constant.
std::vector<int64_t> sources_along(PadMode mode, const PadDim& p, int64_t in, int64_t out) {
  Kept kept = kept_of(p, in);
  std::vector<int64_t> sources(static_cast<size_t>(out));
  for (int64_t o = 0; o < out; ++o) {
    int64_t i = o - std::max<int64_t>(0, p.before);
    if (i < 0 || i >= kept.size) {
      switch (mode) {
        case PadMode::constant:
          sources[static_cast<size_t>(o)] = -1;
          continue;
        case PadMode::edge:
          i = std::clamp<int64_t>(i, 0, kept.size - 1);
          break;
        case PadMode::wrap:
          i = modulo(i, kept.size);
          break;
        case PadMode::reflect: {
          const int64_t period = std::max<int64_t>(1, 2 * (kept.size - 1));
          i = modulo(i, period);
          i = std::min(i, period - i);
          if (kept.size == 1) i = 0;
        }
      }
    }
    sources[static_cast<size_t>(o)] = kept.first + i;
  }
  return sources;
}

template <typename T>
void pad_elements(const Tensor& x, const std::vector<std::vector<int64_t>>& sources, T value,
                  Tensor& y) {
  const T* from = elements<T>(x);
  T* to = elements<T>(y);
  Dims strides = strides_of(x.dims()), index(y.dims().size(), 0);
  for (int64_t i = 0; i < y.size(); ++i) {
    int64_t at = 0;
    bool inside = true;
    for (size_t d = 0; d < index.size(); ++d) {
      const int64_t source = sources[d][static_cast<size_t>(index[d])];
      inside &= source >= 0;
      at += source * strides[d];
    }
    to[i] = inside ? from[at] : value;
    for (size_t d = index.size(); d-- > 0;) {
      if (++index[d] < y.dims()[d]) break;
      index[d] = 0;
    }
  }
}

template <typename T>
Result<int64_t> range_size(const Tensor& start, const Tensor& limit, const Tensor& delta) {
  T first = elements<T>(start)[0], last = elements<T>(limit)[0], step = elements<T>(delta)[0];
  if (step == T{}) return rule_error(Range::kName, "expected a delta other than 0");
  double n = 0;
  if constexpr (std::is_floating_point_v<T>) {
    n = std::ceil((static_cast<double>(last) - static_cast<double>(first)) /
                  static_cast<double>(step));
  } else {
    const __int128 distance = static_cast<__int128>(last) - first, wide = step;
    __int128 count =
        distance / wide + (distance % wide != 0 && (distance < 0) == (wide < 0) ? 1 : 0);
    n = static_cast<double>(count);
  }
  if (std::isnan(n) || n > static_cast<double>(kMaxSize)) {
    return rule_error(Range::kName, "expected numbers that give at most 2^40 elements");
  }
  return n > 0 ? static_cast<int64_t>(n) : 0;
}

bool takes_range(DataType t) {
  return is_floating(t) || t == DataType::int16 || t == DataType::int32 || t == DataType::int64;
}

// 16-bit floats through the type that references see.
Tensor widened(const Tensor& t) {
  const bool narrow = t.type() == DataType::float16 || t.type() == DataType::bfloat16;
  return narrow ? convert(t, DataType::float32) : t;
}

}  // namespace

std::span<const std::string_view> enum_names(PadMode) {
  return kPadModes;
}

Result<std::vector<std::vector<int64_t>>> pad_sources(const Pad& op,
                                                      const std::vector<int64_t>& pads,
                                                      const std::vector<int64_t>* axes,
                                                      const Dims& in, const Dims& out) {
  TRY(const auto by_dim, pads_by_dimension(pads, axes, static_cast<int64_t>(in.size())));
  std::vector<std::vector<int64_t>> sources;
  for (size_t d = 0; d < by_dim.size(); ++d)
    sources.push_back(sources_along(op.mode, by_dim[d], in[d], out[d]));
  return sources;
}

InferredTypes infer(const Pad& op, Operands in) {
  const std::string_view name = Pad::kName;
  CHECK_OK(require_inputs(name, in, 2, 4));
  CHECK_OK(require_int_vector(name, in, 1, "the pads"));
  CHECK_OK(require_int_vector(name, in, 3, "the axes"));
  CHECK_OK(require_same_type(name, in, {0, 2}));
  if (has(in, 2) && product_of(in[2].type.dims) != 1 && is_static(in[2].type.dims)) {
    return rule_error(name, "expected a scalar value, got " + to_string(in[2].type));
  }
  const Dims& x = in[0].type.dims;
  const int64_t rank = static_cast<int64_t>(x.size());
  const auto pads = constant_ints(in, 1), axes = constant_ints(in, 3);
  if (!pads || (has(in, 3) && !axes))
    return std::vector<TensorType>{{in[0].type.type, unknown_dims(rank)}};
  TRY(const auto by_dim, pads_by_dimension(*pads, axes ? &*axes : nullptr, rank));
  Dims y;
  for (size_t d = 0; d < x.size(); ++d) {
    TRY(const int64_t size, padded_size(op, by_dim[d], x[d]));
    y.push_back(size);
  }
  return std::vector<TensorType>{{in[0].type.type, y}};
}

Status reference(const Pad& op, ReferenceInputs in, ReferenceOutputs out) {
  if (out[0].size() == 0) return {};
  std::vector<int64_t> axes;
  if (given(in, 3)) axes = to_int64s(*in[3]);
  TRY(const auto sources, pad_sources(op, to_int64s(*in[1]), given(in, 3) ? &axes : nullptr,
                                      in[0]->dims(), out[0].dims()));
  with_element_bytes(in[0]->type(), [&](auto type) {
    using T = decltype(type);
    T value{};
    if (given(in, 2)) value = elements<T>(*in[2])[0];
    pad_elements<T>(*in[0], sources, value, out[0]);
  });
  return {};
}

InferredTypes infer(const Tile&, Operands in) {
  const std::string_view name = Tile::kName;
  CHECK_OK(require_inputs(name, in, 2, 2));
  CHECK_OK(require_int_vector(name, in, 1, "the repeats"));
  const Dims& x = in[0].type.dims;
  const auto repeats = constant_ints(in, 1);
  if (!repeats)
    return std::vector<TensorType>{{in[0].type.type, unknown_dims(static_cast<int64_t>(x.size()))}};
  if (repeats->size() != x.size()) {
    return rule_error(
        name, "expected " + std::to_string(x.size()) + " repeats, got " + ints_text(*repeats));
  }
  Dims y;
  for (size_t d = 0; d < x.size(); ++d) {
    const int64_t r = (*repeats)[d];
    if (r < 0 || r > kMaxSize || (x[d] > 0 && r > kMaxSize / x[d])) {
      return rule_error(name, "expected repeats of at least 0 and a result below 2^40, got " +
                                  ints_text(*repeats));
    }
    y.push_back(r == 0 ? 0 : r == 1 ? x[d] : x[d] >= 0 ? r * x[d] : kDynamic);
  }
  return std::vector<TensorType>{{in[0].type.type, y}};
}

Status reference(const Tile&, ReferenceInputs in, ReferenceOutputs out) {
  if (out[0].size() == 0) return {};
  // Each dimension as [repeats, size], where the repeats step over nothing.
  Dims own = strides_of(in[0]->dims()), dims, strides;
  for (size_t d = 0; d < own.size(); ++d) {
    dims.push_back(out[0].dims()[d] / in[0]->dims()[d]);
    dims.push_back(in[0]->dims()[d]);
    strides.push_back(0);
    strides.push_back(own[d]);
  }
  Tensor unfolded(out[0].type(), dims);
  copy_strided(*in[0], 0, strides, unfolded);
  std::memcpy(out[0].mutable_bytes(), unfolded.raw(), static_cast<size_t>(unfolded.bytes()));
  return {};
}

InferredTypes infer(const ConstantOfShape& op, Operands in) {
  CHECK_OK(require_inputs(ConstantOfShape::kName, in, 1, 1));
  CHECK_OK(require_int_vector(ConstantOfShape::kName, in, 0, "the shape"));
  if (auto shape = constant_ints(in, 0)) {
    if (!is_static(*shape))
      return rule_error(ConstantOfShape::kName,
                        "expected sizes of at least 0, got " + ints_text(*shape));
    return std::vector<TensorType>{{op.type, *shape}};
  }
  TRY(const int64_t rank, rank_of_shape(ConstantOfShape::kName, in, 0));
  return std::vector<TensorType>{{op.type, unknown_dims(rank)}};
}

Status reference(const ConstantOfShape& op, ReferenceInputs, ReferenceOutputs out) {
  const Tensor value = convert(Tensor::scalar<float>(op.value), out[0].type());
  copy_strided(value, 0, Dims(out[0].dims().size(), 0), out[0]);
  return {};
}

InferredTypes infer(const Range&, Operands in) {
  const std::string_view name = Range::kName;
  CHECK_OK(require_inputs(name, in, 3, 3));
  CHECK_OK(require_same_type(name, in, {0, 1, 2}));
  const DataType type = in[0].type.type;
  if (!takes_range(type))
    return rule_error(name, "a range of " + std::string(to_string(type)) + " is not defined");
  bool known = true;
  for (const Operand& o : in) {
    if (is_static(o.type.dims) && volume(o.type.dims) != 1) {
      return rule_error(name, "expected scalars, got " + to_string(o.type));
    }
    known &= o.constant != nullptr;
  }
  if (!known) return std::vector<TensorType>{{type, {kDynamic}}};
  const Tensor start = widened(*in[0].constant), limit = widened(*in[1].constant),
               delta = widened(*in[2].constant);
  int64_t size = 0;
  CHECK_OK(with_number_type(start.type(), [&](auto number) -> Status {
    TRY(size, range_size<decltype(number)>(start, limit, delta));
    return {};
  }));
  return std::vector<TensorType>{{type, {size}}};
}

Status reference(const Range&, ReferenceInputs in, ReferenceOutputs out) {
  return with_number_type(in[0]->type(), [&](auto number) -> Status {
    using T = decltype(number);
    T first = elements<T>(*in[0])[0], step = elements<T>(*in[2])[0];
    T* y = elements<T>(out[0]);
    for (int64_t i = 0; i < out[0].size(); ++i) {
      if constexpr (std::is_floating_point_v<T>)
        y[i] = static_cast<T>(static_cast<double>(first) +
                              static_cast<double>(i) * static_cast<double>(step));
      else
        y[i] = static_cast<T>(static_cast<uint64_t>(first) +
                              static_cast<uint64_t>(i) * static_cast<uint64_t>(step));
    }
    return {};
  });
}

}  // namespace enginery
