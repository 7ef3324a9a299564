// An ONNX model with its external weights as one blob, which travels.
#pragma once

#include "engine/import/importer.h"

namespace enginery {

// What fits into one protobuf message with some room for the tags of its tensors.
inline constexpr uint64_t kMaxInlinedBytes = (uint64_t{1} << 31) - (uint64_t{1} << 24);

// The source's bytes unchanged when nothing is external; a model file with its weights inside where
// both together are at most `most_inlined`; else a container (container.h). Errors: those of
// parsing and of external data.
Result<Bytes> pack_onnx(const ModelSource& source, uint64_t most_inlined = kMaxInlinedBytes);

// Always a model file. Errors: also unsupported where it would be more than kMaxInlinedBytes.
Result<Bytes> inline_external_data(const ModelSource& source);

}  // namespace enginery
