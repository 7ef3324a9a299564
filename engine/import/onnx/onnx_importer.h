// The ONNX importer: operator sets 1 to 21 of the domain ai.onnx, weights inside the file or in
// files beside it.
#pragma once

#include <memory>

#include "engine/import/importer.h"

namespace enginery {

std::unique_ptr<Importer> make_onnx_importer();

}  // namespace enginery
