// What both attention kernels share: where a block's matrices begin, scores with their masks,
// powers of two.
//
// CAUSAL, HAS_ADDEND, HAS_CHOICE: which masks there are; HIDES: the value of the choice that hides;
// NAN_IS_ZERO: rows whose weights are NaN are 0; MASKED_IS_ZERO: rows without any finite score.

constexpr float kLog2e = 1.44269504f;
#define MASKED (CAUSAL || HAS_ADDEND || HAS_CHOICE)

#ifdef ENGINERY_EMULATE
inline float power_of_two(float x) {
  return exp2f(x);
}
#else
__device__ __forceinline__ float power_of_two(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
#endif

struct MatrixIndex {
  int i0, i1, i2;
};
__device__ __forceinline__ MatrixIndex matrix_index(const AttentionArgs& a, unsigned matrix) {
  const unsigned n1 = static_cast<unsigned>(a.n1), n2 = static_cast<unsigned>(a.n2);
  return {static_cast<int>(matrix / n2 / n1), static_cast<int>(matrix / n2 % n1),
          static_cast<int>(matrix % n2)};
}
__device__ __forceinline__ int start_of(const MatrixPlaces& p, const MatrixIndex& m) {
  return p.offset + m.i0 * p.b0 + m.i1 * p.b1 + m.i2 * p.b2;
}

// Scores are in units of log 2 where nothing is added to them: exponents of powers of two then.
__device__ __forceinline__ float scale_of(const AttentionArgs& a) {
  return MASKED ? a.scale : a.scale * kLog2e;
}
// e^(score - largest).
__device__ __forceinline__ float weight_of(float score, float largest) {
  return power_of_two(MASKED ? (score - largest) * kLog2e : score - largest);
}
// What weights are measured by: a row may have no finite score so far.
__device__ __forceinline__ float measure_of(float largest) {
  return largest == -INFINITY ? 0.0f : largest;
}

// A row's result of what its weighted values and its weights add up to: NaN where there is no key,
// 0 * infinity.
__device__ __forceinline__ float result_of(float weighted, float sum, float factor) {
  const bool is_blank = NAN_IS_ZERO ? !(sum > 0.0f) : MASKED_IS_ZERO && sum == 0.0f;
  return is_blank ? 0.0f : weighted * factor;
}

struct Masks {
  const float* addend;
  const unsigned char* choice;
};
__device__ __forceinline__ Masks masks_of(const AttentionArgs& a, const MatrixIndex& m) {
  Masks out = {nullptr, nullptr};
#if HAS_ADDEND
  out.addend = a.addend + start_of(a.addend_places, m);
#endif
#if HAS_CHOICE
  out.choice = a.choice + start_of(a.choice_places, m);
#endif
  return out;
}

// The score of query i and key j; rows beyond the last query take its masks.
__device__ __forceinline__ float score_of(const AttentionArgs& a, const Masks& masks, float product,
                                          float scale, int i, int j) {
  if (j >= a.keys) return -INFINITY;
  float score = product * scale;
  if (i >= a.queries) i = a.queries - 1;
#if CAUSAL
  if (j > i + a.keys - a.queries) score = a.blank;
#endif
#if HAS_CHOICE
  const bool chosen = masks.choice[i * a.choice_places.row + j * a.choice_places.column] != 0;
  if (chosen == HIDES) score = a.blank;
#endif
#if HAS_ADDEND
  score += masks.addend[i * a.addend_places.row + j * a.addend_places.column];
#endif
  return score;
}
