// Numbers about samples.
#pragma once

#include <algorithm>
#include <vector>

namespace enginery {

// The upper middle of the samples; 0 of none.
inline double median(std::vector<double> samples) {
  if (samples.empty()) return 0;
  auto middle = samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2);
  std::nth_element(samples.begin(), middle, samples.end());
  return *middle;
}

}  // namespace enginery
