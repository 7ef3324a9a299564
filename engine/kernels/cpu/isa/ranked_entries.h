// The best of many, and their order: what top_k does with the numbers that may be among the best.
#pragma once

#include "engine/kernels/cpu/isa/simd.h"

namespace enginery {
namespace {

// A key with a place as one integer: the larger is the better, of equal keys the first.
__extension__ typedef __int128 Int128;
inline int64_t entry_of(int32_t key, int64_t place) {
  return static_cast<int64_t>(key) << 32 | static_cast<uint32_t>(~place);
}
inline Int128 entry_of(int64_t key, int64_t place) {
  return static_cast<Int128>(key) << 64 | static_cast<uint64_t>(~place);
}
inline int64_t place_of(int64_t entry) {
  return static_cast<uint32_t>(~entry);
}
inline int64_t place_of(Int128 entry) {
  return static_cast<int64_t>(~entry);
}

template <typename Entry>
void swap_entries(Entry& a, Entry& b) {
  const Entry was = a;
  a = b;
  b = was;
}

template <typename Entry>
Entry middle_of(Entry a, Entry b, Entry c) {
  const Entry low = a < b ? a : b, high = a < b ? b : a;
  return c < low ? low : c > high ? high : c;
}

// Moves those of [0, n) that are larger than `pivot` to the front. Returns how many they are.
template <typename Entry>
int64_t split_at(Entry* e, int64_t n, Entry pivot) {
  int64_t larger_ones = 0;
  for (int64_t i = 0; i < n; ++i) {
    const Entry v = e[i];
    e[i] = e[larger_ones];
    e[larger_ones] = v;
    larger_ones += v > pivot;
  }
  return larger_ones;
}

// Moves the largest k of n different ones to the front. (Hoare, "Find", 1961)
template <typename Entry>
void select_largest(Entry* e, int64_t n, int64_t k) {
  uint32_t random = 1;
  while (k > 0 && k < n) {
    uint32_t at[3];
    for (uint32_t& place : at)
      place = static_cast<uint32_t>((random = random * 1664525 + 1013904223) % n);
    const Entry pivot = middle_of(e[at[0]], e[at[1]], e[at[2]]);
    const int64_t larger_ones = split_at(e, n, pivot);
    if (k <= larger_ones) {
      n = larger_ones;
      continue;
    }
    // The pivot is the largest of the others.
    e += larger_ones;
    n -= larger_ones;
    k -= larger_ones;
    for (int64_t i = 0; i < n; ++i)
      if (e[i] == pivot) swap_entries(e[0], e[i]);
    ++e;
    --n;
    --k;
  }
}

// Sorts n entries, the largest first, by merging; returns which of both buffers holds them.
template <typename Entry>
const Entry* sort_largest_first(Entry* from, Entry* to, int64_t n) {
  for (int64_t width = 1; width < n; width *= 2) {
    for (int64_t begin = 0; begin < n; begin += 2 * width) {
      const int64_t middle = least(begin + width, n), end = least(middle + width, n);
      int64_t i = begin, j = middle, out = begin;
      while (i < middle && j < end) {
        const bool first = from[i] > from[j];
        to[out++] = first ? from[i] : from[j];
        i += first;
        j += !first;
      }
      while (i < middle) to[out++] = from[i++];
      while (j < end) to[out++] = from[j++];
    }
    Entry* const merged = to;
    to = from;
    from = merged;
  }
  return from;
}

}  // namespace
}  // namespace enginery
