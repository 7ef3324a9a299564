// The ONNX importer: operator sets 1 to 24 of the domain ai.onnx, weights inside the file or in
// files next to it. Stateless: any number of threads may import at once.
#pragma once

#include <memory>

#include "engine/import/importer.h"

namespace enginery {

// For make_importers; knows .onnx files by their name and their first bytes.
std::unique_ptr<Importer> make_onnx_importer();

}  // namespace enginery
