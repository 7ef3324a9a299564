// x / base^beta, for which memory does not wait.
//
// POWER 4: beta is 1; 3 and 2: as many quarters, and 1: any other one, for what is stored in 16
// bits, of bases that are normal positive numbers; 0: any beta and base. Serves every SM.

#ifdef ENGINERY_EMULATE
// As far off as the instructions may be: 2^-22.9 and 2^-23 of the result (PTX ISA, rsqrt and sqrt).
inline float inverse_root(float v) {
  return 1.0f / sqrtf(v) * (1.0f - 0x1p-22f);
}
inline float quick_root(float v) {
  return sqrtf(v) * (1.0f - 0x1p-23f);
}
#else
__device__ __forceinline__ float inverse_root(float v) {
  float root;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(v));
  return root;
}
__device__ __forceinline__ float quick_root(float v) {
  float root;
  asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(v));
  return root;
}
#endif

__device__ __forceinline__ float over_power(float x, float base, float beta) {
#if POWER == 4
  return x / base;
#elif POWER == 3
  const float root = inverse_root(base);
  return x * (root * quick_root(root));
#elif POWER == 2
  return x * inverse_root(base);
#elif POWER == 1
  return x * exp2f(-beta * log2f(base));
#else
  return x * powf(base, -beta);
#endif
}
