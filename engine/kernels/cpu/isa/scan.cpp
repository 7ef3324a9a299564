// Running sums: lanes side by side where the dimension is not the last, so that each step is vector
// code; else one sum that waits for the one before, a lane a thread.
#include "engine/kernels/cpu/isa/scan.h"
#include "engine/kernels/cpu/isa/simd.h"

namespace enginery {
namespace {

constexpr int64_t kScanLanes = 64;

// `n` lanes, whose steps lie `step` elements apart (downwards where it is negative).
template <typename T, typename Sum>
void scan_lanes(const T* __restrict in, T* __restrict out, int64_t n, int64_t size, int64_t step,
                bool exclusive) {
  Sum sums[kScanLanes] = {};
  for (int64_t i = 0; i < size; ++i, in += step, out += step) {
    if (exclusive) {
#pragma omp simd
      for (int64_t lane = 0; lane < n; ++lane) {
        const Sum before = sums[lane];
        sums[lane] += static_cast<Sum>(in[lane]);
        out[lane] = static_cast<T>(before);
      }
    } else {
#pragma omp simd
      for (int64_t lane = 0; lane < n; ++lane) {
        sums[lane] += static_cast<Sum>(in[lane]);
        out[lane] = static_cast<T>(sums[lane]);
      }
    }
  }
}

template <typename T, typename Sum>
void scan_lane(const T* in, T* out, int64_t size, int64_t step, bool exclusive) {
  Sum sum = 0;
  for (int64_t i = 0; i < size; ++i) {
    const Sum before = sum;
    sum += static_cast<Sum>(in[i * step]);
    out[i * step] = static_cast<T>(exclusive ? before : sum);
  }
}

template <typename T, typename Sum>
void scan_all(const ScanArguments& a) {
  const int64_t pieces = (a.inner + kScanLanes - 1) / kScanLanes, plane = a.size * a.inner,
                first = a.reverse ? plane - a.inner : 0, step = a.reverse ? -a.inner : a.inner;
#pragma omp parallel for schedule(static) if (a.outer * plane > kMinParallelWork)
  for (int64_t task = 0; task < a.outer * pieces; ++task) {
    const int64_t lane = task % pieces * kScanLanes, n = least(kScanLanes, a.inner - lane),
                  at = task / pieces * plane + first + lane;
    const T* in = static_cast<const T*>(a.in) + at;
    T* out = static_cast<T*>(a.out) + at;
    if (n == 1)
      scan_lane<T, Sum>(in, out, a.size, step, a.exclusive);
    else
      scan_lanes<T, Sum>(in, out, n, a.size, step, a.exclusive);
  }
}

}  // namespace

void ENGINERY_KERNEL(scan)(const ScanArguments& a) {
  switch (a.type) {
    case NumberType::float32:
      return scan_all<float, double>(a);
    case NumberType::int32:
      return scan_all<int32_t, uint32_t>(a);
    case NumberType::int64:
      return scan_all<int64_t, uint64_t>(a);
  }
}

}  // namespace enginery
