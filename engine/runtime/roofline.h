// Roofline: the least time that a layer's arithmetic and traffic take on a device.
//
// Where: Engine fills LayerInfo::roofline_us with it; `bench` shows shares of it. What the build
// measured on its card counts before the data sheet of the card that is here. Pure functions.
#pragma once

#include "engine/device/device.h"
#include "engine/tactics/tactic.h"
#include "enginery/types.h"

namespace enginery {

// What a device does at most in a second; 0 where that is not known.
struct Ceilings {
  double float32_flops = 0, tf32_flops = 0, float16_flops = 0, bytes_per_second = 0;
};

// Those of the data sheet, each replaced by the one that `provenance` has as measured: the facts
// "ceiling.bytes_per_second", "ceiling.fp16_flops" and its like (tuner/ceilings.h).
Ceilings ceilings_of(const DeviceInfo& device, const Properties& provenance);

// What a problem's sums are computed in: int8 for a product of quantised numbers, whose tactics
// compute the rest of it in `compute`; else that.
Precision arithmetic_of(const Problem& problem, Precision compute);

// In microseconds; 0 where the ceilings of that precision or of the traffic are not known.
double roofline_us(double flops, double bytes, Precision compute, const Ceilings& ceilings);

}  // namespace enginery
