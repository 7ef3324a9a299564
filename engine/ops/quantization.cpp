#include "engine/ops/quantization.h"

#include <algorithm>
#include <cmath>

#include "engine/ops/support.h"
#include "engine/tensor/storage_types.h"

namespace enginery {
namespace {

bool is_quantized(DataType t) {
  return (is_integer(t) && element_bytes(t) <= 2) || is_storage_only(t);
}

// One scale for the whole tensor; a run-time size may turn out to be 1.
bool is_single(const Dims& scale) {
  return scale.empty() || (scale.size() == 1 && (scale[0] == 1 || scale[0] < 0));
}

bool same_dims(const Dims& a, const Dims& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](int64_t x, int64_t y) { return merge_sizes(x, y).has_value(); });
}

// How scales are spread along x; see the header.
Status require_scales(std::string_view op, Operands in, int64_t axis, int64_t block) {
  const Dims &x = in[0].type.dims, &scale = in[1].type.dims;
  if (has(in, 2) && !same_dims(in[2].type.dims, scale) &&
      !(is_single(in[2].type.dims) && is_single(scale))) {
    return rule_error(op, "expected a zero point of the scale's " + to_string(scale) + ", got " +
                              to_string(in[2].type));
  }
  if (block < 0)
    return rule_error(op, "expected a block_size of at least 0, got " + std::to_string(block));
  if (block == 0 && is_single(scale)) return {};
  TRY(const int64_t at, normalize_axis(op, axis, static_cast<int64_t>(x.size())));
  const int64_t size = x[static_cast<size_t>(at)];
  if (block == 0) return require_vector(op, in, 1, size, "the scale");
  bool fits = scale.size() == x.size();
  for (size_t d = 0; fits && d < x.size(); ++d) {
    const int64_t expected = static_cast<int64_t>(d) != at ? x[d]
                             : size < 0                    ? kDynamic
                                                           : (size / block + (size % block != 0));
    fits = merge_sizes(scale[d], expected).has_value();
  }
  if (fits) return {};
  return rule_error(op, "expected a scale for each " + std::to_string(block) +
                            " elements along axis " + std::to_string(at) + " of " + to_string(x) +
                            ", got " + to_string(scale));
}

// f(i, p) for every element i of x with the position p of its scale.
template <typename F>
void for_each_scaled(const Tensor& x, const Tensor& scale, int64_t axis, int64_t block, F&& f) {
  if (block == 0 && is_single(scale.dims())) {
    for (int64_t i = 0; i < x.size(); ++i) f(i, 0);
    return;
  }
  const AxisView v = view_axis(x.dims(), wrapped(axis, x.dims().size()));
  const int64_t blocks = block > 0 ? v.size / block + (v.size % block != 0) : 0;
  int64_t i = 0;
  for (int64_t o = 0; o < v.outer; ++o) {
    for (int64_t a = 0; a < v.size; ++a) {
      for (int64_t k = 0; k < v.inner; ++k, ++i)
        f(i, block > 0 ? (o * blocks + a / block) * v.inner + k : a);
    }
  }
}

// Through floats: the quotients first, and then what the type makes of them.
void quantize_to_storage(const Quantize& op, const Tensor& x, const Tensor& scale,
                         const Tensor* zero_points, Tensor& out) {
  const bool rounds = !is_float8(op.to);
  Tensor y(DataType::float32, x.dims());
  const Tensor zeros = zero_points ? convert(*zero_points, DataType::float32) : Tensor();
  const float *from = elements<float>(x), *by = elements<float>(scale);
  const float* zero = zero_points ? elements<float>(zeros) : nullptr;
  float* to = elements<float>(y);
  for_each_scaled(x, scale, op.axis, op.block_size, [&](int64_t i, int64_t p) {
    const float quotient = from[i] / by[p];
    to[i] = (rounds ? std::nearbyint(quotient) : quotient) + (zero ? zero[p] : 0);
  });
  out = convert(y, op.to, overflow_of(op.saturate));
}

}  // namespace

