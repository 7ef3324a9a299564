// Products of averages in one launch: threads share the channels, meet, and share the columns.
//
// Bytes: the picture once, the weights once; the averages stay in a core's cache.
#include "engine/kernels/cpu/isa/products/averaged_product.h"

#include "engine/kernels/cpu/isa/products/gemv_rows.h"

namespace enginery {
namespace {

constexpr int kAveragedVectors = 4;  // of channels side by side: whole cache lines of each pixel
constexpr int64_t kAveragedBlock = kAveragedVectors * kWidth;

// The averages of up to kAveragedBlock channels that lie as vectors, from `at` on.
void average_vectors(const AveragedProductArguments& a, const float* at, int64_t channels,
                     float* out) {
  const float factor = 1.0f / static_cast<float>(a.pixels);
  if (channels == kAveragedBlock) {
    Vector acc[kAveragedVectors] = {};
    for (int64_t p = 0; p < a.pixels; ++p) {
#pragma GCC unroll 4
      for (int v = 0; v < kAveragedVectors; ++v)
        acc[v] += load(at + p * a.in_pixel + v * a.in_vector);
    }
    for (int v = 0; v < kAveragedVectors; ++v) store(out + v * kWidth, acc[v] * factor);
    return;
  }
  for (int64_t c = 0; c < channels; ++c) {
    const float* from = at + c / kWidth * a.in_vector + c % kWidth;
    float sum = 0;
    for (int64_t p = 0; p < a.pixels; ++p) sum += from[p * a.in_pixel];
    out[c] = sum / static_cast<float>(a.pixels);
  }
}

// Of channels whose pixels lie side by side.
void average_planes(const AveragedProductArguments& a, const float* plane, int64_t channels,
                    float* out) {
  for (int64_t c = 0; c < channels; ++c, plane += a.pixels) {
    Vector acc[2] = {};
    int64_t p = 0;
    for (; p + 2 * kWidth <= a.pixels; p += 2 * kWidth) {
      acc[0] += load(plane + p);
      acc[1] += load(plane + p + kWidth);
    }
    float sum = sum_of(acc[0] + acc[1]);
    for (; p < a.pixels; ++p) sum += plane[p];
    out[c] = sum / static_cast<float>(a.pixels);
  }
}

// The averages of a block of channels.
void average_block(const AveragedProductArguments& a, int64_t image, int64_t block) {
  const int64_t first = block * kAveragedBlock,
                channels = least(kAveragedBlock, a.product.k - first);
  const float* picture = a.in + image * a.in_image;
  float* out = a.averages + image * a.product.k + first;
  if (a.planes)
    average_planes(a, picture + first * a.pixels, channels, out);
  else
    average_vectors(a, picture + first / kWidth * a.in_vector, channels, out);
}

}  // namespace

void ENGINERY_KERNEL(averaged_product)(const AveragedProductArguments& a) {
  GemvArguments product = a.product;
  product.x = a.averages;
  const int64_t blocks = (product.k + kAveragedBlock - 1) / kAveragedBlock,
                groups = gemv_groups(product);
  const int64_t work = product.m * product.k * a.pixels + product.n * product.k;
#pragma omp parallel if (work > 2 * kMinParallelWork)
  {
#pragma omp for schedule(static)
    for (int64_t i = 0; i < product.m * blocks; ++i) average_block(a, i / blocks, i % blocks);
#pragma omp for schedule(static)
    for (int64_t group = 0; group < groups; ++group) run_gemv_group(product, group);
  }
}

}  // namespace enginery
