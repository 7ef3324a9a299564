// Small valid ONNX models that between them use most readers: the seeds of tests/fuzz.
#pragma once

#include <vector>

#include "engine/base/digest.h"

namespace enginery::test {

std::vector<Bytes> seed_models();

}  // namespace enginery::test
