#include "engine/ops/normalization.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/ops/support.h"

namespace enginery {
namespace {

Status require_epsilon(std::string_view op, float epsilon) {
  if (epsilon >= 0 && std::isfinite(epsilon)) return {};
  return rule_error(op, "expected an epsilon of at least 0, got " + float_text(epsilon));
}

InferredTypes same_as_input(Operands in) {
  return std::vector<TensorType>{in[0].type};
}

// Channels are dimension 1.
AxisView channels_of(const Dims& x) {
  return view_axis(x, 1);
}

struct Moments {
  double mean = 0, variance = 0;
};

template <typename T>
Moments moments_of(const T* x, int64_t n) {
  Moments m;
  for (int64_t i = 0; i < n; ++i) m.mean += x[i];
  m.mean /= static_cast<double>(n);
  for (int64_t i = 0; i < n; ++i) m.variance += (x[i] - m.mean) * (x[i] - m.mean);
  m.variance /= static_cast<double>(n);
  return m;
}

// Normalisation over dims[axis..]: what is scaled and shifted fits into these.
template <typename O>
InferredTypes infer_rows(std::string_view name, const O& op, Operands in) {
  CHECK_OK(require_floating(name, in));
  CHECK_OK(require_epsilon(name, op.epsilon));
  const Dims& x = in[0].type.dims;
  TRY(const int64_t axis, normalize_axis(name, op.axis, static_cast<int64_t>(x.size())));
  const Dims row(x.begin() + axis, x.end());
  for (size_t i = 1; i < in.size(); ++i) {
    if (!in[i].present) continue;
    const Dims& d = in[i].type.dims;
    bool fits = d.size() <= row.size();
    for (size_t k = 0; fits && k < d.size(); ++k) {
      const int64_t size = d[d.size() - 1 - k];
      fits = size == 1 || merge_sizes(size, row[row.size() - 1 - k]);
    }
    if (!fits)
      return rule_error(name,
                        "expected scale and bias of " + to_string(row) + ", got " + to_string(d));
  }
  return same_as_input(in);
}

// x, scale and bias of x's channels, `least_rank` dimensions or more.
template <typename O>
InferredTypes infer_channels(std::string_view name, const O& op, Operands in, size_t least_rank) {
  CHECK_OK(require_inputs(name, in, 3, 3));
  CHECK_OK(require_floating(name, in));
  CHECK_OK(require_epsilon(name, op.epsilon));
  const Dims& x = in[0].type.dims;
  CHECK_OK(require_rank(name, x, least_rank));
  CHECK_OK(require_vector(name, in, 1, x[1], "scale"));
  CHECK_OK(require_vector(name, in, 2, x[1], "bias"));
  return same_as_input(in);
}

}  // namespace

InferredTypes infer(const BatchNorm& op, Operands in) {
  const std::string_view name = BatchNorm::kName;
  CHECK_OK(require_inputs(name, in, 5, 5));
  CHECK_OK(require_floating(name, in));
  CHECK_OK(require_epsilon(name, op.epsilon));
  const Dims& x = in[0].type.dims;
  CHECK_OK(require_rank(name, x, 2));
  constexpr std::string_view kRoles[] = {"x", "scale", "bias", "mean", "variance"};
  for (size_t i = 1; i < 5; ++i) CHECK_OK(require_vector(name, in, i, x[1], kRoles[i]));
  return same_as_input(in);
}

Status reference(const BatchNorm& op, ReferenceInputs in, ReferenceOutputs out) {
  return with_floating_type(in[0]->type(), [&](auto type) -> Status {
    using T = decltype(type);
    const AxisView v = channels_of(in[0]->dims());
    const T* x = elements<T>(*in[0]);
    T* y = elements<T>(out[0]);
    const auto value = [&](size_t input, int64_t c) {
      return static_cast<double>(elements<T>(*in[input])[c]);
    };
    for (int64_t n = 0; n < v.outer; ++n) {
      for (int64_t c = 0; c < v.size; ++c) {
        const double factor = value(1, c) / std::sqrt(value(4, c) + op.epsilon);
        for (int64_t i = 0; i < v.inner; ++i)
          *y++ = static_cast<T>((*x++ - value(3, c)) * factor + value(2, c));
      }
    }
    return {};
  });
}

InferredTypes infer(const Lrn& op, Operands in) {
  const std::string_view name = Lrn::kName;
  CHECK_OK(require_inputs(name, in, 1, 1));
  CHECK_OK(require_floating(name, in));
  CHECK_OK(require_rank(name, in[0].type.dims, 2));
  if (op.size < 1)
    return rule_error(name, "expected a size of at least 1, got " + std::to_string(op.size));
  return same_as_input(in);
}

Status reference(const Lrn& op, ReferenceInputs in, ReferenceOutputs out) {
  return with_floating_type(in[0]->type(), [&](auto type) -> Status {
    using T = decltype(type);
    const AxisView v = channels_of(in[0]->dims());
    const T* x = elements<T>(*in[0]);
    T* y = elements<T>(out[0]);
    const int64_t before = std::min((op.size - 1) / 2, v.size),
                  after = std::min(op.size / 2, v.size);
    // A row: one channel of one picture.
    row_ranges(v.outer * v.size, v.inner, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        const int64_t c = row % v.size;
        const T* picture = x + (row - c) * v.inner;
        for (int64_t i = 0; i < v.inner; ++i) {
          double squares = 0;
          for (int64_t k = std::max<int64_t>(0, c - before); k <= std::min(v.size - 1, c + after);
               ++k) {
            const double value = picture[k * v.inner + i];
            squares += value * value;
          }
          const double base = op.bias + op.alpha / static_cast<double>(op.size) * squares;
          y[row * v.inner + i] = static_cast<T>(picture[c * v.inner + i] /
                                                std::pow(base, static_cast<double>(op.beta)));
        }
      }
    });
    return {};
  });
}

