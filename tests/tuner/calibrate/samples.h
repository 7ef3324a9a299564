// Activations to calibrate on, drawn from a seed.
#pragma once

#include <random>
#include <vector>

#include "tuner/calibrate/histogram.h"

namespace enginery::test {

inline std::vector<float> normal_sample(size_t count, float deviation, uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> numbers(0, deviation);
  std::vector<float> out(count);
  for (float& one : out) one = numbers(random);
  return out;
}

inline Histogram histogram_of(std::span<const float> elements) {
  Histogram out;
  const Status seen = out.observe(elements);
  ENSURE(seen.ok(), "histogram_of: elements that are not finite");
  return out;
}

}  // namespace enginery::test
