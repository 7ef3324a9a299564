// An ONNX file's bytes as ONNX's own protobuf message, with bounds on what a hostile file may cost.
#pragma once

#include <memory>
#include <string_view>

#include "engine/base/result.h"

namespace onnx {
class ModelProto;
}

namespace enginery {

// A deleter, so that this header needs no protobuf.
struct DeleteModelProto {
  void operator()(onnx::ModelProto* model) const;
};
using ModelProtoPointer = std::unique_ptr<onnx::ModelProto, DeleteModelProto>;

// Walks the bytes before protobuf does: a few bytes of wire format can become hundreds in memory.
// Refuses what would take more than twice the file and 1 GiB, what nests deeper than 64 messages,
// and what does not add up. Errors: invalid_argument (truncated, damaged, another format),
// unsupported (too large).
Status check_wire(std::string_view bytes);

// Errors: those of check_wire; invalid_argument without a graph or an operator set.
Result<ModelProtoPointer> parse_model(std::string_view bytes);

}  // namespace enginery
