// The emulator's instructions on matrices: ldmatrix, mma.sync and wgmma.
//
// Part of emulator.h, which includes it behind the warps and conversions that it needs.
#pragma once

inline void load_matrices(unsigned (&r)[4], const void* p) {
  emulator::Lanes& lanes = emulator::lanes();
  unsigned lane = emulator::lane();
  lanes.pointer[lane] = p;
  __syncwarp();
  for (unsigned i = 0; i < 4; ++i) {
    std::memcpy(&r[i], static_cast<const char*>(lanes.pointer[i * 8 + lane / 4]) + lane % 4 * 4, 4);
  }
  __syncwarp();
}
inline void load_matrices_transposed(unsigned (&r)[4], const void* p) {
  emulator::Lanes& lanes = emulator::lanes();
  unsigned lane = emulator::lane();
  lanes.pointer[lane] = p;
  __syncwarp();
  for (unsigned i = 0; i < 4; ++i) {
    unsigned short pair[2];
    for (unsigned j = 0; j < 2; ++j) {
      const void* row = lanes.pointer[i * 8 + lane % 4 * 2 + j];
      pair[j] = static_cast<const unsigned short*>(row)[lane / 4];
    }
    r[i] = pair[0] | static_cast<unsigned>(pair[1]) << 16;
  }
  __syncwarp();
}
namespace emulator {
// Byte `i` of four.
template <bool kUnsigned>
int byte_of(unsigned word, unsigned i) {
  const unsigned byte = word >> i % 4 * 8 & 255u;
  return kUnsigned ? static_cast<int>(byte) : static_cast<signed char>(byte);
}
// d += a * b with elements taken from the fragments of all lanes.
template <int K, typename Sum, typename A, typename B>
void multiply(Sum (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1, A&& element_a,
              B&& element_b) {
  Lanes& all = lanes();
  std::memcpy(all.a[lane()], a, sizeof all.a[0]);
  all.b[lane()][0] = b0, all.b[lane()][1] = b1;
  __syncwarp();
  for (unsigned i = 0; i < 4; ++i) {
    unsigned row = lane() / 4 + i / 2 * 8, column = lane() % 4 * 2 + i % 2;
    Sum sum = 0;
    for (unsigned k = 0; k < K; ++k) sum += element_a(all, row, k) * element_b(all, k, column);
    d[i] += sum;
  }
  __syncwarp();
}
template <float (*kToFloat)(unsigned short)>
void multiply_short(float (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  auto half = [](unsigned word, unsigned which) {
    return kToFloat(static_cast<unsigned short>(word >> 16 * which));
  };
  emulator::multiply<16>(
      d, a, b0, b1,
      [&](const Lanes& l, unsigned row, unsigned k) {
        return half(l.a[row % 8 * 4 + k % 8 / 2][k / 8 * 2 + row / 8], k % 2);
      },
      [&](const Lanes& l, unsigned k, unsigned n) {
        return half(l.b[n * 4 + k % 8 / 2][k / 8], k % 2);
      });
}
}  // namespace emulator
inline void multiply_half(float (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  emulator::multiply_short<half_to_float>(d, a, b0, b1);
}
inline void multiply_bfloat(float (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  emulator::multiply_short<bfloat_to_float>(d, a, b0, b1);
}
inline void multiply_tf32(float (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  using emulator::Lanes;
  emulator::multiply<8>(
      d, a, b0, b1,
      [](const Lanes& l, unsigned row, unsigned k) {
        return emulator::tf32(emulator::float_of(l.a[row % 8 * 4 + k % 4][k / 4 * 2 + row / 8]));
      },
      [](const Lanes& l, unsigned k, unsigned n) {
        return emulator::float_of(l.b[n * 4 + k % 4][k / 4]);
      });
}
template <bool kUnsigned>
void multiply_bytes(int (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  using emulator::Lanes;
  emulator::multiply<32>(
      d, a, b0, b1,
      [](const Lanes& l, unsigned row, unsigned k) {
        return emulator::byte_of<kUnsigned>(l.a[row % 8 * 4 + k % 16 / 4][k / 16 * 2 + row / 8], k);
      },
      [](const Lanes& l, unsigned k, unsigned n) {
        return emulator::byte_of<false>(l.b[n * 4 + k % 16 / 4][k / 16], k);
      });
}
// wgmma reads its operands at any time between its start and the wait: bytes that are others then
// than at the start give sums that no test takes for right.
inline void show_copies() {}
template <typename Sums>
void begin_products(Sums&) {}
inline void commit_products() {
  emulator::current->running.push_back(std::move(emulator::current->begun));
  emulator::current->begun.clear();
}
template <int kRunning, typename Sums>
void wait_products(Sums&) {
  auto& running = emulator::current->running;
  for (; running.size() > kRunning; running.erase(running.begin())) {
    for (const auto& product : running.front()) product();
  }
}
namespace emulator {
// 32 bytes along K of `row`, out of rows whose 16 bytes are swizzled by the bits of their address.
template <int kRowBytes>
void read_swizzled(const void* matrix, unsigned row, unsigned char (&to)[32]) {
  for (unsigned half = 0; half < 2; ++half) {
    auto at = reinterpret_cast<uintptr_t>(matrix) + row * kRowBytes + 16 * half;
    at ^= (at >> 7 & (kRowBytes == 128 ? 7 : 3)) << 4;
    std::memcpy(to + 16 * half, reinterpret_cast<const void*>(at), 16);
  }
}
template <typename T, typename Sum>
Sum product_of(const unsigned char (&a)[32], const unsigned char (&b)[32]) {
  Sum sum = 0;
  for (unsigned k = 0; k < 32 / sizeof(T); ++k) {
    if constexpr (sizeof(T) == 1) {
      sum += static_cast<T>(a[k]) * static_cast<signed char>(b[k]);
    } else {
      T x, y;
      std::memcpy(&x, a + 2 * k, 2), std::memcpy(&y, b + 2 * k, 2);
      sum += to_float(x) * to_float(y);
    }
  }
  return sum;
}
template <typename T, int kRowBytes, typename Sum, int N>
void multiply_group(Sum (&d)[N][4], const void* a, const void* b) {
  const unsigned thread = current->thread.x;
  const auto multiply = [=](Sum(*to)[4]) {
    for (unsigned i = 0; i < N * 4; ++i) {
      unsigned char rows[2][32];
      read_swizzled<kRowBytes>(a, thread / 32 % 4 * 16 + i % 4 / 2 * 8 + thread % 32 / 4, rows[0]);
      read_swizzled<kRowBytes>(b, i / 4 * 8 + thread % 4 * 2 + i % 2, rows[1]);
      to[i / 4][i % 4] = product_of<T, Sum>(rows[0], rows[1]);
    }
  };
  struct Sums {
    Sum of[N][4];
  };
  auto early = std::make_shared<Sums>();
  multiply(early->of);
  current->begun.push_back([&d, multiply, early] {
    Sums late;
    multiply(late.of);
    constexpr Sum kWrong = static_cast<Sum>(1 << 30);
    for (unsigned i = 0; i < N * 4; ++i) {
      const Sum sum = late.of[i / 4][i % 4];
      d[i / 4][i % 4] += sum == early->of[i / 4][i % 4] || sum != sum ? sum : kWrong;
    }
  });
}
}  // namespace emulator