InferredTypes infer(const InstanceNorm& op, Operands in) {
  return infer_channels(InstanceNorm::kName, op, in, 3);
}

Status reference(const InstanceNorm& op, ReferenceInputs in, ReferenceOutputs out) {
  return with_floating_type(in[0]->type(), [&](auto type) -> Status {
    using T = decltype(type);
    const AxisView v = channels_of(in[0]->dims());
    const T* x = elements<T>(*in[0]);
    T* y = elements<T>(out[0]);
    for (int64_t n = 0; n < v.outer; ++n) {
      for (int64_t c = 0; c < v.size; ++c, x += v.inner) {
        Moments m = moments_of(x, v.inner);
        const double factor = elements<T>(*in[1])[c] / std::sqrt(m.variance + op.epsilon);
        const double bias = elements<T>(*in[2])[c];
        for (int64_t i = 0; i < v.inner; ++i)
          *y++ = static_cast<T>((x[i] - m.mean) * factor + bias);
      }
    }
    return {};
  });
}

InferredTypes infer(const LayerNorm& op, Operands in) {
  CHECK_OK(require_inputs(LayerNorm::kName, in, 2, 3));
  return infer_rows(LayerNorm::kName, op, in);
}

Status reference(const LayerNorm& op, ReferenceInputs in, ReferenceOutputs out) {
  return with_floating_type(in[0]->type(), [&](auto type) -> Status {
    using T = decltype(type);
    if (out[0].size() == 0) return {};
    const Dims& dims = in[0]->dims();
    TRY(const int64_t axis, normalize_axis(LayerNorm::kName, op.axis, in[0]->rank()));
    const Dims row(dims.begin() + axis, dims.end());
    const int64_t n = volume(row), rows = out[0].size() / n;
    Tensor scales = broadcast_to(*in[1], row);
    const Tensor* given_bias = given(in, 2);
    Tensor biases = given_bias ? broadcast_to(*given_bias, row) : Tensor();
    const T *x = elements<T>(*in[0]), *scale = elements<T>(scales);
    const T* bias = given_bias ? elements<T>(biases) : nullptr;
    T* y = elements<T>(out[0]);
    each_row(rows, n, [&](int64_t r) {
      const T* from = x + r * n;
      T* to = y + r * n;
      const Moments m = moments_of(from, n);
      const double factor = 1 / std::sqrt(m.variance + op.epsilon);
      for (int64_t i = 0; i < n; ++i)
        to[i] = static_cast<T>((from[i] - m.mean) * factor * scale[i] + (bias ? bias[i] : 0.0));
    });
    return {};
  });
}

InferredTypes infer(const RmsNorm& op, Operands in) {
  CHECK_OK(require_inputs(RmsNorm::kName, in, 2, 2));
  return infer_rows(RmsNorm::kName, op, in);
}

