// Numbers about samples: timings, mostly.
#pragma once

#include <algorithm>
#include <vector>

namespace enginery {

// The median, for an even number of samples the larger of the two in the middle; 0 for none.
inline double median(std::vector<double> samples) {
  if (samples.empty()) return 0;
  auto middle = samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2);
  std::nth_element(samples.begin(), middle, samples.end());
  return *middle;
}

}  // namespace enginery