InferredTypes infer(const Quantize& op, Operands in) {
  const std::string_view name = Quantize::kName;
  CHECK_OK(require_inputs(name, in, 2, 3));
  const TensorType &x = in[0].type, &scale = in[1].type;
  CHECK_OK(refuse_double(name, in, 0, "the input"));
  CHECK_OK(refuse_double(name, in, 1, "the scale"));
  const bool takes = is_floating(x.type) || x.type == DataType::int32;
  if (!takes || !is_floating(scale.type) || !is_quantized(op.to)) {
    return rule_error(name, "from " + to_string(x) + " by " + to_string(scale) + " to " +
                                std::string(to_string(op.to)) + " is not defined");
  }
  if (has(in, 2) && in[2].type.type != op.to) {
    return rule_error(name, "expected a zero point of " + std::string(to_string(op.to)) + ", got " +
                                to_string(in[2].type));
  }
  CHECK_OK(require_scales(name, in, op.axis, op.block_size));
  return std::vector<TensorType>{{op.to, x.dims}};
}

Status reference(const Quantize& op, ReferenceInputs in, ReferenceOutputs out) {
  Tensor x = convert(*in[0], DataType::float32);
  if (is_storage_only(op.to)) {
    quantize_to_storage(op, x, *in[1], given(in, 2), out[0]);
    return {};
  }
  const float *from = elements<float>(x), *scale = elements<float>(*in[1]);
  return with_number_type(out[0].type(), [&](auto type) -> Status {
    using T = decltype(type);
    const T* zero = given(in, 2) ? elements<T>(*in[2]) : nullptr;
    T* y = elements<T>(out[0]);
    for_each_scaled(x, *in[1], op.axis, op.block_size, [&](int64_t i, int64_t p) {
      // The quotient in float, as every implementation has it: in double other values would be
      // ties.
      y[i] = saturate<T>(static_cast<double>(std::nearbyint(from[i] / scale[p])) +
                         (zero ? zero[p] : 0));
    });
    return {};
  });
}

namespace {

Status dequantize_storage(const Dequantize& op, ReferenceInputs in, Tensor& out) {
  const Tensor x = convert(*in[0], DataType::float32);
  const Tensor zeros = given(in, 2) ? convert(*in[2], DataType::float32) : Tensor();
  const float *from = elements<float>(x), *scale = elements<float>(*in[1]);
  const float* zero = given(in, 2) ? elements<float>(zeros) : nullptr;
  float* y = elements<float>(out);
  for_each_scaled(x, *in[1], op.axis, op.block_size, [&](int64_t i, int64_t p) {
    y[i] = (from[i] - (zero ? zero[p] : 0)) * scale[p];
  });
  return {};
}

}  // namespace

InferredTypes infer(const Dequantize& op, Operands in) {
  const std::string_view name = Dequantize::kName;
  CHECK_OK(require_inputs(name, in, 2, 3));
  const TensorType &x = in[0].type, &scale = in[1].type;
  CHECK_OK(refuse_double(name, in, 1, "the scale"));
  if ((!is_quantized(x.type) && x.type != DataType::int32) || !is_floating(scale.type)) {
    return rule_error(name, "from " + to_string(x) + " by " + to_string(scale) + " is not defined");
  }
  CHECK_OK(require_same_type(name, in, {0, 2}));
  CHECK_OK(require_scales(name, in, op.axis, op.block_size));
  return std::vector<TensorType>{{scale.type, x.dims}};
}

Status reference(const Dequantize& op, ReferenceInputs in, ReferenceOutputs out) {
  if (is_storage_only(in[0]->type())) return dequantize_storage(op, in, out[0]);
  const float* scale = elements<float>(*in[1]);
  float* y = elements<float>(out[0]);
  return with_number_type(in[0]->type(), [&](auto type) -> Status {
    using T = decltype(type);
    const T *x = elements<T>(*in[0]), *zero = given(in, 2) ? elements<T>(*in[2]) : nullptr;
    for_each_scaled(*in[0], *in[1], op.axis, op.block_size, [&](int64_t i, int64_t p) {
      const int64_t whole = static_cast<int64_t>(x[i]) - (zero ? static_cast<int64_t>(zero[p]) : 0);
      y[i] = static_cast<float>(whole) * scale[p];
    });
    return {};
  });
}

}  // namespace enginery
