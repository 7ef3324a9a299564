// Numbers of 8 bits: read as floats; rounded to nearest, ties to even, and saturated where they are
// stored, NaN as 0; and sums of their products in 32 bits. X_UNSIGNED, where a text multiplies
// words of four: whether the first factor is. Serves every SM (dp4a: 61 and later).

#ifndef ENGINERY_EMULATE
// sum + the products of four elements each. The second factor is signed.
template <bool kUnsigned>
__device__ __forceinline__ int dot4(int a, int b, int sum) {
  if constexpr (kUnsigned)
    asm("dp4a.u32.s32 %0, %1, %2, %0;" : "+r"(sum) : "r"(a), "r"(b));
  else
    asm("dp4a.s32.s32 %0, %1, %2, %0;" : "+r"(sum) : "r"(a), "r"(b));
  return sum;
}
#endif

__device__ __forceinline__ int saturated(float v, const signed char*) {
  int i = __float2int_rn(v);
  i = i < -128 ? -128 : i;
  return i > 127 ? 127 : i;
}
__device__ __forceinline__ int saturated(float v, const unsigned char*) {
  int i = __float2int_rn(v);
  i = i < 0 ? 0 : i;
  return i > 255 ? 255 : i;
}

// Conversions by instructions have a quarter of the others' rate or less. A byte in the last places
// of 2^23 is that float and the byte; a float of a few hundreds added to 3 * 2^22 is rounded to a
// whole number, ties to even, in its last places.
#ifdef ENGINERY_EMULATE
inline unsigned permuted(unsigned a, unsigned b, unsigned selector) {
  const unsigned long long bytes = static_cast<unsigned long long>(b) << 32 | a;
  unsigned out = 0;
  for (unsigned i = 0; i < 4; ++i)
    out |= static_cast<unsigned>(bytes >> (selector >> 4 * i & 7u) * 8 & 255u) << 8 * i;
  return out;
}
#else
__device__ __forceinline__ unsigned permuted(unsigned a, unsigned b, unsigned selector) {
  return __byte_perm(a, b, selector);
}
#endif

template <typename T>
__device__ __forceinline__ void unpack_bytes(unsigned word, float* v) {
  constexpr bool kSigned = static_cast<T>(-1) < 0;
  if (kSigned) word ^= 0x80808080u;
#pragma unroll
  for (unsigned i = 0; i < 4; ++i)
    v[i] = __uint_as_float(permuted(word, 0x4b000000u, 0x7440u + i)) -
           (kSigned ? 8388608.0f + 128.0f : 8388608.0f);
}

// The bits of 3 * 2^22 and the rounded value, whose last byte is the value's.
template <typename T>
__device__ __forceinline__ unsigned rounded_bits(float v) {
  constexpr bool kSigned = static_cast<T>(-1) < 0;
  constexpr float kLow = kSigned ? -128.0f : 0.0f, kHigh = kSigned ? 127.0f : 255.0f;
  if (kSigned) v = v == v ? v : 0.0f;  // the other type's maximum does it
  return __float_as_uint(fminf(fmaxf(v, kLow), kHigh) + 12582912.0f);
}
// x / scale, rounded, ties to even, for what saturates to 8 bits. The product with the reciprocal
// is off by 2^-22 of itself, which matters about ties alone: they are divided. Beyond 512 every
// quotient saturates. The reciprocal is NaN where it has too few bits: then everything is divided.
__device__ __forceinline__ float reciprocal_of(float scale) {
  return scale < 1e30f ? 1.0f / scale : __int_as_float(-1);
}
__device__ __forceinline__ float rounded_quotient(float x, float scale, float reciprocal) {
  const float q = x * reciprocal, r = rintf(q);
  return fabsf(q - r) < 0.4998f ? r : rintf(x / scale);
}

