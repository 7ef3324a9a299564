// The best k by a heap of k in the outputs themselves, its worst on top: what is worse than that,
// nearly all of a long lane, is passed over by vector code. A lane a thread.
#include "engine/kernels/cpu/isa/top_k.h"
#include "engine/kernels/cpu/isa/simd.h"

namespace enginery {
namespace {

// Integers in the order of the values: a NaN above all, both zeros equal.
inline int32_t key_of(float v) {
  int32_t bits = __builtin_bit_cast(int32_t, v);
  bits = bits == INT32_MIN ? 0 : bits;
  bits ^= (bits >> 31) & INT32_MAX;
  return v != v ? INT32_MAX : bits;
}
inline int32_t key_of(int32_t v) {
  return v;
}
inline int64_t key_of(int64_t v) {
  return v;
}

// The heap of one lane.
template <typename T, bool kLargest>
struct Heap {
  T* values;
  int64_t* places;
  int64_t stride;

  static auto key(T v) { return kLargest ? key_of(v) : ~key_of(v); }
  auto key_at(int64_t i) const { return key(values[i * stride]); }

  // Whether entry i is worse than entry j.
  bool is_worse(int64_t i, int64_t j) const {
    const auto a = key_at(i), b = key_at(j);
    return a < b || (a == b && places[i * stride] > places[j * stride]);
  }
  void set(int64_t i, T value, int64_t place) {
    values[i * stride] = value;
    places[i * stride] = place;
  }
  void swap(int64_t i, int64_t j) {
    const T value = values[i * stride];
    const int64_t place = places[i * stride];
    set(i, values[j * stride], places[j * stride]);
    set(j, value, place);
  }
  // Moves entry i down to its place among the first `n`.
  void sift(int64_t i, int64_t n) {
    for (int64_t child; (child = 2 * i + 1) < n; i = child) {
      if (child + 1 < n && is_worse(child + 1, child)) ++child;
      if (!is_worse(child, i)) return;
      swap(i, child);
    }
  }
  void sort(int64_t n) {
    while (--n > 0) {
      swap(0, n);
      sift(0, n);
    }
  }
};

constexpr int64_t kBlock = 64;

template <typename T, bool kLargest>
bool any_better(const T* in, int64_t n, decltype(key_of(T{})) than) {
  int better = 0;
#pragma omp simd reduction(| : better)
  for (int64_t i = 0; i < n; ++i) better |= Heap<T, kLargest>::key(in[i]) > than;
  return better != 0;
}

template <typename T, bool kLargest>
void best_of_lane(const T* in, int64_t size, int64_t k, Heap<T, kLargest> heap) {
  const int64_t stride = heap.stride;
  for (int64_t i = 0; i < k; ++i) heap.set(i, in[i * stride], i);
  for (int64_t i = k / 2; i-- > 0;) heap.sift(i, k);
  auto worst = heap.key_at(0);
  for (int64_t begin = k; begin < size; begin += kBlock) {
    const int64_t end = least(begin + kBlock, size);
    if (stride == 1 && !any_better<T, kLargest>(in + begin, end - begin, worst)) continue;
    for (int64_t i = begin; i < end; ++i) {
      const T value = in[i * stride];
      if (!(Heap<T, kLargest>::key(value) > worst)) continue;
      heap.set(0, value, i);
      heap.sift(0, k);
      worst = heap.key_at(0);
    }
  }
  heap.sort(k);
}

template <typename T, bool kLargest>
void best_of_all(const TopKArguments& a) {
#pragma omp parallel for schedule(static) if (a.outer * a.size * a.inner > kMinParallelWork)
  for (int64_t lane = 0; lane < a.outer * a.inner; ++lane) {
    const int64_t o = lane / a.inner, n = lane % a.inner, to = o * a.k * a.inner + n;
    best_of_lane<T, kLargest>(static_cast<const T*>(a.in) + o * a.size * a.inner + n, a.size, a.k,
                              {static_cast<T*>(a.values) + to, a.places + to, a.inner});
  }
}

template <typename T>
void best_of_type(const TopKArguments& a) {
  if (a.largest)
    best_of_all<T, true>(a);
  else
    best_of_all<T, false>(a);
}

}  // namespace

void ENGINERY_KERNEL(top_k)(const TopKArguments& a) {
  switch (a.type) {
    case TopKType::float32:
      return best_of_type<float>(a);
    case TopKType::int32:
      return best_of_type<int32_t>(a);
    case TopKType::int64:
      return best_of_type<int64_t>(a);
  }
}

}  // namespace enginery
