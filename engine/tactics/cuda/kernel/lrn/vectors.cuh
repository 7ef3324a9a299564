// Local response normalisation across channels, channels last: y = x / (bias + scale * sum of
// squares of the window)^beta, of LOW channels before an element and HIGH after it.
//
// A thread computes WIDTH adjacent channels of ITEMS pixels or parts of one, THREADS vectors apart;
// it reads what the window needs of the vectors beside its own, too, through the L1. Neither reach
// is wider than a vector. Padding between channels is zero, and stays so. Bytes moved an element:
// one read, one write. Serves every SM.

// What is read of a neighbour: as many elements as one load of at least 32 bits has.
__device__ constexpr int halo_of(int reach) {
  return reach == 0 ? 0 : reach <= 2 ? 2 : reach <= 4 ? 4 : 8;
}
constexpr int kBefore = halo_of(LOW), kAfter = halo_of(HIGH);

struct Window {
  int channel;  // of the vector's first element
  float before[kBefore + 1], own[WIDTH], after[kAfter + 1];
};

template <int V, int N>
__device__ __forceinline__ void load_beside(const TX* p, bool inside, float (&v)[N]) {
  if constexpr (V > 0) {
    float u[V] = {};
    if (inside) load_vector<V>(p, u);
#pragma unroll
    for (int j = 0; j < V; ++j) v[j] = u[j];
  }
}

__device__ __forceinline__ void read_window(const LrnWindowArgs& a, unsigned vector, Window& w) {
  const unsigned place = vector - divide(vector, a.by_row) * a.by_row.divisor;
  const TX* x = static_cast<const TX*>(a.x) + static_cast<long long>(vector) * WIDTH;
  w.channel = static_cast<int>(place) * WIDTH;
  load_vector<WIDTH>(x, w.own);
  load_beside<kBefore>(x - kBefore, place > 0, w.before);
  load_beside<kAfter>(x + WIDTH, place + 1 < a.by_row.divisor, w.after);
}

// The place is known when the text is compiled.
__device__ __forceinline__ float element_of(const Window& w, int place) {
  if (place < 0) return w.before[kBefore + place];
  return place < WIDTH ? w.own[place] : w.after[place - WIDTH];
}

__device__ __forceinline__ void normalise(const LrnWindowArgs& a, const Window& w,
                                          float (&v)[WIDTH]) {
#pragma unroll
  for (int j = 0; j < WIDTH; ++j) {
    float sum = 0;
#pragma unroll
    for (int d = -LOW; d <= HIGH; ++d) sum += element_of(w, j + d) * element_of(w, j + d);
    v[j] = over_power(w.own[j], a.bias + a.scale * sum, a.beta);
  }
  if (w.channel + WIDTH <= a.channels) return;
#pragma unroll
  for (int j = 0; j < WIDTH; ++j) v[j] = w.channel + j < a.channels ? v[j] : 0.0f;
}

extern "C" __global__ void __launch_bounds__(THREADS) kernel(const LrnWindowArgs a) {
  await_predecessors();
  const unsigned first = blockIdx.x * (THREADS * ITEMS) + threadIdx.x;
  const unsigned last = static_cast<unsigned>(a.total) - 1;
  Window windows[ITEMS];
#pragma unroll
  for (int k = 0; k < ITEMS; ++k)
    read_window(a, first + k * THREADS < last ? first + k * THREADS : last, windows[k]);
#pragma unroll
  for (int k = 0; k < ITEMS; ++k) {
    const unsigned vector = first + k * THREADS;
    float v[WIDTH];
    normalise(a, windows[k], v);
    if (vector <= last)
      store_vector<WIDTH>(static_cast<TY*>(a.y) + static_cast<long long>(vector) * WIDTH, v);
  }
}
