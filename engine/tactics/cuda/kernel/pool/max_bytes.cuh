// Maxima over windows of R x S numbers of 8 bits, NHWC.
//
// A thread computes 16 channels of one output, in pairs of 16 bits: a number of 8 bits is the bits
// of a small half, and halves are in the order of their bits. Signed numbers are shifted to
// unsigned ones. Loads of a window do not wait for one another. Bytes moved an element: R * S reads
// from the L1, each input about once from memory. Serves every SM; pairs at a time from 80 on.

__device__ __forceinline__ unsigned larger_pair(unsigned a, unsigned b) {
#if !defined(ENGINERY_EMULATE) && __CUDA_ARCH__ >= 800
  unsigned out;
  asm("max.f16x2 %0, %1, %2;" : "=r"(out) : "r"(a), "r"(b));
  return out;
#else
  const unsigned low = (a & 0xffffu) > (b & 0xffffu) ? a : b;
  const unsigned high = a >> 16 > b >> 16 ? a : b;
  return (low & 0xffffu) | (high & 0xffff0000u);
#endif
}

// What turns signed numbers into unsigned ones of the same order, and back.
constexpr unsigned kSigns = static_cast<TX>(-1) < 0 ? 0x80808080u : 0u;

// The largest of 4 numbers each, those at even and at odd places apart.
struct Maxima {
  unsigned even, odd;
};
__device__ __forceinline__ void take_larger(Maxima& m, unsigned word) {
  word ^= kSigns;
  m.even = larger_pair(m.even, word & 0x00ff00ffu);
  m.odd = larger_pair(m.odd, word >> 8 & 0x00ff00ffu);
}
// Channels from `count` on are padding: zeros.
__device__ __forceinline__ unsigned word_of(const Maxima& m, int count) {
  const unsigned word = (m.even | m.odd << 8) ^ kSigns;
  if (count >= 4) return word;
  return count <= 0 ? 0u : word & ((1u << 8 * count) - 1u);
}

extern "C" __global__ void __launch_bounds__(128) kernel(const WindowArgs a) {
  await_predecessors();
  const int i = static_cast<int>(blockIdx.x) * 128 + threadIdx.x;
  if (i >= a.total) return;
  const unsigned pixel = divide(static_cast<unsigned>(i), a.by_vectors);
  const int c = (i - static_cast<int>(pixel * a.by_vectors.divisor)) * 16;
  const unsigned row = divide(pixel, a.by_strips);
  const int q = static_cast<int>(pixel - row * a.by_strips.divisor);
  const unsigned n = divide(row, a.by_p);
  const int p = static_cast<int>(row - n * a.by_p.divisor);
  const int h0 = p * a.stride_h - a.pad_h, x0 = q * a.stride_w - a.pad_w;
  const TX* x = static_cast<const TX*>(a.x) +
                ((static_cast<long long>(n) * a.h + h0) * a.width + x0) * a.c + c;
  Bytes16 window[R * S];
#pragma unroll
  for (int j = 0; j < R * S; ++j) {
    const int h = j / S * a.dilation_h, w = j % S * a.dilation_w;
    const bool inside = static_cast<unsigned>(h0 + h) < static_cast<unsigned>(a.h) &&
                        static_cast<unsigned>(x0 + w) < static_cast<unsigned>(a.width);
    window[j] = Bytes16{kSigns, kSigns, kSigns, kSigns};  // the least number
    if (inside)
      window[j] =
          *reinterpret_cast<const Bytes16*>(x + (static_cast<long long>(h) * a.width + w) * a.c);
  }
  Maxima m[4] = {};
#pragma unroll
  for (int j = 0; j < R * S; ++j) {
    take_larger(m[0], window[j].a), take_larger(m[1], window[j].b);
    take_larger(m[2], window[j].c), take_larger(m[3], window[j].d);
  }
  const int count = a.channels - c;
  *reinterpret_cast<Bytes16*>(static_cast<TY*>(a.y) + static_cast<long long>(pixel) * a.c + c) =
      Bytes16{word_of(m[0], count), word_of(m[1], count - 4), word_of(m[2], count - 8),
              word_of(m[3], count - 12)};
}
