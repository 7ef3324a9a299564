// Reduce and ArgMinMax; Resize is in resize.cpp.
#include "engine/ops/reduction.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/ops/support.h"

namespace enginery {
namespace {

constexpr std::string_view kReduceKinds[] = {"sum",        "mean", "max", "min",     "prod",
                                             "sum_square", "l1",   "l2",  "log_sum", "log_sum_exp"};

bool is_extreme(ReduceKind kind) {
  return kind == ReduceKind::max || kind == ReduceKind::min;
}

bool takes(ReduceKind kind, DataType type) {
  if (is_floating(type) || (type >= DataType::int32 && type <= DataType::uint64)) return true;
  return is_extreme(kind);  // also bytes, 16-bit integers and booleans
}

Result<std::vector<bool>> reduced_axes(const Reduce& op, int64_t rank) {
  std::vector<bool> reduced(static_cast<size_t>(rank), op.axes.empty() && !op.none_is_identity);
  for (const int64_t a : op.axes) {
    TRY(const int64_t axis, normalize_axis(Reduce::kName, a, rank));
    if (reduced[static_cast<size_t>(axis)]) {
      return rule_error(Reduce::kName, "axis " + std::to_string(a) + " is named twice");
    }
    reduced[static_cast<size_t>(axis)] = true;
  }
  return reduced;
}

// For each input dimension, how far the output moves: 0 along reduced ones.
Dims output_strides(const Dims& x, const std::vector<bool>& reduced) {
  Dims strides(x.size(), 0);
  int64_t step = 1;
  for (size_t d = x.size(); d-- > 0;) {
    if (reduced[d]) continue;
    strides[d] = step;
    step *= x[d];
  }
  return strides;
}

// A reduction over no elements gives the operation's neutral value.
double neutral(ReduceKind kind) {
  const double infinity = std::numeric_limits<double>::infinity();
  switch (kind) {
    case ReduceKind::prod:
      return 1;
    case ReduceKind::max:
      return -infinity;
    case ReduceKind::min:
      return infinity;
    default:
      return 0;
  }
}

double accumulate(ReduceKind kind, double sum, double x) {
  switch (kind) {
    case ReduceKind::prod:
      return sum * x;
    case ReduceKind::max:
      return x > sum || x != x ? x : sum;
    case ReduceKind::min:
      return x < sum || x != x ? x : sum;
    case ReduceKind::sum_square:
    case ReduceKind::l2:
      return sum + x * x;
    case ReduceKind::l1:
      return sum + std::abs(x);
    default:
      return sum + x;
  }
}

double finish(ReduceKind kind, double sum, int64_t count) {
  switch (kind) {
    case ReduceKind::mean:
      return sum / static_cast<double>(count);
    case ReduceKind::l2:
      return std::sqrt(sum);
    case ReduceKind::log_sum:
      return std::log(sum);
    default:
      return sum;
  }
}

struct ReduceShape {
  const Dims& dims;
  Dims strides;
  int64_t count;  // elements that make one output
};

// f(i, o) for every element i and its output o, in order within each output. Leading dims that are
// kept divide the work: their outputs are apart.
template <typename F>
void each_reduced(const ReduceShape& s, const F& f) {
  int64_t blocks = 1;
  for (size_t d = 0; d < s.dims.size() && (s.strides[d] != 0 || s.dims[d] == 1); ++d)
    blocks *= s.dims[d];
  const int64_t size = volume(s.dims) / std::max<int64_t>(blocks, 1);
  row_ranges(blocks, size, [&](int64_t begin, int64_t end) {
    for_each_mapped(s.dims, s.strides, begin * size, end * size, f);
  });
}

template <typename T>
std::vector<double> reduce_wide(ReduceKind kind, const ReduceShape& s, const T* x,
                                int64_t outputs) {
  std::vector<double> sums(static_cast<size_t>(outputs), neutral(kind));
  each_reduced(s, [&](int64_t i, int64_t o) {
    double& sum = sums[static_cast<size_t>(o)];
    sum = accumulate(kind, sum, static_cast<double>(x[i]));
  });
  for (double& sum : sums) sum = finish(kind, sum, s.count);
  return sums;
}

// log(sum(exp(x))) with the largest element taken out first, so that exp cannot overflow.
template <typename T>
std::vector<double> reduce_log_sum_exp(const ReduceShape& s, const T* x, int64_t outputs) {
  std::vector<double> largest = reduce_wide(ReduceKind::max, s, x, outputs);
  std::vector<double> sums(static_cast<size_t>(outputs), 0);
  for (double& v : largest) v = std::isinf(v) ? 0 : v;
  each_reduced(s, [&](int64_t i, int64_t o) {
    sums[static_cast<size_t>(o)] +=
        std::exp(static_cast<double>(x[i]) - largest[static_cast<size_t>(o)]);
  });
  for (size_t o = 0; o < sums.size(); ++o) sums[o] = std::log(sums[o]) + largest[o];
  return sums;
}

// Sums, products and extremes of integers stay in integers (and wrap): 64 bits do not fit a double.
bool is_exact_in_integers(ReduceKind kind) {
  return kind != ReduceKind::l2 && kind != ReduceKind::log_sum && kind != ReduceKind::log_sum_exp;
}

template <typename T>
void reduce_integers(ReduceKind kind, const ReduceShape& s, const T* x, T* y, int64_t outputs) {
  using Limits = std::numeric_limits<T>;
  T start = kind == ReduceKind::prod  ? 1
            : kind == ReduceKind::max ? Limits::min()
            : kind == ReduceKind::min ? Limits::max()
                                      : 0;
  std::fill_n(y, outputs, start);
  each_reduced(s, [&](int64_t i, int64_t o) {
    const T v = x[i];
    const uint64_t wide = static_cast<uint64_t>(v), sum = static_cast<uint64_t>(y[o]);
    switch (kind) {
      case ReduceKind::max:
        y[o] = std::max(y[o], v);
        break;
      case ReduceKind::min:
        y[o] = std::min(y[o], v);
        break;
      case ReduceKind::prod:
        y[o] = static_cast<T>(sum * wide);
        break;
      case ReduceKind::sum_square:
        y[o] = static_cast<T>(sum + wide * wide);
        break;
      case ReduceKind::l1:
        y[o] = static_cast<T>(sum + (v < 0 ? 0 - wide : wide));
        break;
      default:
        y[o] = static_cast<T>(sum + wide);
    }
  });
}

template <typename T>
Status reduce(const Reduce& op, const ReduceShape& s, const Tensor& in, Tensor& out) {
  const T* x = elements<T>(in);
  T* y = elements<T>(out);
  if constexpr (std::is_integral_v<T>) {
    if (is_exact_in_integers(op.kind)) {
      if (op.kind == ReduceKind::mean && s.count == 0)
        return rule_error(Reduce::kName, "the mean of no integers");
      reduce_integers(op.kind, s, x, y, out.size());
      if (op.kind == ReduceKind::mean) {
        for (int64_t i = 0; i < out.size(); ++i)
          y[i] = static_cast<T>(static_cast<__int128>(y[i]) / s.count);
      }
      return {};
    }
  }
  const auto sums = op.kind == ReduceKind::log_sum_exp ? reduce_log_sum_exp(s, x, out.size())
                                                       : reduce_wide(op.kind, s, x, out.size());
  for (size_t i = 0; i < sums.size(); ++i) y[i] = saturate<T>(sums[i]);
  return {};
}

}  // namespace

std::span<const std::string_view> enum_names(ReduceKind) {
  return kReduceKinds;
}

InferredTypes infer(const Reduce& op, Operands in) {
  CHECK_OK(require_inputs(Reduce::kName, in, 1, 1));
  const TensorType& x = in[0].type;
  if (!takes(op.kind, x.type)) {
    return rule_error(Reduce::kName, std::string(kReduceKinds[static_cast<size_t>(op.kind)]) +
                                         " of " + std::string(to_string(x.type)) +
                                         " is not defined");
  }
  TRY(const auto reduced, reduced_axes(op, static_cast<int64_t>(x.dims.size())));
  Dims y;
  for (size_t d = 0; d < x.dims.size(); ++d) {
    if (!reduced[d])
      y.push_back(x.dims[d]);
    else if (op.keep_dims)
      y.push_back(1);
  }
  return std::vector<TensorType>{{x.type, y}};
}

Status reference(const Reduce& op, ReferenceInputs in, ReferenceOutputs out) {
  if (out[0].size() == 0) return {};
  const Dims& x = in[0]->dims();
  TRY(const auto reduced, reduced_axes(op, in[0]->rank()));
  if (op.axes.empty() && op.none_is_identity) {
    std::memcpy(out[0].mutable_bytes(), in[0]->raw(), static_cast<size_t>(out[0].bytes()));
    return {};
  }
  ReduceShape shape{x, output_strides(x, reduced), in[0]->size() / out[0].size()};
  return with_number_type(
      in[0]->type(), [&](auto type) { return reduce<decltype(type)>(op, shape, *in[0], out[0]); });
}

InferredTypes infer(const ArgMinMax& op, Operands in) {
  const std::string_view name = ArgMinMax::kName;
  CHECK_OK(require_inputs(name, in, 1, 1));
  const TensorType& x = in[0].type;
  if (x.type == DataType::boolean) return rule_error(name, "expected numbers, got " + to_string(x));
  TRY(const int64_t axis, normalize_axis(name, op.axis, static_cast<int64_t>(x.dims.size())));
  Dims y = x.dims;
  if (y[static_cast<size_t>(axis)] == 0) {
    return rule_error(
        name, "axis " + std::to_string(axis) + " of " + to_string(x.dims) + " has no elements");
  }
  if (op.keep_dims)
    y[static_cast<size_t>(axis)] = 1;
  else
    y.erase(y.begin() + axis);
  return std::vector<TensorType>{{DataType::int64, y}};
}

Status reference(const ArgMinMax& op, ReferenceInputs in, ReferenceOutputs out) {
  TRY(const int64_t axis, normalize_axis(ArgMinMax::kName, op.axis, in[0]->rank()));
  const AxisView v = view_axis(in[0]->dims(), axis);
  int64_t* y = elements<int64_t>(out[0]);
  return with_number_type(in[0]->type(), [&](auto type) -> Status {
    using T = decltype(type);
    for (int64_t lane = 0; lane < out[0].size(); ++lane) {
      const T* x = elements<T>(*in[0]) + lane / v.inner * v.size * v.inner + lane % v.inner;
      int64_t best = 0;
      for (int64_t i = 1; i < v.size; ++i) {
        T candidate = x[i * v.inner], holder = x[best * v.inner];
        const bool beats = op.largest ? candidate > holder : candidate < holder;
        if (beats || (op.select_last && candidate == holder)) best = i;
      }
      y[lane] = best;
    }
    return {};
  });
}

}  // namespace enginery
