// The calibrators, one make function each, in the order of the list. Inside of the library; see
// calibrator.h.
#pragma once

#include <span>

#include "tuner/calibrate/calibrator.h"

namespace enginery {

// The threshold with the least mean squared error, searched over the histogram: first in steps of
// 2^(1/16) down to 1/256 of the largest magnitude, then around the best.
std::unique_ptr<Calibrator> make_mse();

// The threshold whose clipped and quantised distribution diverges least from the tensor's: 2048
// bins, 128 levels. Source: S. Migacz, "8-bit Inference with TensorRT", GTC 2017, the slides
// "Entropy calibration - pseudocode" and "Candidate distribution Q". They leave open whether the
// zeros of a ReLU count. They do not here: they are exact at any scale, and spread over the bins of
// their level they would make any candidate but the least look worse.
std::unique_ptr<Calibrator> make_entropy();
// The same with the first bin as full as the second, so that what is nearly zero does not count
// much either. TensorRT has not published what its second version does; this is the
// rule of NVIDIA's quantisation toolkit for PyTorch.
std::unique_ptr<Calibrator> make_entropy2();

std::unique_ptr<Calibrator> make_minmax();      // the largest magnitude: nothing is clipped
std::unique_ptr<Calibrator> make_percentile();  // 99.99 % of the elements are at most that large
// The parameters that TensorRT's legacy calibrator asks for, with their documented meaning: the
// magnitude below which the share `quantile` of the elements lies, at least `cutoff` times the
// largest one. Its regression is not published.
std::unique_ptr<Calibrator> make_legacy();

// The divergence of entropy calibration, KL(P || Q) in nats: P is the first `kept` bins with the
// others added to the last of them; Q is the first `kept` bins, each of `levels` groups of
// neighbours spread evenly over its bins that are not empty. Where that last bin is empty, Q has
// 0.0001 elements there, so that far outliers do not forbid the candidate (the smoothing of MXNet's
// quantisation, which the source leaves open). Infinite where all of the first bins are empty.
// Requires levels <= kept <= bins.size().
double kl_divergence(std::span<const double> bins, size_t kept, size_t levels);

}  // namespace enginery
