// What every kernel's text begins with: element types, vectors of them as floats, division by
// precomputed divisors. Serves every SM; needs no header of CUDA's.

#ifndef INFINITY
#define INFINITY __int_as_float(0x7f800000)
#endif

// fmaxf and fminf would lose NaN: an overflow upstream must show in the result.
__device__ __forceinline__ float larger(float a, float b) {
  return a > b || a != a ? a : b;
}
__device__ __forceinline__ float smaller(float a, float b) {
  return a < b || a != a ? a : b;
}
__device__ __forceinline__ float clip(float x, float low, float high) {
  x = x < low ? low : x;
  return x > high ? high : x;
}

struct half_t {
  unsigned short bits;
};
struct bfloat_t {
  unsigned short bits;
};

struct alignas(8) Floats2 {
  float a, b;
};
struct alignas(8) Bytes8 {
  unsigned a, b;
};
struct alignas(16) Bytes16 {
  unsigned a, b, c, d;
};

#ifndef ENGINERY_EMULATE
__device__ __forceinline__ float half_to_float(unsigned short h) {
  float f;
  asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(h));
  return f;
}
__device__ __forceinline__ unsigned short float_to_half(float f) {
  unsigned short h;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h) : "f"(f));
  return h;
}
__device__ __forceinline__ float bfloat_to_float(unsigned short b) {
  return __uint_as_float(static_cast<unsigned>(b) << 16);
}
__device__ __forceinline__ unsigned short float_to_bfloat(float f) {
#if __CUDA_ARCH__ >= 800
  unsigned short b;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(b) : "f"(f));
  return b;
#else
  const unsigned bits = __float_as_uint(f);
  if (f != f) return 0x7fff;
  return static_cast<unsigned short>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
#endif
}
__device__ __forceinline__ unsigned multiply_high(unsigned a, unsigned b) {
  return __umulhi(a, b);
}
#endif

// Every kernel calls it before it touches anything but its arguments and constants: what it reads
// or overwrites may belong to kernels that still run (launch_kernel.h). From SM 9.0 on the kernel
// itself waits for them, then lets its successor begin to do the same; the variable tells the host
// that the kernels of this module do so.
#if defined(ENGINERY_EMULATE)
// The emulator has its own, which counts.
#elif __CUDA_ARCH__ >= 900
extern "C" __device__ int awaits_predecessors = 1;
__device__ __forceinline__ void await_predecessors() {
  asm volatile("griddepcontrol.wait;" ::: "memory");
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}
#else
__device__ __forceinline__ void await_predecessors() {}
#endif

__device__ __forceinline__ unsigned divide(unsigned x, const Divisor& d) {
  return d.divisor == 1 ? x : multiply_high(x, d.multiplier) >> d.shift;
}

// The types of 16 bits: half_t and bfloat_t.
__device__ __forceinline__ float to_float(half_t h) {
  return half_to_float(h.bits);
}
__device__ __forceinline__ float to_float(bfloat_t b) {
  return bfloat_to_float(b.bits);
}
__device__ __forceinline__ void round_to(half_t& h, float f) {
  h.bits = float_to_half(f);
}
__device__ __forceinline__ void round_to(bfloat_t& b, float f) {
  b.bits = float_to_bfloat(f);
}

// Two of them in a word.
template <typename T>
__device__ __forceinline__ void unpack(unsigned word, float& low, float& high) {
  low = to_float(T{static_cast<unsigned short>(word & 0xffffu)});
  high = to_float(T{static_cast<unsigned short>(word >> 16)});
}
template <typename T>
__device__ __forceinline__ unsigned pack(float low, float high) {
  T l, h;
  round_to(l, low), round_to(h, high);
  return static_cast<unsigned>(l.bits) | static_cast<unsigned>(h.bits) << 16;
}

__device__ __forceinline__ float load_one(const float* p) {
  return *p;
}
template <typename T>
__device__ __forceinline__ float load_one(const T* p) {
  return to_float(*p);
}
__device__ __forceinline__ void store_one(float* p, float v) {
  *p = v;
}
template <typename T>
__device__ __forceinline__ void store_one(T* p, float v) {
  round_to(*p, v);
}

