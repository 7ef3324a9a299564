// Places of extremes: 64 neighbouring lanes at a time, so that the innermost loop is vector code;
// rows (inner 1) one after the other.
#include "engine/kernels/cpu/isa/arg_extreme.h"
#include "engine/kernels/cpu/isa/simd.h"

namespace enginery {
namespace {

template <bool kLargest, bool kLast, typename T>
inline bool beats(T candidate, T holder) {
  const bool better = kLargest ? candidate > holder : candidate < holder;
  return kLast ? better || candidate == holder : better;
}

constexpr int64_t kLanes = 64;

// Of `width` lanes, at most kLanes.
template <bool kLargest, bool kLast, typename T>
void extreme_columns(const T* __restrict in, int64_t* __restrict out, int64_t size, int64_t inner,
                     int64_t width) {
  T best[kLanes];
  int32_t place[kLanes];
  for (int64_t i = 0; i < width; ++i) best[i] = in[i], place[i] = 0;
  for (int64_t s = 1; s < size; ++s) {
    const T* row = in + s * inner;
    const auto at = static_cast<int32_t>(s);
#pragma omp simd
    for (int64_t i = 0; i < width; ++i) {
      const bool wins = beats<kLargest, kLast>(row[i], best[i]);
      best[i] = wins ? row[i] : best[i];
      place[i] = wins ? at : place[i];
    }
  }
  for (int64_t i = 0; i < width; ++i) out[i] = place[i];
}

template <bool kLargest, bool kLast, typename T>
int64_t extreme_of_row(const T* __restrict in, int64_t size) {
  int64_t place = 0;
  for (int64_t s = 1; s < size; ++s)
    if (beats<kLargest, kLast>(in[s], in[place])) place = s;
  return place;
}

template <bool kLargest, bool kLast, typename T>
void extremes(const ArgExtremeArguments& a) {
  const T* in = static_cast<const T*>(a.in);
  const bool parallel = a.outer * a.size * a.inner > kMinParallelWork;
  if (a.inner == 1) {
#pragma omp parallel for schedule(static) if (parallel)
    for (int64_t o = 0; o < a.outer; ++o)
      a.out[o] = extreme_of_row<kLargest, kLast>(in + o * a.size, a.size);
    return;
  }
  const int64_t blocks = (a.inner + kLanes - 1) / kLanes;
#pragma omp parallel for schedule(static) if (parallel)
  for (int64_t task = 0; task < a.outer * blocks; ++task) {
    const int64_t o = task / blocks, i = task % blocks * kLanes;
    extreme_columns<kLargest, kLast>(in + o * a.size * a.inner + i, a.out + o * a.inner + i, a.size,
                                     a.inner, least(kLanes, a.inner - i));
  }
}

template <typename T>
void extremes_of(const ArgExtremeArguments& a) {
  if (a.largest) return a.last ? extremes<true, true, T>(a) : extremes<true, false, T>(a);
  return a.last ? extremes<false, true, T>(a) : extremes<false, false, T>(a);
}

}  // namespace

void ENGINERY_KERNEL(arg_extreme)(const ArgExtremeArguments& a) {
  switch (a.element) {
    case ArgExtremeElement::float32:
      return extremes_of<float>(a);
    case ArgExtremeElement::int32:
      return extremes_of<int32_t>(a);
    case ArgExtremeElement::int64:
      return extremes_of<int64_t>(a);
  }
}

}  // namespace enginery
