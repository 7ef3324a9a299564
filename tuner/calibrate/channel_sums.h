// ChannelSums: what the channels of one tensor are on average, over any number of rows of data.
//
// Where: collection fills one for each tensor that a product reads, when biases are to be
// corrected; means() goes to the correction. Sums are of whole numbers, so shards of the data,
// merged in any order, give the same bytes as one pass. A value; written by one thread at a time.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace enginery {

struct ChannelSums {
  // A row's mean counts in units of 2^-20, up to 2^19 on either side of 0; fewer than 2^24 rows
  // fit.
  static constexpr int kUnitBits = 20;
  static constexpr double kLargestMean = 1 << 19;
  static constexpr uint64_t kRowsBeyond = uint64_t{1} << 24;

  uint64_t rows = 0;
  std::vector<int64_t>
      sums;                // by channel, of the rows' means, in units; empty before the first row
  bool is_beyond = false;  // a mean or the rows are beyond the limits: nothing is known

  // Adds rows of [channels, positions]. Requires finite elements, and as many channels as ever.
  void observe(std::span<const float> elements, size_t channels, size_t positions);
  // Requires as many channels, where either has any.
  void merge(const ChannelSums& other);
  // By channel; empty where nothing is known.
  std::vector<float> means() const;

  friend bool operator==(const ChannelSums&, const ChannelSums&) = default;

 private:
  void check_rows() { is_beyond |= rows >= kRowsBeyond; }
};

}  // namespace enginery
