// Where a row of the implicit GEMM's A matrix lies: one output pixel's window in the input, stepped
// through along K. Source: the index arithmetic of CUTLASS's optimised iterators.

// One output pixel: the address of its window's first element and which filter rows and columns are
// inside the input.
struct PixelWindow {
  const TX* base;
  unsigned rows, columns;
};

// Which of `taps` places, up to 32, are in [0, size): bit i for first + i * dilation.
__device__ __forceinline__ unsigned taps_inside(int first, int dilation, int taps, int size) {
  if (dilation == 1) {
    int begin = first < 0 ? -first : 0, end = size - first < taps ? size - first : taps;
    return begin < end ? ~0u >> (32 - (end - begin)) << begin : 0u;
  }
  unsigned bits = 0;
  for (int i = 0; i < taps; ++i)
    bits |= (static_cast<unsigned>(first + i * dilation) < static_cast<unsigned>(size) ? 1u : 0u)
            << i;
  return bits;
}

// Channels from one input pixel to the next. READS_PITCHED: the input is some of the channels of a
// wider tensor.
__device__ __forceinline__ int channels_apart(const ConvArgs& a) {
#if READS_PITCHED
  return a.x_pitch;
#else
  return a.c;
#endif
}

// kPointwise: every output pixel reads its own input pixel alone.
template <bool kPointwise = POINTWISE>
__device__ __forceinline__ PixelWindow pixel_window(const ConvArgs& a, int m) {
  PixelWindow w;
  if (kPointwise) {
    w.rows = w.columns = m < a.m ? 1u : 0u;
    w.base = static_cast<const TX*>(a.x) + static_cast<long long>(m) * channels_apart(a);
    return w;
  }
  unsigned row = divide(static_cast<unsigned>(m), a.by_q);
  int q = m - static_cast<int>(row * a.by_q.divisor);
  unsigned n = divide(row, a.by_p);
  int p = static_cast<int>(row - n * a.by_p.divisor);
  int h = p * a.stride_h - a.pad_h, x = q * a.stride_w - a.pad_w;
  w.rows = m < a.m ? taps_inside(h, a.dilation_h, a.r, a.h) : 0u;
  w.columns = taps_inside(x, a.dilation_w, a.s, a.width);
  w.base = static_cast<const TX*>(a.x) +
           ((static_cast<long long>(n) * a.h + h) * a.width + x) * channels_apart(a);
  return w;
}

// Where channel k of output pixel m is stored; `index` is its place in an output of its own.
// PITCHED: the output is some of the channels of a wider tensor.
__device__ __forceinline__ TY* output_place(const ConvArgs& a, int m, int k, long long index) {
#if PITCHED
  return static_cast<TY*>(a.y) + static_cast<long long>(m) * a.y_pitch + k;
#else
  return static_cast<TY*>(a.y) + index;
#endif
}

// The place of a thread's elements in (r, s, c). FLAT: K runs on over (r, s, c) without gaps, for
// channels that are no multiple of BK; otherwise a step stays at one (r, s), s fastest, chunks of c
// slowest.
struct FilterStep {
  int r, s, c;
};

// `element`: the thread's first element in a row of BK.
template <bool kPointwise = POINTWISE>
__device__ __forceinline__ FilterStep filter_step(const ConvArgs& a, int step, int element) {
  FilterStep f = {0, 0, step * BK + element};
  if (FLAT) {
    int position = static_cast<int>(divide(static_cast<unsigned>(f.c), a.by_c));
    f.c -= position * a.c;
    f.r = static_cast<int>(divide(static_cast<unsigned>(position), a.by_s));
    f.s = position - f.r * a.s;
  } else if (!kPointwise) {
    int rs = a.r * a.s, chunk = step / rs, rest = step - chunk * rs;
    f.r = rest / a.s;
    f.s = rest - f.r * a.s;
    f.c = chunk * BK + element;
  }
  return f;
}

template <bool kPointwise = POINTWISE>
__device__ __forceinline__ void advance(const ConvArgs& a, FilterStep& f) {
  if (kPointwise) {
    f.c += BK;
  } else if (FLAT) {
    f.c += BK;
    int skipped = static_cast<int>(divide(static_cast<unsigned>(f.c), a.by_c));
    f.c -= skipped * a.c;
    int s = f.s + skipped, rows = static_cast<int>(divide(static_cast<unsigned>(s), a.by_s));
    f.r += rows;
    f.s = s - rows * a.s;
  } else if (++f.s == a.s) {
    f.s = 0;
    if (++f.r == a.r) f.r = 0, f.c += BK;
  }
}

// Elements from a window's base to the place of `f`.
template <bool kPointwise = POINTWISE>
__device__ __forceinline__ int step_offset(const ConvArgs& a, const FilterStep& f) {
  if (kPointwise) return f.c;
  return (f.r * a.dilation_h * a.width + f.s * a.dilation_w) * channels_apart(a) + f.c;
}
// A window's rows have no bit beyond the filter's, so what lies past the end of a FLAT K is
// outside.
__device__ __forceinline__ bool inside(const ConvArgs& a, const PixelWindow& w,
                                       const FilterStep& f) {
  return (w.rows >> f.r & w.columns >> f.s & 1u) != 0 && (FLAT || f.c < a.c);
}
