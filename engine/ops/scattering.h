// Operators that read and write elements at computed places. Sources: ONNX GatherND-13,
// ScatterElements-18, ScatterND-18.
//
// Indices are int32 or int64; negative ones count from the end. Errors: invalid_argument for one
// outside its dimension, when the values are seen.
#pragma once

#include "engine/ops/attributes.h"
#include "engine/ops/operand.h"

namespace enginery {

// Inputs: data, indices [..., k]. The last dimension of indices addresses the k dimensions of data
// after the first `batch_dims`, which both share. Output: indices.dims[..-1] and data's rest.
struct GatherNd {
  static constexpr std::string_view kName = "gather_nd";
  static constexpr bool kMovesElements = true;
  int64_t batch_dims = 0;
  template <typename Self, typename V>
  static void fields(Self& s, V&& v) {
    v("batch_dims", s.batch_dims);
  }
};

// What an update does to the element that it meets; with `replace` the last one wins.
enum class ScatterKind { replace, add, mul, min, max };
std::span<const std::string_view> enum_names(ScatterKind);

// Inputs: data, indices, updates (of indices' dims and data's type). Output: data, then
// out[indices[i][j]][j] <- updates[i][j] for axis 0.
struct ScatterElements {
  static constexpr std::string_view kName = "scatter_elements";
  static constexpr bool kMovesElements = false;
  ScatterKind kind = ScatterKind::replace;
  int64_t axis = 0;
  template <typename Self, typename V>
  static void fields(Self& s, V&& v) {
    v("kind", s.kind);
    v("axis", s.axis);
  }
};

// Inputs: data, indices [..., k], updates [..., data's dimensions after k]. Output: data, then
// out[indices[i]] <- updates[i].
struct ScatterNd {
  static constexpr std::string_view kName = "scatter_nd";
  static constexpr bool kMovesElements = false;
  ScatterKind kind = ScatterKind::replace;
  template <typename Self, typename V>
  static void fields(Self& s, V&& v) {
    v("kind", s.kind);
  }
};

ENGINERY_OPERATOR(GatherNd);
ENGINERY_OPERATOR(ScatterElements);
ENGINERY_OPERATOR(ScatterNd);

}  // namespace enginery
