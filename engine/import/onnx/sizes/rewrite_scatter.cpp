#include "engine/import/onnx/sizes/rewrite_scatter.h"

#include "engine/import/onnx/sizes/open_steps.h"

namespace enginery {
namespace {

class ScatterRewriter : private OpenSteps {
 public:
  using OpenSteps::OpenSteps;

  Result<Rewritten> run() {
    Rewritten out;
    if (const auto* elements = std::get_if<ScatterElements>(&op_))
      CHECK_OK(rewrite(*elements, out));
    else if (std::holds_alternative<ScatterNd>(op_))
      CHECK_OK(rewrite_tuples(out));
    return out;
  }

 private:
  // Each update belongs to a position.
  Status require_positions(int64_t position_axes) const {
    const CountedAxes &at = open_.of(inputs_[1]).axes, &updates = open_.of(inputs_[2]).axes;
    for (const OpenAxis& a : at) {
      if (a.axis >= position_axes) return refuse(1, a.axis);
    }
    if (at != updates) return refuse(2, (updates.empty() ? at : updates)[0].axis);
    return {};
  }

  Status rewrite(const ScatterElements& op, Rewritten& out) {
    CHECK_OK(require_sizes());
    CHECK_OK(require_positions(std::ssize(dims(inputs_[1]))));
    const ValueId data = inputs_[0];
    const int64_t axis = wrapped(op.axis, data), rows = size(data, axis);
    if (rows < 0) return refuse(0, axis);
    if (const ValueId count = count_of(0, axis); count != kNoValue)
      inputs_[1] = from_actual_end(inputs_[1], count);
    if (open_.of(inputs_[1]).axes.empty()) return {};
    ValueId at = inputs_[1];
    for (const OpenAxis& a : CountedAxes(open_.of(at).axes)) at = masked(at, a.axis, scalar(rows));
    scatter_beyond(axis, at, out);
    return {};
  }

  Status rewrite_tuples(Rewritten& out) {
    CHECK_OK(require_sizes());
    const ValueId data = inputs_[0];
    const int64_t tuple = dims(inputs_[1]).empty() ? 0 : dims(inputs_[1]).back();
    if (tuple < 1 || size(data, 0) < 0) return refuse(1, std::ssize(dims(inputs_[1])) - 1);
    CHECK_OK(require_positions(std::ssize(dims(inputs_[1])) - 1));
    bool is_counted = false;
    for (const OpenAxis& a : open_.of(data).axes) is_counted |= a.axis < tuple;
    if (is_counted) inputs_[1] = from_actual_end(inputs_[1], sizes_of(data, 0, tuple));
    if (open_.of(inputs_[1]).axes.empty()) return {};
    std::vector<int64_t> beyond(static_cast<size_t>(tuple), 0);
    beyond[0] = size(data, 0);
    ValueId at = inputs_[1];
    for (const OpenAxis& a : CountedAxes(open_.of(at).axes)) at = masked(at, a.axis, ints(beyond));
    scatter_beyond(0, at, out);
    return {};
  }

  // With one more row along the axis, which is then cut off.
  void scatter_beyond(int64_t axis, ValueId at, Rewritten& out) {
    const ValueId data = inputs_[0];
    const int64_t rows = size(data, axis);
    Dims row = dims(data);
    if (row.empty()) return;  // after a failed step
    row[static_cast<size_t>(axis)] = 1;
    const ValueId spare = steps_.add(ConstantOfShape{type(data), 0}, {ints(row)});
    const ValueId whole = steps_.add(Concat{axis}, {closed(data), spare});
    const ValueId written = steps_.add(op_, {whole, closed(at), closed(inputs_[2])});
    const ValueId cut =
        steps_.add(Slice{}, {written, ints({0}), ints({rows}), ints({axis}), ints({1})});
    open_.add(cut, {open_.of(data).axes, false});
    out.values = {cut};
  }
};

}  // namespace

Result<Rewritten> rewrite_scatter(Op& op, std::vector<ValueId>& inputs, OpenAxes& open,
                                  const Graph& graph, Steps& steps) {
  return ScatterRewriter(op, inputs, open, graph, steps).run();
}

}  // namespace enginery
