#include "engine/import/onnx/sizes/rewrite_spread.h"

#include "engine/import/onnx/sizes/open_steps.h"
#include "engine/import/onnx/sizes/size_parts.h"

namespace enginery {
namespace {

class SpreadRewriter : private OpenSteps {
 public:
  using OpenSteps::OpenSteps;

  Result<Rewritten> run() {
    CHECK_OK(require_sizes());
    if (std::holds_alternative<Pad>(op_)) CHECK_OK(require_no_pads());
    if (const auto* resize = std::get_if<Resize>(&op_)) CHECK_OK(keep_sizes(*resize));
    return Rewritten();
  }

 private:
  ValueId input(size_t i) const { return i < inputs_.size() ? inputs_[i] : kNoValue; }

  Status require_no_pads() const {
    for (size_t i = 1; i < inputs_.size(); ++i) {
      if (!open_.of(inputs_[i]).axes.empty()) return refuse(i, open_.of(inputs_[i]).axes[0].axis);
    }
    const OpenAxis first = open_.of(inputs_[0]).axes[0];
    const Tensor *pads = graph_.constant(inputs_[1]), *chosen = graph_.constant(input(3));
    if (!pads || (input(3) != kNoValue && !chosen)) return refuse(0, first.axis);
    const std::vector<int64_t> sizes = to_int64s(*pads);
    std::vector<int64_t> axes = chosen ? to_int64s(*chosen) : std::vector<int64_t>();
    for (int64_t axis = 0; !chosen && axis < std::ssize(dims(inputs_[0])); ++axis)
      axes.push_back(axis);
    if (sizes.size() != 2 * axes.size()) return {};  // the operator's own rule says so
    for (size_t i = 0; i < axes.size(); ++i) {
      const int64_t axis = wrapped(axes[i], inputs_[0]);
      const bool pads_it = sizes[i] != 0 || sizes[i + axes.size()] != 0;
      if (pads_it && count_of(0, axis) != kNoValue) return refuse(0, axis);
    }
    return {};
  }

  // By a factor of 1, or to the size that it has. Nothing behind a count may reach what counts, not
  // even times a weight of 0.
  Status keep_sizes(const Resize& op) {
    const CountedAxes axes = open_.of(inputs_[0]).axes;
    if (axes.empty())
      return Error{ErrorCode::unsupported,
                   "resize: the size to which it resizes is known after a "
                   "run alone, and there is no rule for that"};
    if (op.coordinates == ResizeCoordinates::crop) return refuse(0, axes[0].axis);
    if (const Tensor* scales = graph_.constant(input(1))) {
      const Tensor wide = convert(*scales, DataType::float32);
      for (const OpenAxis& a : axes) {
        if (a.axis < wide.size() && wide.data<float>()[static_cast<size_t>(a.axis)] != 1)
          return refuse(0, a.axis);
      }
    } else {
      CHECK_OK(keep_counts(axes));
    }
    inputs_[0] = masked(inputs_[0], 0);
    return {};
  }
  Status keep_counts(const CountedAxes& axes) {
    const auto parts = size_parts(open_, graph_, input(2));
    if (!parts || parts->size() != dims(inputs_[0]).size()) return refuse(0, axes[0].axis);
    std::vector<int64_t> sizes;
    for (const SizePart& part : *parts) {
      const auto axis = std::ssize(sizes);
      if (part.count != count_of(0, axis)) return refuse(0, axis);
      sizes.push_back(part.count == kNoValue ? part.number : size(inputs_[0], axis));
    }
    inputs_[2] = ints(sizes);
    return {};
  }
};

}  // namespace

Result<Rewritten> rewrite_spread(Op& op, std::vector<ValueId>& inputs, OpenAxes& open,
                                 const Graph& graph, Steps& steps) {
  return SpreadRewriter(op, inputs, open, graph, steps).run();
}

}  // namespace enginery
