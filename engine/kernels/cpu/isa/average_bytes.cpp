// Averages of bytes, channels last. A block of channels of one output pixel at a time: sums in 16
// bits, which hold those of 256 pixels, then in 32. Reads each input byte once a window it lies in,
// writes each output once. Numbers of int8 are taken as uint8 that are 128 larger.
#include "engine/kernels/cpu/isa/average_bytes.h"

#include "engine/kernels/cpu/isa/simd.h"
#include "engine/kernels/cpu/isa/windows.h"

namespace enginery {
namespace {

constexpr int64_t kBlock = 128;     // channels
constexpr int kWords = kWidth * 2;  // 16-bit sums of a vector
constexpr int kMostIn16Bits = 256;

typedef uint16_t Words __attribute__((vector_size(kWords * 2)));
typedef uint8_t HalfBytes __attribute__((vector_size(kWords)));
typedef uint8_t StoredBytes __attribute__((vector_size(kWords), aligned(1), may_alias));

// Both dimensions of one output pixel's window, and the factor of its sums.
struct Window {
  Span y, x;
  float factor;
};

// f(bytes of one input pixel) for every place of the window inside the image.
template <typename F>
inline void for_each_pixel(const AverageBytesArguments& a, const uint8_t* image, const Window& w,
                           F&& f) {
  for (int64_t ky = w.y.begin; ky < w.y.end; ++ky) {
    const int64_t row = (w.y.origin + ky * a.dilation_h) * a.in_w + w.x.origin;
    for (int64_t kx = w.x.begin; kx < w.x.end; ++kx)
      f(image + (row + kx * a.dilation_w) * a.channels);
  }
}

// The sums of kVectors vectors of channels.
template <int kVectors>
inline void add_vectors(const AverageBytesArguments& a, const uint8_t* image, const Window& w,
                        uint8_t flip, int32_t* sums) {
  Words part[kVectors] = {};
  int count = 0;
  const auto empty_part = [&] {
    for (int v = 0; v < kVectors; ++v) {
      for (int i = 0; i < kWords; ++i) sums[v * kWords + i] += part[v][i];
      part[v] = Words{};
    }
    count = 0;
  };
  for (int64_t i = 0; i < kVectors * kWords; ++i) sums[i] = 0;
  for_each_pixel(a, image, w, [&](const uint8_t* pixel) {
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) {
      const HalfBytes bytes = *reinterpret_cast<const StoredBytes*>(pixel + v * kWords);
      part[v] += __builtin_convertvector(bytes ^ flip, Words);
    }
    if (++count == kMostIn16Bits) empty_part();
  });
  empty_part();
}

inline void add_block(const AverageBytesArguments& a, const uint8_t* image, const Window& w,
                      int64_t width, int32_t* sums) {
  const auto flip = static_cast<uint8_t>(a.is_signed ? 0x80 : 0);
  if (width == kBlock) return add_vectors<kBlock / kWords>(a, image, w, flip, sums);
  int64_t c = 0;
  for (; c + kWords <= width; c += kWords) add_vectors<1>(a, image + c, w, flip, sums + c);
  for (; c < width; ++c) {
    sums[c] = 0;
    for_each_pixel(a, image + c, w,
                   [&](const uint8_t* pixel) { sums[c] += static_cast<uint8_t>(*pixel ^ flip); });
  }
}

inline void average_block(const AverageBytesArguments& a, const uint8_t* image, const Window& w,
                          int64_t width, int64_t at) {
  int32_t sums[kBlock];
  add_block(a, image, w, width, sums);
  const int64_t places = (w.y.end - w.y.begin) * (w.x.end - w.x.begin);
  const auto shift = static_cast<int32_t>(places * (a.zero + (a.is_signed ? 128 : 0)));
  if (!a.to_bytes) {
    float* out = static_cast<float*>(a.out) + at;
    for (int64_t i = 0; i < width; ++i) out[i] = static_cast<float>(sums[i] - shift) * w.factor;
    return;
  }
  const auto back = static_cast<uint8_t>(a.result_signed ? 0x80 : 0);
  const float up = a.result_signed ? 128.0f : 0.0f;
  const float zero = a.result_zero + up, low = a.low + up, high = a.high + up;
  uint8_t* out = static_cast<uint8_t*>(a.out) + at;
#pragma omp simd
  for (int64_t i = 0; i < width; ++i) {
    float q = __builtin_nearbyintf(static_cast<float>(sums[i] - shift) * w.factor) + zero;
    q = q < low ? low : q;
    q = q > high ? high : q;
    out[i] = static_cast<uint8_t>(static_cast<uint8_t>(static_cast<int32_t>(q)) ^ back);
  }
}

}  // namespace

void ENGINERY_KERNEL(average_bytes)(const AverageBytesArguments& a) {
  const int64_t blocks = (a.channels + kBlock - 1) / kBlock, rows = a.n * a.out_h;
  const int64_t work = rows * a.out_w * a.channels * a.kernel_h * a.kernel_w;
#pragma omp parallel for schedule(static) if (work > 16 * kMinParallelWork)
  for (int64_t task = 0; task < rows * blocks; ++task) {
    const int64_t row = task / blocks, c = task % blocks * kBlock;
    const auto* image =
        static_cast<const uint8_t*>(a.in) + row / a.out_h * a.in_h * a.in_w * a.channels + c;
    const int64_t width = least(kBlock, a.channels - c);
    Window w{};
    w.y = span_of(row % a.out_h, a.stride_h, a.pad_h, a.dilation_h, a.kernel_h, a.in_h);
    for (int64_t ox = 0; ox < a.out_w; ++ox) {
      w.x = span_of(ox, a.stride_w, a.pad_w, a.dilation_w, a.kernel_w, a.in_w);
      const int64_t places =
          counted(w.y, a.kernel_h, a.dilation_h, a.in_h, a.pad_end_h, a.count_padding) *
          counted(w.x, a.kernel_w, a.dilation_w, a.in_w, a.pad_end_w, a.count_padding);
      w.factor = a.factor / static_cast<float>(most(places, 1));
      average_block(a, image, w, width, (row * a.out_w + ox) * a.channels + c);
    }
  }
}

}  // namespace enginery
