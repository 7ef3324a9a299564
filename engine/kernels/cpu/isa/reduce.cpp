// Reductions over the middle of [outer, size, inner]: rows (inner 1) by a vector reduction, the
// others by adding rows. Reads each element once, for log_sum_exp twice. A global average over a
// channels-last picture is [n, h * w, channels].
#include "engine/kernels/cpu/isa/reduce.h"
#include "engine/kernels/cpu/isa/numbers.h"

namespace enginery {
namespace {

template <CpuReduction kKind, typename T>
inline T joined(T acc, T x) {
  if constexpr (kKind == CpuReduction::max) return larger(acc, x);
  if constexpr (kKind == CpuReduction::min) return smaller(acc, x);
  if constexpr (kKind == CpuReduction::sum_square) return acc + x * x;
  if constexpr (kKind == CpuReduction::prod) return product_of(acc, x);
  if constexpr (kKind == CpuReduction::l1) return acc + __builtin_fabsf(x);
  return sum_of(acc, x);
}

template <CpuReduction kKind, typename T>
constexpr T first() {
  if (kKind == CpuReduction::max) return Numbers<T>::kLeast;
  if (kKind == CpuReduction::min) return Numbers<T>::kMost;
  return static_cast<T>(kKind == CpuReduction::prod ? 1 : 0);
}

// A sum of floats times `factor`, by which it becomes a mean.
inline float weighed(float v, float factor) {
  return v * factor;
}
template <typename T>
inline T weighed(T v, float) {
  return v;
}

template <CpuReduction kKind, typename T>
T reduce_row(const T* in, int64_t size) {
  T lanes[kWidth * 2];
  for (int i = 0; i < 2 * kWidth; ++i) lanes[i] = first<kKind, T>();
  int64_t s = 0;
  for (; s + 2 * kWidth <= size; s += 2 * kWidth) {
    for (int i = 0; i < 2 * kWidth; ++i) lanes[i] = joined<kKind>(lanes[i], in[s + i]);
  }
  T total = first<kKind, T>();
  for (; s < size; ++s) total = joined<kKind>(total, in[s]);
  // Lanes hold sums already, of squares or sizes.
  constexpr bool kAdds = kKind == CpuReduction::sum_square || kKind == CpuReduction::l1;
  constexpr CpuReduction kJoin = kAdds ? CpuReduction::sum : kKind;
  for (int i = 0; i < 2 * kWidth; ++i) total = joined<kJoin>(total, lanes[i]);
  return total;
}

constexpr int64_t kReduceBlock = 64;

template <CpuReduction kKind, typename T>
void reduce_columns(const T* in, T* out, int64_t size, int64_t inner, int64_t width, float factor) {
  T acc[kReduceBlock];
  if (width == kReduceBlock) {
    for (int i = 0; i < kReduceBlock; ++i) acc[i] = first<kKind, T>();
    for (int64_t s = 0; s < size; ++s) {
      for (int i = 0; i < kReduceBlock; ++i) acc[i] = joined<kKind>(acc[i], in[s * inner + i]);
    }
  } else {
    for (int64_t i = 0; i < width; ++i) acc[i] = first<kKind, T>();
    for (int64_t s = 0; s < size; ++s) {
      for (int64_t i = 0; i < width; ++i) acc[i] = joined<kKind>(acc[i], in[s * inner + i]);
    }
  }
  for (int64_t i = 0; i < width; ++i) out[i] = weighed(acc[i], factor);
}

// log(sum of e^x) of one row, its maximum taken out first.
float log_sum_exp_row(const float* in, int64_t size) {
  const float peak = reduce_row<CpuReduction::max>(in, size);
  if (!__builtin_isfinite(peak)) return peak;
  float total = 0;
#pragma omp simd reduction(+ : total)
  for (int64_t s = 0; s < size; ++s) total += fast_exp_or_zero(in[s] - peak);
  return peak + __builtin_logf(total);
}

// The same of up to kReduceBlock columns.
void log_sum_exp_columns(const float* in, float* out, int64_t size, int64_t inner, int64_t width) {
  float peak[kReduceBlock], total[kReduceBlock] = {};
  reduce_columns<CpuReduction::max>(in, peak, size, inner, width, 1);
  for (int64_t s = 0; s < size; ++s) {
#pragma omp simd
    for (int64_t i = 0; i < width; ++i) total[i] += fast_exp_or_zero(in[s * inner + i] - peak[i]);
  }
  for (int64_t i = 0; i < width; ++i)
    out[i] = __builtin_isfinite(peak[i]) ? peak[i] + __builtin_logf(total[i]) : peak[i];
}

template <CpuReduction kKind, typename T>
void reduce_all(const ReduceArguments& a, float factor) {
  const T* from = static_cast<const T*>(a.in);
  T* to = static_cast<T*>(a.out);
  bool parallel = a.outer * a.size * a.inner > 2 * kMinParallelWork;
  if (a.inner == 1) {
#pragma omp parallel for schedule(static) if (parallel)
    for (int64_t o = 0; o < a.outer; ++o) {
      const T* row = from + o * a.size;
      if constexpr (kKind == CpuReduction::log_sum_exp)
        to[o] = log_sum_exp_row(row, a.size);
      else
        to[o] = weighed(reduce_row<kKind>(row, a.size), factor);
    }
    return;
  }
  int64_t blocks = (a.inner + kReduceBlock - 1) / kReduceBlock;
#pragma omp parallel for schedule(static) if (parallel)
  for (int64_t task = 0; task < a.outer * blocks; ++task) {
    int64_t o = task / blocks, i = task % blocks * kReduceBlock;
    const T* in = from + o * a.size * a.inner + i;
    T* out = to + o * a.inner + i;
    const int64_t width = least(kReduceBlock, a.inner - i);
    if constexpr (kKind == CpuReduction::log_sum_exp)
      log_sum_exp_columns(in, out, a.size, a.inner, width);
    else
      reduce_columns<kKind>(in, out, a.size, a.inner, width, factor);
  }
}

// The kinds that every type has.
template <typename T>
void reduce_numbers(const ReduceArguments& a) {
  switch (a.kind) {
    case CpuReduction::max:
      return reduce_all<CpuReduction::max, T>(a, 1);
    case CpuReduction::min:
      return reduce_all<CpuReduction::min, T>(a, 1);
    case CpuReduction::prod:
      return reduce_all<CpuReduction::prod, T>(a, 1);
    default:
      return reduce_all<CpuReduction::sum, T>(a, 1);
  }
}

}  // namespace

void ENGINERY_KERNEL(reduce)(const ReduceArguments& a) {
  if (a.type == NumberType::int32) return reduce_numbers<int32_t>(a);
  if (a.type == NumberType::int64) return reduce_numbers<int64_t>(a);
  switch (a.kind) {
    case CpuReduction::mean:
      return reduce_all<CpuReduction::sum, float>(a, 1.0f / static_cast<float>(a.size));
    case CpuReduction::sum_square:
      return reduce_all<CpuReduction::sum_square, float>(a, 1);
    case CpuReduction::l1:
      return reduce_all<CpuReduction::l1, float>(a, 1);
    case CpuReduction::log_sum_exp:
      return reduce_all<CpuReduction::log_sum_exp, float>(a, 1);
    default:
      return reduce_numbers<float>(a);
  }
}

}  // namespace enginery
