// Elements at computed places: y[i] = data[...indices...], or data with updates at such places: the
// last of those that meet, or, where COMBINES, all of them combined with what is there by
// `combined(p, q)`, the last one first. `origin(i)`, the place of element (gather) or tuple
// (scatter) i but for its indices, and `addressed(t)`, what K indices from t on add to it, are
// generated; UNIT is the type that moves, INDEX the indices'.
//
// A thread moves one element. Indices count from the end where they are negative; one outside takes
// the nearest that is inside. A scatter runs in three launches: no place has a winner, each update
// enters itself with its number, each element is that of its winner or of the data; so the result
// is the same in every run. To combine them, a fourth launch finds which update met the place
// before each one, so that every element follows its updates in the same order in every run; a
// thread may look through all updates for that. Bytes moved an element: one read, one write; a
// scatter 12 more a place. Serves every SM.

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
  const unsigned place = divide(origin(i) + addressed(t), a.by_slice);
  atomicMax(a.winners + place, static_cast<int>(i));
#if COMBINES
  a.winners[a.places + i] = static_cast<int>(place);
#endif
}

#if COMBINES
// Behind the winners stand the place of each update and the update before it there; -1: none.
extern "C" __global__ void __launch_bounds__(THREADS) chain(const IndexedArgs a) {
  await_predecessors();
  const unsigned i = global_thread();
  if (i >= a.tuples) return;
  const int* entered = a.winners + a.places;
  int before = static_cast<int>(i) - 1;
  while (before >= 0 && entered[before] != entered[i]) --before;
  a.winners[a.places + a.tuples + i] = before;
}

extern "C" __global__ void __launch_bounds__(THREADS) kernel(const IndexedArgs a) {
  await_predecessors();
  const unsigned i = global_thread();
  if (i >= a.total) return;
  const unsigned place = divide(i, a.by_slice), rest = i - place * a.by_slice.divisor;
  const int* before = a.winners + a.places + a.tuples;
  ACC v = LOAD(static_cast<const TX*>(a.data) + i);
  for (int t = a.winners[place]; t >= 0; t = before[t])
    v = combined(v, LOAD(static_cast<const TX*>(a.updates) +
                         static_cast<long long>(t) * a.by_slice.divisor + rest));
  STORE(static_cast<TY*>(a.y) + i, v);
}
#else

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
#endif
