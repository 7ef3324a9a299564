// Instructions on matrices and clusters, one function each. SMs: mma from 75 (in parts before 80),
// cp.async and tf32 from 80, clusters from 90.

#ifndef ENGINERY_EMULATE

#if __CUDA_ARCH__ >= 800
#define HAVE_ASYNC_COPY 1
#else
#define HAVE_ASYNC_COPY 0
#endif

__device__ __forceinline__ unsigned shared_address(const void* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}

// 16, 8 or 4 bytes to shared memory; zeros where `valid` is false (nothing is read then).
template <int kBytes>
__device__ __forceinline__ void copy_async(void* to, const void* from, bool valid) {
#if HAVE_ASYNC_COPY
  if constexpr (kBytes == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(to)),
                 "l"(from), "r"(valid ? 16 : 0)
                 : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(shared_address(to)),
                 "l"(from), "n"(kBytes), "r"(valid ? kBytes : 0)
                 : "memory");
#endif
}
__device__ __forceinline__ void commit_async() {
#if HAVE_ASYNC_COPY
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}
template <int N>
__device__ __forceinline__ void wait_async() {
#if HAVE_ASYNC_COPY
  asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
#endif
}

// Four 8x8 matrices of 16-bit elements (or 8x4 of 32-bit ones); lane l gives the address of row l %
// 8 of matrix l / 8.
__device__ __forceinline__ void load_matrices(unsigned (&r)[4], const void* p) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(shared_address(p))
               : "memory");
}

// The same, each matrix transposed: a lane gets elements of one column.
__device__ __forceinline__ void load_matrices_transposed(unsigned (&r)[4], const void* p) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(shared_address(p))
               : "memory");
}

// d += a * b; a is 16x16 (rows), b 16x8 (columns), float16, sums in float32.
__device__ __forceinline__ void multiply_half(float (&d)[4], const unsigned (&a)[4], unsigned b0,
                                              unsigned b1) {
#if __CUDA_ARCH__ >= 800
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%0,%1,%2,%3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
#else
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, "
      "{%0,%1,%2,%3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(b0));
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, "
      "{%0,%1,%2,%3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[2]), "r"(a[3]), "r"(b1));
#endif
}

// The same in bfloat16. SMs: 80 and later.
__device__ __forceinline__ void multiply_bfloat(float (&d)[4], const unsigned (&a)[4], unsigned b0,
                                                unsigned b1) {
#if __CUDA_ARCH__ >= 800
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%0,%1,%2,%3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
#endif
}

// The same for a 16x8 and b 8x8 in tf32; rounds a here, b is rounded when it is packed.
__device__ __forceinline__ void multiply_tf32(float (&d)[4], const unsigned (&a)[4], unsigned b0,
                                              unsigned b1) {
#if __CUDA_ARCH__ >= 800
  unsigned t[4];
#pragma unroll
  for (int i = 0; i < 4; ++i)
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(t[i]) : "f"(__uint_as_float(a[i])));
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%0,%1,%2,%3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(t[0]), "r"(t[1]), "r"(t[2]), "r"(t[3]), "r"(b0), "r"(b1));
#endif
}

// d += a * b; a is 16x32 (rows), unsigned or signed, b 32x8 (columns), signed, 8 bits each, sums in
// 32.
#define MULTIPLY_BYTES(type)                                                   \
  asm volatile("mma.sync.aligned.m16n8k32.row.col.s32." type                   \
               ".s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};" \
               : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])                \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1))
#define MULTIPLY_QUARTER(type, row, k, b)                   \
  asm volatile("mma.sync.aligned.m8n8k16.row.col.s32." type \
               ".s8.s32 {%0,%1}, {%2}, {%3}, {%0,%1};"      \
               : "+r"(d[2 * row]), "+r"(d[2 * row + 1])     \
               : "r"(a[row + 2 * k]), "r"(b))
