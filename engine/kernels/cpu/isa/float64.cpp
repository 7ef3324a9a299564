// Functions of float64, rows of the innermost loop in pieces that stay in L1: what repeats along it
// is written out first. Sums and products are vector code, exp and its kind libm's. Bytes moved:
// those of the operands and of the result.
#include "engine/kernels/cpu/isa/float64.h"

#include "engine/kernels/cpu/isa/broadcast_rows.h"

namespace enginery {
namespace {

#define ENGINERY_LIBM(name)      \
  inline double name(double v) { \
    return __builtin_##name(v);  \
  }
ENGINERY_LIBM(fabs)
ENGINERY_LIBM(exp)
ENGINERY_LIBM(expm1)
ENGINERY_LIBM(log)
ENGINERY_LIBM(log1p)
ENGINERY_LIBM(sqrt)
ENGINERY_LIBM(floor)
ENGINERY_LIBM(ceil)
ENGINERY_LIBM(rint)
ENGINERY_LIBM(erf)
ENGINERY_LIBM(sin)
ENGINERY_LIBM(cos)
ENGINERY_LIBM(tan)
ENGINERY_LIBM(asin)
ENGINERY_LIBM(acos)
ENGINERY_LIBM(atan)
ENGINERY_LIBM(sinh)
ENGINERY_LIBM(cosh)
ENGINERY_LIBM(tanh)
ENGINERY_LIBM(asinh)
ENGINERY_LIBM(acosh)
ENGINERY_LIBM(atanh)
#undef ENGINERY_LIBM
inline double pow(double x, double y) {
  return __builtin_pow(x, y);
}
inline double fmod(double x, double y) {
  return __builtin_fmod(x, y);
}

constexpr int64_t kFloat64Stretch = 512;

template <typename F>
inline void each(const double* __restrict a, const double* __restrict b, double* __restrict out,
                 int64_t n, F function) {
  for (int64_t i = 0; i < n; ++i) out[i] = function(a[i], b[i]);
}

void compute(const Float64Arguments& s, const double* a, const double* b, double* out, int64_t n) {
  const double alpha = s.alpha, beta = s.beta;
  switch (s.function) {
#define ENGINERY_CASE(name, expression) \
  case Float64Function::name:           \
    return each(a, b, out, n, [=](double x, [[maybe_unused]] double y) { return expression; });
    ENGINERY_FLOAT64_FUNCTIONS(ENGINERY_CASE, ENGINERY_CASE, ENGINERY_CASE)
#undef ENGINERY_CASE
  }
}

// n values of an operand; one that repeats fills `room` with it.
inline const double* row_of(const double* from, bool moves, double* room, int64_t n) {
  if (moves) return from;
  for (int64_t i = 0; i < n; ++i) room[i] = *from;
  return room;
}

}  // namespace

void ENGINERY_KERNEL(float64)(const Float64Arguments& s) {
  const int inner = s.over.loops - 1;
  const bool a_moves = s.over.stride[0][inner] != 0, b_moves = s.over.stride[1][inner] != 0;
  for_each_piece_of_rows<2>(s.over, [=](const int64_t* at, int64_t first, int64_t n) {
    double room_a[kFloat64Stretch], room_b[kFloat64Stretch];
    for (int64_t i = 0; i < n; i += kFloat64Stretch) {
      const int64_t m = least(kFloat64Stretch, n - i);
      const double* a = row_of(s.a + at[0] + (a_moves ? i : 0), a_moves, room_a, m);
      const double* b = row_of(s.b + at[1] + (b_moves ? i : 0), b_moves, room_b, m);
      compute(s, a, b, s.out + first + i, m);
    }
  });
}

}  // namespace enginery
