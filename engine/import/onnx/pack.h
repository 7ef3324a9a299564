// Inlines an ONNX model's external weights, so that one blob travels.
#pragma once

#include "engine/import/importer.h"

namespace enginery {

// The source's bytes unchanged when nothing is external. Errors: those of parsing and of external
// data; unsupported when the whole would pass protobuf's 2 GiB.
Result<Bytes> inline_external_data(const ModelSource& source);

}  // namespace enginery