template <bool kUnsigned>
__device__ __forceinline__ void multiply_bytes(int (&d)[4], const unsigned (&a)[4], unsigned b0,
                                               unsigned b1) {
#if __CUDA_ARCH__ >= 800
  if constexpr (kUnsigned)
    MULTIPLY_BYTES("u8");
  else
    MULTIPLY_BYTES("s8");
#else
#pragma unroll
  for (int row = 0; row < 2; ++row) {
    if constexpr (kUnsigned) {
      MULTIPLY_QUARTER("u8", row, 0, b0);
      MULTIPLY_QUARTER("u8", row, 1, b1);
    } else {
      MULTIPLY_QUARTER("s8", row, 0, b0);
      MULTIPLY_QUARTER("s8", row, 1, b1);
    }
  }
#endif
}

// All threads of the cluster's blocks meet; what was written to shared memory before is seen after.
__device__ __forceinline__ void cluster_sync() {
#if __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::
                   : "memory");
#endif
}

// A vector out of the shared memory of the cluster's block `rank`, at the place that `p` has in
// this block's.
__device__ __forceinline__ float4 load_from_block(const float* p, unsigned rank) {
  float4 v = {0, 0, 0, 0};
#if __CUDA_ARCH__ >= 900
  unsigned remote;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
               : "=r"(remote)
               : "r"(shared_address(p)), "r"(rank));
  asm volatile("ld.shared::cluster.v4.f32 {%0,%1,%2,%3}, [%4];"
               : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
               : "r"(remote)
               : "memory");
#endif
  return v;
}

#if __CUDA_ARCH__ == 900
// wgmma multiplies in the background what it reads from shared memory: begin_products(), any number
// of multiply_group(), commit_products(); then wait_products<N>() until no more than N such groups
// run. What copy_async brought is shown to it, by every thread, between wait_async() and the
// barrier.
__device__ __forceinline__ void show_copies() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

// The compiler may not move what reads or writes sums across this.
__device__ __forceinline__ void hold(int& sum) {
  asm volatile("" : "+r"(sum)::"memory");
}
__device__ __forceinline__ void hold(float& sum) {
  asm volatile("" : "+f"(sum)::"memory");
}
template <typename Sum, int M, int N>
__device__ __forceinline__ void hold(Sum (&sums)[M][N][4]) {
#pragma unroll
  for (int i = 0; i < M * N * 4; ++i) hold(sums[i / (4 * N)][i / 4 % N][i % 4]);
}
template <typename Sum, int M, int N>
__device__ __forceinline__ void begin_products(Sum (&sums)[M][N][4]) {
  hold(sums);
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
__device__ __forceinline__ void commit_products() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
template <int kRunning, typename Sum, int M, int N>
__device__ __forceinline__ void wait_products(Sum (&sums)[M][N][4]) {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kRunning) : "memory");
  if (kRunning == 0) hold(sums);
}

// Rows of kRowBytes, 64 or 128, swizzled over 8 of them, as wgmma takes them: the address, from one
// 8 rows to the next, the swizzle.
template <int kRowBytes>
__device__ __forceinline__ unsigned long long matrix_descriptor(const void* p) {
  constexpr unsigned long long kSwizzle = kRowBytes == 128 ? 1 : 2;
  return kSwizzle << 62 | static_cast<unsigned long long>(8 * kRowBytes / 16) << 32 | 1ull << 16 |
         (shared_address(p) & 0x3ffffu) >> 4;
}
#endif

#endif  // ENGINERY_EMULATE

// The product of the type that the first argument has.
__device__ __forceinline__ void multiply_as(half_t, float (&d)[4], const unsigned (&a)[4],
                                            unsigned b0, unsigned b1) {
  multiply_half(d, a, b0, b1);
}
__device__ __forceinline__ void multiply_as(bfloat_t, float (&d)[4], const unsigned (&a)[4],
                                            unsigned b0, unsigned b1) {
  multiply_bfloat(d, a, b0, b1);
}

// Sums of floats or of integers as load_from_block.
__device__ __forceinline__ void load_sums(const float* p, unsigned rank, float (&v)[4]) {
  float4 f = load_from_block(p, rank);
  v[0] = f.x, v[1] = f.y, v[2] = f.z, v[3] = f.w;
}
__device__ __forceinline__ void load_sums(const int* p, unsigned rank, int (&v)[4]) {
  float4 f = load_from_block(reinterpret_cast<const float*>(p), rank);
  v[0] = __float_as_int(f.x), v[1] = __float_as_int(f.y), v[2] = __float_as_int(f.z),
  v[3] = __float_as_int(f.w);
}
