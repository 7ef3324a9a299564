// Operators that read and write elements at computed places. Sources: ONNX GatherND-13,
// ScatterElements-18, ScatterND-18.
#pragma once

#include "engine/ops/attributes.h"
#include "engine/ops/operand.h"

namespace enginery {

// Inputs: data, indices [..., k] (negative counts from the end). The last dimension of indices
// addresses the k dimensions of data after the first `batch_dims`, which both share. Output:
// indices.dims[..-1] and data's rest.
struct GatherNd {
  static constexpr std::string_view kName = "gather_nd";
  int64_t batch_dims = 0;
  template <typename Self, typename V>
  static void fields(Self& s, V&& v) {
    v("batch_dims", s.batch_dims);
  }
};

// What an update does to the element that it meets; `replace` lets the last one win.
enum class ScatterKind { replace, add, mul, min, max };
std::span<const std::string_view> enum_names(ScatterKind);

// Inputs: data, indices, updates (of indices' dims). out = data, then out[indices[i][j]][j] <-
// updates[i][j] for axis 0.
struct ScatterElements {
  static constexpr std::string_view kName = "scatter_elements";
  ScatterKind kind = ScatterKind::replace;
  int64_t axis = 0;
  template <typename Self, typename V>
  static void fields(Self& s, V&& v) {
    v("kind", s.kind), v("axis", s.axis);
  }
};

// Inputs: data, indices [..., k], updates [..., data's dimensions after k]. out = data, then
// out[indices[i]] <- updates[i].
struct ScatterNd {
  static constexpr std::string_view kName = "scatter_nd";
  ScatterKind kind = ScatterKind::replace;
  template <typename Self, typename V>
  static void fields(Self& s, V&& v) {
    v("kind", s.kind);
  }
};

InferredTypes infer(const GatherNd& op, Operands in);
Status reference(const GatherNd& op, ReferenceInputs in, ReferenceOutputs out);
InferredTypes infer(const ScatterElements& op, Operands in);
Status reference(const ScatterElements& op, ReferenceInputs in, ReferenceOutputs out);
InferredTypes infer(const ScatterNd& op, Operands in);
Status reference(const ScatterNd& op, ReferenceInputs in, ReferenceOutputs out);

}  // namespace enginery