Status reference(const RmsNorm& op, ReferenceInputs in, ReferenceOutputs out) {
  return with_floating_type(in[0]->type(), [&](auto type) -> Status {
    using T = decltype(type);
    if (out[0].size() == 0) return {};
    const Dims& dims = in[0]->dims();
    TRY(const int64_t axis, normalize_axis(RmsNorm::kName, op.axis, in[0]->rank()));
    const Dims row(dims.begin() + axis, dims.end());
    const int64_t n = volume(row), rows = out[0].size() / n;
    const Tensor scales = broadcast_to(*in[1], row);
    const T *x = elements<T>(*in[0]), *scale = elements<T>(scales);
    T* y = elements<T>(out[0]);
    each_row(rows, n, [&](int64_t r) {
      const T* from = x + r * n;
      T* to = y + r * n;
      double squares = 0;
      for (int64_t i = 0; i < n; ++i) squares += static_cast<double>(from[i]) * from[i];
      const double factor = 1 / std::sqrt(squares / static_cast<double>(n) + op.epsilon);
      for (int64_t i = 0; i < n; ++i) to[i] = static_cast<T>(from[i] * factor * scale[i]);
    });
    return {};
  });
}

InferredTypes infer(const GroupNorm& op, Operands in) {
  TRY(auto types, infer_channels(GroupNorm::kName, op, in, 2));
  const int64_t channels = in[0].type.dims[1];
  if (op.groups < 1 || (channels >= 0 && channels % op.groups != 0))
    return rule_error(GroupNorm::kName, "expected groups that divide the channels, got " +
                                            std::to_string(op.groups) + " for " +
                                            to_string(in[0].type.dims));
  return types;
}

Status reference(const GroupNorm& op, ReferenceInputs in, ReferenceOutputs out) {
  return with_floating_type(in[0]->type(), [&](auto type) -> Status {
    using T = decltype(type);
    const AxisView v = channels_of(in[0]->dims());
    const int64_t channels = v.size / op.groups, n = channels * v.inner;
    const T* x = elements<T>(*in[0]);
    T* y = elements<T>(out[0]);
    for (int64_t group = 0; group < v.outer * op.groups; ++group, x += n) {
      const Moments m = moments_of(x, n);
      const double factor = 1 / std::sqrt(m.variance + op.epsilon);
      for (int64_t i = 0; i < n; ++i) {
        const int64_t c = group % op.groups * channels + i / v.inner;
        *y++ = static_cast<T>((x[i] - m.mean) * factor * elements<T>(*in[1])[c] +
                              elements<T>(*in[2])[c]);
      }
    }
    return {};
  });
}

InferredTypes infer(const Softmax& op, Operands in) {
  CHECK_OK(require_inputs(Softmax::kName, in, 1, 1));
  CHECK_OK(require_floating(Softmax::kName, in));
  TRY(int64_t axis,
      normalize_axis(Softmax::kName, op.axis, static_cast<int64_t>(in[0].type.dims.size())));
  (void)axis;
  return same_as_input(in);
}

Status reference(const Softmax& op, ReferenceInputs in, ReferenceOutputs out) {
  return with_floating_type(in[0]->type(), [&](auto type) -> Status {
    using T = decltype(type);
    if (out[0].size() == 0) return {};
    TRY(const int64_t axis, normalize_axis(Softmax::kName, op.axis, in[0]->rank()));
    const AxisView v = view_axis(in[0]->dims(), axis);
    const T* x = elements<T>(*in[0]);
    T* y = elements<T>(out[0]);
    const auto normalize_lane = [&](int64_t lane) {
      const int64_t first = lane / v.inner * v.size * v.inner + lane % v.inner,
                    last = first + v.size * v.inner;
      double largest = -std::numeric_limits<double>::infinity(), sum = 0;
      for (int64_t i = first; i < last; i += v.inner) largest = std::max<double>(largest, x[i]);
      for (int64_t i = first; i < last; i += v.inner) sum += std::exp(x[i] - largest);
      for (int64_t i = first; i < last; i += v.inner) {
        const double shifted = x[i] - largest;
        y[i] = static_cast<T>(op.log ? shifted - std::log(sum) : std::exp(shifted) / sum);
      }
    };
    each_row(v.outer * v.inner, v.size, normalize_lane);
    return {};
  });
}

}  // namespace enginery
