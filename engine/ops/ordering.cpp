#include "engine/ops/ordering.h"

#include <algorithm>
#include <numeric>

#include "engine/ops/support.h"

namespace enginery {
namespace {

// A total order, NaN last: std::partial_sort must not meet one that contradicts itself.
template <typename T>
bool below(T a, T b) {
  if (a != a) return false;
  return b != b || a < b;
}

// The `order` of one lane's best k, ties by position.
template <typename T>
void sort_lane(const T* x, const AxisView& v, int64_t k, const TopK& op,
               std::vector<int64_t>& order) {
  std::iota(order.begin(), order.end(), 0);
  std::partial_sort(order.begin(), order.begin() + k, order.end(), [&](int64_t i, int64_t j) {
    T a = x[i * v.inner], b = x[j * v.inner];
    const bool first = op.largest ? below(b, a) : below(a, b),
               second = op.largest ? below(a, b) : below(b, a);
    return first || (!second && i < j);
  });
}

Status require_single_int(std::string_view op, const Operand& o, std::string_view what) {
  const bool single = !is_static(o.type.dims) || volume(o.type.dims) == 1;
  if (single && (o.type.type == DataType::int64 || o.type.type == DataType::int32)) return {};
  return rule_error(op,
                    "expected " + std::string(what) + " as one integer, got " + to_string(o.type));
}

int64_t count_non_zero(const Tensor& t) {
  Tensor flags = convert(t, DataType::boolean);
  return std::accumulate(elements<uint8_t>(flags), elements<uint8_t>(flags) + flags.size(),
                         int64_t{0});
}

}  // namespace

InferredTypes infer(const TopK& op, Operands in) {
  const std::string_view name = TopK::kName;
  CHECK_OK(require_inputs(name, in, 2, 2));
  const TensorType& x = in[0].type;
  if (x.type == DataType::boolean) return rule_error(name, "expected numbers, got " + to_string(x));
  CHECK_OK(require_single_int(name, in[1], "k"));
  TRY(const int64_t axis, normalize_axis(name, op.axis, static_cast<int64_t>(x.dims.size())));
  Dims y = x.dims;
  int64_t& size = y[static_cast<size_t>(axis)];
  const auto k = constant_ints(in, 1);
  if (k && ((*k)[0] < 0 || (size >= 0 && (*k)[0] > size))) {
    return rule_error(name, "expected k from 0 to the " + std::to_string(size) +
                                " elements along axis " + std::to_string(axis) + ", got " +
                                std::to_string((*k)[0]));
  }
  size = k ? (*k)[0] : kDynamic;
  return std::vector<TensorType>{{x.type, y}, {DataType::int64, y}};
}

Status reference(const TopK& op, ReferenceInputs in, ReferenceOutputs out) {
  TRY(const int64_t axis, normalize_axis(TopK::kName, op.axis, in[0]->rank()));
  const AxisView v = view_axis(in[0]->dims(), axis);
  const int64_t k = out[0].dims()[static_cast<size_t>(axis)];
  if (out[0].size() == 0) return {};
  std::vector<int64_t> order(static_cast<size_t>(v.size));
  int64_t* indices = elements<int64_t>(out[1]);
  return with_number_type(in[0]->type(), [&](auto type) -> Status {
    using T = decltype(type);
    T* y = elements<T>(out[0]);
    for (int64_t lane = 0; lane < v.outer * v.inner; ++lane) {
      const T* x = elements<T>(*in[0]) + lane / v.inner * v.size * v.inner + lane % v.inner;
      sort_lane(x, v, k, op, order);
      for (int64_t i = 0; i < k; ++i) {
        const int64_t at = (lane / v.inner * k + i) * v.inner + lane % v.inner;
        indices[at] = order[static_cast<size_t>(i)];
        y[at] = x[order[static_cast<size_t>(i)] * v.inner];
      }
    }
    return {};
  });
}

InferredTypes infer(const CumSum&, Operands in) {
  const std::string_view name = CumSum::kName;
  CHECK_OK(require_inputs(name, in, 2, 2));
  if (in[0].type.type == DataType::boolean)
    return rule_error(name, "expected numbers, got " + to_string(in[0].type));
  CHECK_OK(require_single_int(name, in[1], "the axis"));
  if (auto axis = constant_ints(in, 1)) {
    const auto valid =
        normalize_axis(name, (*axis)[0], static_cast<int64_t>(in[0].type.dims.size()));
    if (!valid.ok()) return valid.error();
  }
  return std::vector<TensorType>{in[0].type};
}

Status reference(const CumSum& op, ReferenceInputs in, ReferenceOutputs out) {
  TRY(const int64_t axis, normalize_axis(CumSum::kName, to_int64s(*in[1])[0], in[0]->rank()));
  const AxisView v = view_axis(in[0]->dims(), axis);
  return with_number_type(in[0]->type(), [&](auto type) -> Status {
    using T = decltype(type);
    using Sum = std::conditional_t<std::is_floating_point_v<T>, double, uint64_t>;
    for (int64_t lane = 0; lane < v.outer * v.inner; ++lane) {
      const int64_t first = lane / v.inner * v.size * v.inner + lane % v.inner;
      Sum sum{};
      for (int64_t i = 0; i < v.size; ++i) {
        const int64_t at = first + (op.reverse ? v.size - 1 - i : i) * v.inner;
        Sum before = sum;
        sum += static_cast<Sum>(elements<T>(*in[0])[at]);
        elements<T>(out[0])[at] = static_cast<T>(op.exclusive ? before : sum);
      }
    }
    return {};
  });
}

InferredTypes infer(const NonZero&, Operands in) {
  CHECK_OK(require_inputs(NonZero::kName, in, 1, 1));
  if (!in[0].constant) {
    return Error{ErrorCode::unsupported, "non_zero: the output's size depends on run-time data"};
  }
  return std::vector<TensorType>{
      {DataType::int64, {in[0].constant->rank(), count_non_zero(*in[0].constant)}}};
}

Status reference(const NonZero&, ReferenceInputs in, ReferenceOutputs out) {
  Tensor flags = convert(*in[0], DataType::boolean);
  const int64_t n = out[0].dims()[1];
  const Dims strides = strides_of(in[0]->dims());
  int64_t* y = elements<int64_t>(out[0]);
  int64_t found = 0;
  for (int64_t i = 0; i < flags.size(); ++i) {
    if (!elements<uint8_t>(flags)[i]) continue;
    int64_t rest = i;
    for (size_t d = 0; d < strides.size(); ++d) {
      y[static_cast<int64_t>(d) * n + found] = rest / strides[d];
      rest %= strides[d];
    }
    ++found;
  }
  return {};
}

}  // namespace enginery
