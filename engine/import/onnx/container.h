// The container of an ONNX model that protobuf cannot hold as one message: its external weights,
// and behind them the model, which says where each lies.
//
// Where: pack writes it, the importer reads it like any other model's bytes; no one else looks
// inside. engine/import/README.md has the grammar. Values; free functions without state.
#pragma once

#include <memory>
#include <string_view>

#include "engine/base/digest.h"
#include "engine/base/result.h"

namespace enginery {

inline constexpr std::string_view kContainerMagic = "ENGONNX1";
// What the model calls the weights of its container.
inline constexpr std::string_view kContainedLocation = "//container";
// Of the weights' beginning, and of each of them.
inline constexpr size_t kWeightAlignment = 64;

// The parts of a model's bytes.
struct ModelParts {
  std::string_view model;    // the ModelProto
  std::string_view weights;  // of a container; else empty
};
// The bytes themselves where they are no container. Errors: invalid_argument (a container that is
// cut).
Result<ModelParts> parts_of(std::string_view bytes);

// Makes a container: weights first, one after the other, then the model.
class ContainerWriter {
 public:
  // `weights`: the bytes of all of them, for which memory is taken at once.
  explicit ContainerWriter(uint64_t weights);
  // Room for weights, and where it begins, counted from the first weight. The pointer is good until
  // the next call.
  std::pair<uint64_t, char*> add(uint64_t bytes);
  Bytes finish(std::string_view model) &&;

 private:
  Bytes out_;
};

}  // namespace enginery
