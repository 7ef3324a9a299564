#include "tuner/calibrate/channel_sums.h"

#include <cmath>
#include <numeric>

namespace enginery {

void ChannelSums::observe(std::span<const float> elements, size_t channels, size_t positions) {
  sums.resize(channels, 0);
  const size_t of_row = channels * positions;
  for (size_t at = 0; of_row > 0 && at + of_row <= elements.size(); at += of_row) {
    for (size_t c = 0; c < channels; ++c) {
      const auto plane = elements.subspan(at + c * positions, positions);
      const double mean =
          std::accumulate(plane.begin(), plane.end(), 0.0) / static_cast<double>(positions);
      is_beyond |= std::abs(mean) > kLargestMean;
      if (!is_beyond) sums[c] += std::llround(std::ldexp(mean, kUnitBits));
    }
    ++rows;
    check_rows();
  }
  if (is_beyond) sums.assign(channels, 0);
}

void ChannelSums::merge(const ChannelSums& other) {
  if (other.rows == 0) return;
  sums.resize(other.sums.size(), 0);
  rows += other.rows;
  is_beyond |= other.is_beyond;
  check_rows();
  for (size_t c = 0; c < sums.size(); ++c) sums[c] = is_beyond ? 0 : sums[c] + other.sums[c];
}

std::vector<float> ChannelSums::means() const {
  std::vector<float> out;
  if (is_beyond || rows == 0) return out;
  for (const int64_t sum : sums)
    out.push_back(static_cast<float>(std::ldexp(static_cast<double>(sum), -kUnitBits) /
                                     static_cast<double>(rows)));
  return out;
}

}  // namespace enginery
