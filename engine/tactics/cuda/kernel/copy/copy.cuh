// Moves elements between strided places: transpose, slice, split, concatenation, expansion.
//
// A thread moves one element, or one 16-byte piece where both sides are contiguous; lanes run along
// the innermost dimension. ENTRIES is generated: one ENTRY(name, type, dims) for each piece's type
// and number of dimensions. Bytes moved an element: one read, one write. Serves every SM.

template <typename T, int DIMS>
__device__ __forceinline__ void move(const CopyArgs& a) {
  int i = static_cast<int>(blockIdx.x) * THREADS + static_cast<int>(threadIdx.x);
  if (i >= a.total) return;
  unsigned rest = static_cast<unsigned>(i);
  long long from = a.in_base, to = a.out_base;
#pragma unroll
  for (int d = DIMS - 1; d > 0; --d) {
    unsigned outer = divide(rest, a.by[d]);
    int at = static_cast<int>(rest - outer * a.by[d].divisor);
    from += at * a.in_stride[d], to += at * a.out_stride[d];
    rest = outer;
  }
  from += rest * a.in_stride[0], to += rest * a.out_stride[0];
  static_cast<T*>(a.y)[to] = static_cast<const T*>(a.x)[from];
}

#define ENTRY(name, type, dims)                                                  \
  extern "C" __global__ void __launch_bounds__(THREADS) name(const CopyArgs a) { \
    await_predecessors();                                                        \
    move<type, dims>(a);                                                         \
  }
ENTRIES
