// LRN across the channels of one pixel at a time: squares once, a window sum of `size` shifted
// reads from L1, the power by square roots for the usual 0.75 and 0.5.
#include "engine/kernels/cpu/isa/lrn.h"
#include "engine/kernels/cpu/isa/simd.h"

namespace enginery {
namespace {

constexpr int64_t kLrnBlock = 256, kMaxReach = 16;

inline float power(float base, float beta) {
  if (beta == 0.75f) {
    float root = __builtin_sqrtf(base);
    return 1.0f / (root * __builtin_sqrtf(root));
  }
  if (beta == 0.5f) return 1.0f / __builtin_sqrtf(base);
  return __builtin_powf(base, -beta);
}

// Channels [c, c + width) of one pixel.
void lrn_block(const LrnArguments& a, const float* in, float* out, int64_t c, int64_t width) {
  float squares[kLrnBlock + 2 * kMaxReach];
  int64_t before = (a.size - 1) / 2;
  for (int64_t i = 0; i < width + a.size - 1; ++i) {
    int64_t at = c + i - before;
    float x = at >= 0 && at < a.channels ? in[at] : 0.0f;
    squares[i] = x * x;
  }
  float factor = a.alpha / static_cast<float>(a.size);
  float sum[kLrnBlock];
  for (int64_t i = 0; i < width; ++i) sum[i] = squares[i];
  for (int64_t s = 1; s < a.size; ++s) {
    for (int64_t i = 0; i < width; ++i) sum[i] += squares[i + s];
  }
  if (a.beta == 0.75f) {
    for (int64_t i = 0; i < width; ++i)
      out[c + i] = in[c + i] * power(a.bias + factor * sum[i], 0.75f);
  } else {
    for (int64_t i = 0; i < width; ++i)
      out[c + i] = in[c + i] * power(a.bias + factor * sum[i], a.beta);
  }
}

}  // namespace

void ENGINERY_KERNEL(lrn)(const LrnArguments& a) {
#pragma omp parallel for schedule(static) if (a.pixels * a.channels > kMinParallelWork)
  for (int64_t p = 0; p < a.pixels; ++p) {
    const float* in = a.in + p * a.channels;
    float* out = a.out + p * a.channels;
    for (int64_t c = 0; c < a.channels; c += kLrnBlock)
      lrn_block(a, in, out, c, least(kLrnBlock, a.channels - c));
  }
}

}  // namespace enginery
