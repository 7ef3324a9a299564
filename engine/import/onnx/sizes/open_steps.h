// OpenSteps: the small steps that rewrites of operators on open axes are made of: sizes, masks,
// counts as vectors.
//
// Where: the base of the classes behind rewrite_open. Not thread-safe.
#pragma once

#include "engine/import/onnx/sizes/rewrite_open.h"

namespace enginery {

class OpenSteps {
 public:
  OpenSteps(Op& op, std::vector<ValueId>& inputs, OpenAxes& open, const Graph& graph, Steps& steps)
      : op_(op), inputs_(inputs), open_(open), graph_(graph), steps_(steps) {}

 protected:
  // Neutral answers after a failed step.
  const Dims& dims(ValueId v) const;
  int64_t size(ValueId v, int64_t axis) const;
  DataType type(ValueId v) const;
  int64_t wrapped(int64_t axis, ValueId v) const {
    return axis < 0 ? axis + std::ssize(dims(v)) : axis;
  }
  ValueId count_of(size_t input, int64_t axis) const { return open_.count(inputs_[input], axis); }

  ValueId ints(const std::vector<int64_t>& values);
  ValueId scalar(int64_t value) { return steps_.constant(Tensor::scalar(value)); }
  ValueId as_vector(ValueId count) { return steps_.add(Reshape{}, {count, ints({1})}); }
  ValueId as_scalar(ValueId v) { return steps_.add(Reshape{}, {v, ints({})}); }

  // True for the elements that count, of the dims that `v` has from the axis on, of which all but
  // that one are 1.
  ValueId mask(ValueId v, int64_t axis);
  // The value with `fill`, a scalar, in the place of what does not count along that axis.
  ValueId masked(ValueId v, int64_t axis, ValueId fill);
  ValueId masked(ValueId v, int64_t axis, const Tensor& fill) {
    return masked(v, axis, steps_.constant(fill));
  }
  ValueId masked(ValueId v, double fill);  // along every open axis
  // The same elements as a value of which all count.
  ValueId closed(ValueId v);

  // int64 sizes of the axes from start to end, as each run tells them.
  ValueId sizes_of(ValueId v, int64_t start, int64_t end);
  // Positions of which those below zero count from the end: from `sizes`, the actual one.
  ValueId from_actual_end(ValueId at, ValueId sizes);

  // Masks need the largest size.
  Status require_sizes() const;
  Error refuse(size_t input, int64_t axis) const { return open_axis_error(op_, input, axis); }

  Op& op_;
  std::vector<ValueId>& inputs_;
  OpenAxes& open_;
  const Graph& graph_;
  Steps& steps_;
};

}  // namespace enginery
