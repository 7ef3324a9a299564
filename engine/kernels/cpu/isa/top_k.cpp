// The best k of a lane, sorted. Of long lanes only the k blocks with the best maxima can hold them
// (a better block has an element that is better than all of another's): one pass of vector code,
// then k blocks. A lane a thread. Bytes moved: those of the input once, and of both outputs.
#include "engine/kernels/cpu/isa/top_k.h"

#include <omp.h>

#include "engine/kernels/cpu/isa/ranked_entries.h"

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

// One lane in order, with two buffers of its size.
template <typename T, bool kLargest>
struct Lane {
  using Key = decltype(key_of(T{}));
  using Entry = decltype(entry_of(Key{}, 0));
  const T* in;
  int64_t size, k;
  Entry *entries, *others;

  static Key key(T v) { return kLargest ? key_of(v) : ~key_of(v); }

  // Elements in a block: so many that there are some more blocks than k; 0 where k is a large part.
  int64_t block_size() const {
    for (int64_t block = 64; block >= 8; block /= 2)
      if (size / block >= 3 * k) return block;
    return 0;
  }

  Entry best_of_block(int64_t b, int64_t block) const {
    const T* at = in + b * block;
    const int64_t n = least(block, size - b * block);
    Key best = key(at[0]);
#pragma omp simd reduction(max : best)
    for (int64_t i = 0; i < n; ++i) best = key(at[i]) > best ? key(at[i]) : best;
    return entry_of(best, b);
  }

  // Writes those that may be among the best k to `entries`. Returns how many they are.
  int64_t candidates() const {
    const int64_t block = block_size();
    if (block == 0) {
      for (int64_t i = 0; i < size; ++i) entries[i] = entry_of(key(in[i]), i);
      return size;
    }
    const int64_t blocks = (size + block - 1) / block;
    for (int64_t b = 0; b < blocks; ++b) others[b] = best_of_block(b, block);
    select_largest(others, blocks, k);
    Entry worst = others[0];
    for (int64_t b = 1; b < k; ++b) worst = others[b] < worst ? others[b] : worst;
    const Key least_key = static_cast<Key>(worst >> (8 * sizeof(Key)));
    int64_t count = 0;
    for (int64_t b = 0; b < k; ++b) {
      const int64_t begin = place_of(others[b]) * block, end = least(begin + block, size);
      for (int64_t i = begin; i < end; ++i) {
        entries[count] = entry_of(key(in[i]), i);
        count += key(in[i]) >= least_key;
      }
    }
    return count;
  }

  // The best k, sorted, in one of the buffers.
  const Entry* best() const {
    const int64_t count = candidates();
    select_largest(entries, count, k);
    return sort_largest_first(entries, others, k);
  }
};

template <typename T, bool kLargest>
void best_of_lane(const TopKArguments& a, int64_t lane, char* scratch) {
  using L = Lane<T, kLargest>;
  const int64_t o = lane / a.inner, n = lane % a.inner;
  const T* in = static_cast<const T*>(a.in) + o * a.size * a.inner + n;
  auto* const entries = reinterpret_cast<typename L::Entry*>(scratch);
  if (a.inner > 1) {
    T* const in_order = reinterpret_cast<T*>(entries + 2 * a.size);
    for (int64_t i = 0; i < a.size; ++i) in_order[i] = in[i * a.inner];
    in = in_order;
  }
  const auto* best = L{in, a.size, a.k, entries, entries + a.size}.best();
  const int64_t to = o * a.k * a.inner + n;
  for (int64_t i = 0; i < a.k; ++i) {
    const int64_t place = place_of(best[i]);
    static_cast<T*>(a.values)[to + i * a.inner] = in[place];
    a.places[to + i * a.inner] = place;
  }
}

template <typename T, bool kLargest>
void best_of_all(const TopKArguments& a) {
  const int64_t lanes = a.outer * a.inner;
#pragma omp parallel for schedule(static) if (lanes > 1 && lanes * a.size > kMinParallelWork)
  for (int64_t lane = 0; lane < lanes; ++lane)
    best_of_lane<T, kLargest>(
        a, lane, static_cast<char*>(a.scratch) + omp_get_thread_num() * a.scratch_bytes);
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
