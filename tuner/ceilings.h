// Ceilings: what the device was measured to do at most, in place of what its data sheet promises:
// bytes a second by the fastest of its streaming kernels, operations a second by its fastest large
// product in each precision. Shares of them say how much a layer leaves to be gained.
//
// Where: the tune step measures them once for each device key, keeps them in the timing store under
// "ceiling ..." and hands them on with its choices. Belongs to one thread, which holds the device's
// lock.
#pragma once

#include "tuner/tuner.h"

namespace enginery {

// Empty for a CPU, whose layers are shown without a roofline. By name, as SelectionRecord::ceilings
// has them: "bytes_per_second", and "fp16_flops" and its like for each of the options' precisions.
// What could not be measured is not among them. Errors: cancelled, storage, device_lost.
Result<std::map<std::string, double>> measured_ceilings(Device& device,
                                                        const TacticSources& sources,
                                                        TimingStore& store,
                                                        const TunerOptions& options);

}  // namespace enginery
