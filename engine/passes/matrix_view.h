// MatrixView: where the elements of a stack of matrices lie in a tensor that is stored in order,
// and what that becomes across the operators that only move them.
//
// Where: fuse_attention, which reads its operands where they were before reshapes, transpositions,
// splits and repetitions. Values and pure functions.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "engine/graph/graph.h"

namespace enginery {

// A run of `size` elements, `stride` apart; 0 repeats one.
struct Run {
  int64_t size = 1, stride = 0;
};

// The matrices of `value`: index i of an axis stands for one position in each of its runs,
// outermost first.
struct MatrixView {
  enum Axis { kBatch, kRows, kColumns };
  ValueId value = kNoValue;
  int64_t offset = 0;
  std::array<std::vector<Run>, 3> axes;

  // Whether rows and columns are one run each.
  bool is_simple() const;
  Run row() const { return single(kRows); }
  Run column() const { return single(kColumns); }

 private:
  Run single(Axis axis) const { return axes[axis].empty() ? Run{} : axes[axis][0]; }
};

// The last two dimensions of a value as matrices, repeated over `batch` as broadcasting does; runs
// that continue each other are one.
MatrixView matrices_of(const Graph& graph, ValueId value, const Dims& batch);

// The same elements in the tensor that the value's producer moves them from; nothing where it does
// anything else.
std::optional<MatrixView> before_move(const Graph& graph, const MatrixView& view);
// The same elements in the output of `node`, the reshape or transposition of the view's value.
std::optional<MatrixView> after_move(const Graph& graph, const MatrixView& view, const Node& node);

// One list of sizes for the batches of all views, and each view's strides in it; nothing where
// their runs do not divide each other.
struct CommonBatch {
  std::vector<int64_t> sizes;
  std::vector<std::vector<int64_t>> strides;  // of each view, parallel to the sizes
};
std::optional<CommonBatch> common_batch(const std::vector<const MatrixView*>& views);

}  // namespace enginery
