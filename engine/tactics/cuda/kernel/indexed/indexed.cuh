// Elements at computed places: y[i] = data[...indices...], or data with updates at such places, the
// last of those that meet. `origin(i)`, the place of element (gather) or tuple (scatter) i but for
// its indices, and `addressed(t)`, what K indices from t on add to it, are generated; UNIT is the
// type that moves, INDEX the indices'.
//
// A thread moves one element. Indices count from the end where they are negative; one outside takes
// the nearest that is inside. A scatter runs in three launches: no place has a winner, each update
// enters itself with its number, each element is that of its winner or of the data; so the result
// is the same in every run. Bytes moved an element: one read, one write; a scatter 12 more a place.
// Serves every SM.

__device__ __forceinline__ unsigned global_thread() {
  return blockIdx.x * THREADS + threadIdx.x;
}

#if GATHERS
extern "C" __global__ void __launch_bounds__(THREADS) kernel(const IndexedArgs a) {
  await_predecessors();
  const unsigned i = global_thread();
  if (i >= a.total) return;
  const unsigned tuple = divide(i, a.by_slice), rest = i - tuple * a.by_slice.divisor;
  const INDEX* t = static_cast<const INDEX*>(a.indices) + static_cast<long long>(tuple) * K;
  static_cast<UNIT*>(a.y)[i] = static_cast<const UNIT*>(a.data)[origin(i) + addressed(t) + rest];
}
#else
extern "C" __global__ void __launch_bounds__(THREADS) clear(const IndexedArgs a) {
  await_predecessors();
  const unsigned i = global_thread();
  if (i < a.places) a.winners[i] = -1;
}

extern "C" __global__ void __launch_bounds__(THREADS) enter(const IndexedArgs a) {
  await_predecessors();
  const unsigned i = global_thread();
  if (i >= a.tuples) return;
  const INDEX* t = static_cast<const INDEX*>(a.indices) + static_cast<long long>(i) * K;
  atomicMax(a.winners + divide(origin(i) + addressed(t), a.by_slice), static_cast<int>(i));
}

extern "C" __global__ void __launch_bounds__(THREADS) kernel(const IndexedArgs a) {
  await_predecessors();
  const unsigned i = global_thread();
  if (i >= a.total) return;
  const unsigned place = divide(i, a.by_slice), rest = i - place * a.by_slice.divisor;
  const int winner = a.winners[place];
  static_cast<UNIT*>(a.y)[i] =
      winner < 0 ? static_cast<const UNIT*>(a.data)[i]
                 : static_cast<const UNIT*>(
                       a.updates)[static_cast<long long>(winner) * a.by_slice.divisor + rest];
}
#endif
