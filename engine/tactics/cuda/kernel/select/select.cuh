// A choice element by element: y = condition ? a : b, each operand repeated as broadcasting allows:
// condition_place(i), a_place(i) and b_place(i) are generated. UNIT is the type that moves.
//
// A thread moves one element. Bytes moved an element: one of a or b, one of the condition, one
// write. Serves every SM.

extern "C" __global__ void __launch_bounds__(THREADS) kernel(const SelectArgs s) {
  await_predecessors();
  const unsigned i = blockIdx.x * THREADS + threadIdx.x;
  if (i >= s.total) return;
  const bool first = static_cast<const unsigned char*>(s.condition)[condition_place(i)] != 0;
  const UNIT* from = static_cast<const UNIT*>(first ? s.a : s.b);
  static_cast<UNIT*>(s.y)[i] = from[first ? a_place(i) : b_place(i)];
}
