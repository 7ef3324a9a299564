#include "engine/ops/pooling.h"

#include <algorithm>
#include <limits>

#include "engine/ops/support.h"
#include "engine/ops/window.h"

namespace enginery {
namespace {

constexpr std::string_view kPoolKinds[] = {"max", "average"};

Status require_pool_type(std::string_view op, PoolKind kind, DataType type) {
  const bool byte = type == DataType::int8 || type == DataType::uint8;
  if (is_floating(type) || (byte && kind == PoolKind::max)) return {};
  return rule_error(op, "expected a floating input (or 8-bit integers for max), got " +
                            std::string(to_string(type)));
}

// What one window sees along one dimension.
struct PoolingTaps {
  int64_t first;       // input position of tap 0, may be negative
  int64_t step;        // between taps
  int64_t begin, end;  // taps inside the input
  int64_t counted;     // taps inside the input and its padding
};

std::vector<PoolingTaps> taps_of(const Pooling& op, size_t dim, int64_t in, int64_t out) {
  std::vector<PoolingTaps> taps;
  const int64_t kernel = op.kernel[dim], step = op.dilations[dim];
  for (int64_t o = 0; o < out; ++o) {
    PoolingTaps t{o * op.strides[dim] - op.pads_begin[dim], step, 0, 0, 0};
    t.begin = t.first < 0 ? std::min(kernel, (-t.first + step - 1) / step) : 0;
    const auto taps_below = [&](int64_t limit) {
      return limit <= t.first ? 0 : std::min(kernel, (limit - t.first - 1) / step + 1);
    };
    t.end = std::max(t.begin, taps_below(in));
    t.counted = taps_below(in + op.pads_end[dim]);
    taps.push_back(t);
  }
  return taps;
}

struct PlaneTaps {
  Spatial in, out;
  std::array<std::vector<PoolingTaps>, 3> dims;
};

PlaneTaps plane_taps(const Pooling& op, const Dims& x, const Dims& y) {
  PlaneTaps p{spatial_of(std::span(x).subspan(2), 1), spatial_of(std::span(y).subspan(2), 1), {}};
  const size_t missing = 5 - x.size();
  for (size_t i = 0; i < 3; ++i) {
    p.dims[i] = i < missing ? std::vector<PoolingTaps>{{0, 1, 0, 1, 1}}
                            : taps_of(op, i - missing, p.in[i], p.out[i]);
  }
  return p;
}

// f(position) for every input element of a plane that the window (z, y, x) sees.
template <typename F>
void for_each_in_window(const PlaneTaps& p, const PoolingTaps& z, const PoolingTaps& y,
                        const PoolingTaps& x, F&& f) {
  for (int64_t a = z.begin; a < z.end; ++a) {
    for (int64_t b = y.begin; b < y.end; ++b) {
      const int64_t row =
          ((z.first + a * z.step) * p.in[1] + y.first + b * y.step) * p.in[2] + x.first;
      for (int64_t c = x.begin; c < x.end; ++c) f(row + c * x.step);
    }
  }
}

// window(plane, z, y, x) -> one output element, over all planes, side by side.
template <typename T, typename F>
void for_each_window(const PlaneTaps& p, int64_t planes, const Tensor& x, Tensor& y, F&& window) {
  const int64_t in = p.in[0] * p.in[1] * p.in[2], out = p.out[0] * p.out[1] * p.out[2];
  row_ranges(planes, std::max(in, out), [&](int64_t begin, int64_t end) {
    const T* from = elements<T>(x) + begin * in;
    T* to = elements<T>(y) + begin * out;
    for (int64_t i = begin; i < end; ++i, from += in) {
      for (const PoolingTaps& tz : p.dims[0]) {
        for (const PoolingTaps& ty : p.dims[1]) {
          for (const PoolingTaps& tx : p.dims[2]) *to++ = window(from, tz, ty, tx);
        }
      }
    }
  });
}

// Where a maximum begins: what every element of the input is at least.
template <typename T>
constexpr T smallest() {
  using Limits = std::numeric_limits<T>;
  return Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
}

template <typename T>
T larger(T a, T b) {
  return a < b || b != b ? b : a;  // NaN wins; in ONNX Runtime only where it is read last
}

double average(double sum, int64_t count) {
  return count > 0 ? sum / static_cast<double>(count) : 0;
}

}  // namespace

std::span<const std::string_view> enum_names(PoolKind) {
  return kPoolKinds;
}

InferredTypes infer(const Pooling& op, Operands in) {
  const std::string_view name = Pooling::kName;
  CHECK_OK(require_inputs(name, in, 1, 1));
  const Dims& x = in[0].type.dims;
  CHECK_OK(require_pool_type(name, op.kind, in[0].type.type));
  CHECK_OK(require_rank(name, x, 3, 5));
  TRY(auto windows,
      make_windows(name, x.size() - 2,
                   {op.kernel, op.strides, op.dilations, op.pads_begin, op.pads_end}));
  Dims y{x[0], x[1]};
  for (size_t i = 0; i < windows.size(); ++i) {
    const Window& w = windows[i];
    if (w.kernel < 1)
      return rule_error(name,
                        "expected kernel sizes of at least 1, got " + std::to_string(w.kernel));
    if (std::max(w.pad_begin, w.pad_end) >= w.extent()) {
      return rule_error(name, "expected padding smaller than the window of " +
                                  std::to_string(w.extent()) + ", got " +
                                  std::to_string(std::max(w.pad_begin, w.pad_end)));
    }
    TRY(int64_t size,
        windows_that_fit(name, x[i + 2], w,
                         op.ceil_mode ? WindowRounding::ceil : WindowRounding::floor));
    y.push_back(size);
  }
  return std::vector<TensorType>{{in[0].type.type, y}};
}

Status reference(const Pooling& op, ReferenceInputs in, ReferenceOutputs out) {
  if (out[0].size() == 0) return {};
  const Dims& x = in[0]->dims();
  const PlaneTaps p = plane_taps(op, x, out[0].dims());
  return with_number_type(in[0]->type(), [&](auto type) -> Status {
    using T = decltype(type);
    for_each_window<T>(
        p, x[0] * x[1], *in[0], out[0],
        [&](const T* plane, const PoolingTaps& tz, const PoolingTaps& ty, const PoolingTaps& tx) {
          if (op.kind == PoolKind::max) {
            T largest = smallest<T>();
            for_each_in_window(p, tz, ty, tx,
                               [&](int64_t at) { largest = larger(largest, plane[at]); });
            return largest;
          }
          double sum = 0;
          for_each_in_window(p, tz, ty, tx,
                             [&](int64_t at) { sum += static_cast<double>(plane[at]); });
          const auto inside = [](const PoolingTaps& t) { return t.end - t.begin; };
          const int64_t count = op.count_padding ? tz.counted * ty.counted * tx.counted
                                                 : inside(tz) * inside(ty) * inside(tx);
          return static_cast<T>(average(sum, count));
        });
    return {};
  });
}

InferredTypes infer(const GlobalPooling& op, Operands in) {
  const std::string_view name = GlobalPooling::kName;
  CHECK_OK(require_inputs(name, in, 1, 1));
  CHECK_OK(require_pool_type(name, op.kind, in[0].type.type));
  CHECK_OK(require_rank(name, in[0].type.dims, 3));
  Dims y = in[0].type.dims;
  std::fill(y.begin() + 2, y.end(), 1);
  return std::vector<TensorType>{{in[0].type.type, y}};
}

Status reference(const GlobalPooling& op, ReferenceInputs in, ReferenceOutputs out) {
  const int64_t planes = out[0].size();
  if (planes == 0) return {};
  const int64_t plane = in[0]->size() / planes;
  return with_number_type(in[0]->type(), [&](auto type) -> Status {
    using T = decltype(type);
    const T* x = elements<T>(*in[0]);
    T* y = elements<T>(out[0]);
    row_ranges(planes, plane, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        T largest = smallest<T>();
        double sum = 0;
        for (const T& value : std::span(x + i * plane, static_cast<size_t>(plane))) {
          largest = larger(largest, value);
          sum += static_cast<double>(value);
        }
        y[i] = op.kind == PoolKind::max ? largest : static_cast<T>(average(sum, plane));
      }
    });
    return {};
  });
}

}  // namespace enginery
