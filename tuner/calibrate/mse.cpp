#include <cmath>

#include "tuner/calibrate/algorithms.h"

namespace enginery {
namespace {

constexpr int kStepsAnOctave = 16;
constexpr int kOctaves = 8;
constexpr int kFineSteps = 8;  // on either side of the best, between its neighbours

class Mse final : public Calibrator {
 public:
  std::string_view name() const override { return "mse"; }
  std::string_view summary() const override { return "the least mean squared error"; }
  std::string_view table_name() const override { return "MseCalibration"; }

  double threshold(const Histogram& histogram) const override {
    double best = 0, least = INFINITY;
    const auto offer = [&](double candidate) {
      const double error = squared_error(histogram, candidate / kInt8Levels);
      if (error < least) {
        least = error;
        best = candidate;
      }
    };
    const double largest = histogram.largest_magnitude();
    for (int i = 0; i <= kStepsAnOctave * kOctaves; ++i)
      offer(largest * std::exp2(-static_cast<double>(i) / kStepsAnOctave));
    const double centre = best;
    for (int i = -kFineSteps + 1; i < kFineSteps; ++i) {
      const double candidate =
          centre * std::exp2(static_cast<double>(i) / (kFineSteps * kStepsAnOctave));
      if (candidate <= largest) offer(candidate);
    }
    return best;
  }
};

}  // namespace

std::unique_ptr<Calibrator> make_mse() {
  return std::make_unique<Mse>();
}

}  // namespace enginery
