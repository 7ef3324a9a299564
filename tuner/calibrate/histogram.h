// Histogram: how large the elements of one tensor were, over any number of runs.
//
// Where: collection fills one for each tensor, calibrators read them. The range of the bins is a
// power of two that doubles when a larger element comes; then neighbouring bins are added up, which
// loses nothing that finer bins would have kept. So shards of the data, merged in any order, give
// the same bytes as one pass. A value; written by one thread at a time.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/base/result.h"

namespace enginery {

struct Histogram {
  // More than 4096 of them lie below the largest magnitude.
  static constexpr int kBins = 8192;

  // bins[i]: elements with a magnitude in [i, i + 1) * bin_width(), without the zeros. Empty until
  // an element other than zero was seen.
  std::vector<uint64_t> bins;
  uint64_t zeros = 0;
  float least = 0, largest = 0;  // with their signs; 0 and 0 before the first element

  // Adds the elements. Errors: invalid_argument (a NaN or an infinity); then nothing is added.
  Status observe(std::span<const float> elements);
  void merge(const Histogram& other);

  uint64_t count() const;            // elements seen
  double largest_magnitude() const;  // 0 where all were zeros
  double bin_width() const;          // in the tensor's unit; needs a magnitude above 0
  bool is_constant() const;          // at least one element was seen, and all were the same

  friend bool operator==(const Histogram&, const Histogram&) = default;

 private:
  void widen_to(double magnitude);
};

}  // namespace enginery