// ROUNDS_SUMS: what is stored are scaled sums of integers, which are finite, and may be off by
// 2^-17 where they are about a tie, as sums in float32 are: a float times 2^-149 is its whole
// number in bits, ties to even, and one instruction saturates two of them (SM 7.2 and later).
#ifdef ENGINERY_EMULATE
inline unsigned saturated_pair(int high, int low, unsigned above) {
  const auto byte = [](int v) { return static_cast<unsigned>(v < 0 ? 0 : v > 255 ? 255 : v); };
  return above << 16 | byte(high) << 8 | byte(low);
}
#elif ROUNDS_SUMS
__device__ __forceinline__ unsigned saturated_pair(int high, int low, unsigned above) {
  unsigned out;
  asm("cvt.pack.sat.u8.s32.b32 %0, %1, %2, %3;" : "=r"(out) : "r"(high), "r"(low), "r"(above));
  return out;
}
#endif
#if ROUNDS_SUMS
template <typename T>
__device__ __forceinline__ unsigned pack_bytes(const float* v) {
  constexpr bool kSigned = static_cast<T>(-1) < 0;
  int whole[4];
#pragma unroll
  for (int i = 0; i < 4; ++i)
    whole[i] = __float_as_int((kSigned ? v[i] + 128.0f : v[i]) * 0x1p-149f);
  const unsigned word = saturated_pair(whole[1], whole[0], saturated_pair(whole[3], whole[2], 0));
  return kSigned ? word ^ 0x80808080u : word;
}
#else
template <typename T>
__device__ __forceinline__ unsigned pack_bytes(const float* v) {
  const unsigned low = permuted(rounded_bits<T>(v[0]), rounded_bits<T>(v[1]), 0x0040u);
  const unsigned high = permuted(rounded_bits<T>(v[2]), rounded_bits<T>(v[3]), 0x0040u);
  return permuted(low, high, 0x5410u);
}
#endif

template <int V, typename T>
__device__ __forceinline__ void load_bytes(const T* p, float (&v)[V]) {
  if constexpr (V == 8) {
    Bytes8 b = *reinterpret_cast<const Bytes8*>(p);
    unpack_bytes<T>(b.a, v), unpack_bytes<T>(b.b, v + 4);
  } else if constexpr (V == 4) {
    unpack_bytes<T>(*reinterpret_cast<const unsigned*>(p), v);
  } else {
#pragma unroll
    for (int i = 0; i < V; ++i) v[i] = static_cast<float>(p[i]);
  }
}
template <int V, typename T>
__device__ __forceinline__ void store_bytes(T* p, const float (&v)[V]) {
  if constexpr (V == 8) {
    *reinterpret_cast<Bytes8*>(p) = Bytes8{pack_bytes<T>(v), pack_bytes<T>(v + 4)};
  } else if constexpr (V == 4) {
    *reinterpret_cast<unsigned*>(p) = pack_bytes<T>(v);
  } else {
#pragma unroll
    for (int i = 0; i < V; ++i) p[i] = static_cast<T>(saturated(v[i], p));
  }
}

// As common.cuh's.
template <int V>
__device__ __forceinline__ void load_vector(const signed char* p, float (&v)[V]) {
  load_bytes<V>(p, v);
}
template <int V>
__device__ __forceinline__ void load_vector(const unsigned char* p, float (&v)[V]) {
  load_bytes<V>(p, v);
}
template <int V>
__device__ __forceinline__ void store_vector(signed char* p, const float (&v)[V]) {
  store_bytes<V>(p, v);
}
template <int V>
__device__ __forceinline__ void store_vector(unsigned char* p, const float (&v)[V]) {
  store_bytes<V>(p, v);
}
__device__ __forceinline__ float load_one(const signed char* p) {
  return *p;
}
__device__ __forceinline__ float load_one(const unsigned char* p) {
  return *p;
}
__device__ __forceinline__ void store_one(signed char* p, float v) {
  *p = static_cast<signed char>(saturated(v, p));
}
__device__ __forceinline__ void store_one(unsigned char* p, float v) {
  *p = static_cast<unsigned char>(saturated(v, p));
}

// Sums, and words of four elements. V: a multiple of 4.
template <int V>
__device__ __forceinline__ void load_vector(const int* p, int (&v)[V]) {
#pragma unroll
  for (int i = 0; i < V; i += 4) {
    Bytes16 b = *reinterpret_cast<const Bytes16*>(p + i);
    v[i] = static_cast<int>(b.a), v[i + 1] = static_cast<int>(b.b);
    v[i + 2] = static_cast<int>(b.c), v[i + 3] = static_cast<int>(b.d);
  }
}
template <int V>
__device__ __forceinline__ void store_vector(int* p, const int (&v)[V]) {
#pragma unroll
  for (int i = 0; i < V; i += 4)
    *reinterpret_cast<Bytes16*>(p + i) =
        Bytes16{static_cast<unsigned>(v[i]), static_cast<unsigned>(v[i + 1]),
                static_cast<unsigned>(v[i + 2]), static_cast<unsigned>(v[i + 3])};
}
#ifdef X_UNSIGNED
__device__ __forceinline__ void multiply_add(int& sum, int a, int b) {
  sum = dot4<X_UNSIGNED>(a, b, sum);
}
#endif