// V elements from a place aligned to min(V elements, 16 bytes), as floats. V: 1, 2, 4
// or 8.
template <int V>
__device__ __forceinline__ void load_vector(const float* p, float (&v)[V]) {
  if constexpr (V % 4 == 0) {
#pragma unroll
    for (int i = 0; i < V; i += 4) {
      float4 f = *reinterpret_cast<const float4*>(p + i);
      v[i] = f.x, v[i + 1] = f.y, v[i + 2] = f.z, v[i + 3] = f.w;
    }
  } else if constexpr (V == 2) {
    const Floats2 f = *reinterpret_cast<const Floats2*>(p);
    v[0] = f.a, v[1] = f.b;
  } else {
#pragma unroll
    for (int i = 0; i < V; ++i) v[i] = p[i];
  }
}
template <int V, typename T>
__device__ __forceinline__ void load_vector(const T* p, float (&v)[V]) {
  if constexpr (V == 8) {
    Bytes16 b = *reinterpret_cast<const Bytes16*>(p);
    unpack<T>(b.a, v[0], v[1]), unpack<T>(b.b, v[2], v[3]), unpack<T>(b.c, v[4], v[5]),
        unpack<T>(b.d, v[6], v[7]);
  } else if constexpr (V == 4) {
    Bytes8 b = *reinterpret_cast<const Bytes8*>(p);
    unpack<T>(b.a, v[0], v[1]), unpack<T>(b.b, v[2], v[3]);
  } else if constexpr (V == 2) {
    unpack<T>(*reinterpret_cast<const unsigned*>(p), v[0], v[1]);
  } else {
#pragma unroll
    for (int i = 0; i < V; ++i) v[i] = to_float(p[i]);
  }
}
template <int V>
__device__ __forceinline__ void store_vector(float* p, const float (&v)[V]) {
  if constexpr (V % 4 == 0) {
#pragma unroll
    for (int i = 0; i < V; i += 4)
      *reinterpret_cast<float4*>(p + i) = float4{v[i], v[i + 1], v[i + 2], v[i + 3]};
  } else if constexpr (V == 2) {
    *reinterpret_cast<Floats2*>(p) = Floats2{v[0], v[1]};
  } else {
#pragma unroll
    for (int i = 0; i < V; ++i) p[i] = v[i];
  }
}
template <int V, typename T>
__device__ __forceinline__ void store_vector(T* p, const float (&v)[V]) {
  if constexpr (V == 8) {
    *reinterpret_cast<Bytes16*>(p) =
        Bytes16{pack<T>(v[0], v[1]), pack<T>(v[2], v[3]), pack<T>(v[4], v[5]), pack<T>(v[6], v[7])};
  } else if constexpr (V == 4) {
    *reinterpret_cast<Bytes8*>(p) = Bytes8{pack<T>(v[0], v[1]), pack<T>(v[2], v[3])};
  } else if constexpr (V == 2) {
    *reinterpret_cast<unsigned*>(p) = pack<T>(v[0], v[1]);
  } else {
#pragma unroll
    for (int i = 0; i < V; ++i) round_to(p[i], v[i]);
  }
}

// V elements as they are in memory, for reading them long before they are needed.
template <typename T, int V>
struct alignas(V * sizeof(T) < 16 ? V * sizeof(T) : 16) RawVector {
  unsigned words[V * sizeof(T) / 4];
};
template <typename T, int V>
__device__ __forceinline__ void load_raw(const void* p, RawVector<T, V>& to) {
  constexpr unsigned kBytes = V * sizeof(T);
  if constexpr (kBytes == 4) {
    to.words[0] = *static_cast<const unsigned*>(p);
  } else if constexpr (kBytes == 8) {
    const Bytes8 b = *static_cast<const Bytes8*>(p);
    to.words[0] = b.a, to.words[1] = b.b;
  } else {
#pragma unroll
    for (unsigned i = 0; i < kBytes / 16; ++i) {
      const Bytes16 b = static_cast<const Bytes16*>(p)[i];
      to.words[4 * i] = b.a, to.words[4 * i + 1] = b.b;
      to.words[4 * i + 2] = b.c, to.words[4 * i + 3] = b.d;
    }
  }
}
