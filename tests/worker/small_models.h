// Small convolutional networks as ONNX bytes, and the host's best CPU SKU to build them for.
#pragma once

#include <string>

#include "engine/base/digest.h"
#include "tests/support/temporary_folder.h"

namespace enginery::test {

// `layers` convolutions 3x3 with ReLU on 1x4x12x12, each of another width, so that each is a
// problem of its own. Another seed: other weights, the same structure.
Bytes convolutions(int layers, int seed);

// The first weight of the first layer of such a network.
float first_weight(int seed);

// The highest CPU SKU of this host; one for all tests of a process.
std::string best_cpu_sku();

}  // namespace enginery::test
