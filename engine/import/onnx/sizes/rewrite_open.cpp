#include "engine/import/onnx/sizes/rewrite_open.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace enginery {
namespace {

using Inputs = std::vector<ValueId>;

// A scalar that no element of the type passes: the largest, or the least.
Tensor extreme(DataType type, bool largest) {
  const double infinity = std::numeric_limits<double>::infinity();
  if (type == DataType::int64)
    return Tensor::scalar(largest ? std::numeric_limits<int64_t>::max()
                                  : std::numeric_limits<int64_t>::min());
  return convert(Tensor::scalar(largest ? infinity : -infinity), type);
}

class Rewriter {
 public:
  Rewriter(Op& op, Inputs& inputs, OpenAxes& open, const Graph& graph, Steps& steps)
      : op_(op), inputs_(inputs), open_(open), graph_(graph), steps_(steps) {}

  Result<Rewritten> run() {
    Rewritten out;
    CHECK_OK(std::visit([&](auto& op) { return rewrite(op, out); }, op_));
    return out;
  }

  ValueId actual_shape(ValueId v) {
    const int64_t rank = std::ssize(dims(v));
    const ValueId shape = shape_of(v, 0, rank);
    open_.add_shape(shape, v);
    return shape;
  }

 private:
  const Dims& dims(ValueId v) const {
    static const Dims kNone;
    return v == kNoValue ? kNone : graph_.value(v).type.dims;
  }
  // Neutral answers after a failed step.
  int64_t size(ValueId v, int64_t axis) const {
    return v == kNoValue ? 0 : dims(v)[static_cast<size_t>(axis)];
  }
  DataType type(ValueId v) const {
    return v == kNoValue ? DataType::float32 : graph_.value(v).type.type;
  }
  int64_t wrapped(int64_t axis, ValueId v) const {
    return axis < 0 ? axis + std::ssize(dims(v)) : axis;
  }
  ValueId count_of(size_t input, int64_t axis) const { return open_.count(inputs_[input], axis); }
  ValueId ints(const std::vector<int64_t>& values) {
    return steps_.constant(Tensor::of<int64_t>({std::ssize(values)}, values));
  }
  ValueId scalar(int64_t value) { return steps_.constant(Tensor::scalar(value)); }
  ValueId as_vector(ValueId count) { return steps_.add(Reshape{}, {count, ints({1})}); }
  ValueId as_scalar(ValueId v) { return steps_.add(Reshape{}, {v, ints({})}); }

  // True for the elements that count, of the dims that `v` has from the axis on, of which all but
  // that one are 1.
  ValueId mask(ValueId v, int64_t axis) {
    if (v == kNoValue) return v;
    Dims shape(dims(v).size() - static_cast<size_t>(axis), 1);
    shape[0] = size(v, axis);
    Tensor positions(DataType::int64, shape);
    auto to = positions.mutable_data<int64_t>();
    std::iota(to.begin(), to.end(), 0);
    const ValueId count = open_.count(v, axis);
    const ValueId out =
        steps_.add(Binary{BinaryKind::less}, {steps_.constant(std::move(positions)), count});
    open_.add(out, {{{0, count}}, true});
    return out;
  }

  // The value with `fill` in the place of what does not count along that axis.
  ValueId masked(ValueId v, int64_t axis, const Tensor& fill) {
    return steps_.add(Where{}, {mask(v, axis), v, steps_.constant(fill)});
  }
  ValueId masked(ValueId v, double fill) {
    const auto axes = open_.of(v).axes;
    for (const OpenAxis& a : axes) v = masked(v, a.axis, convert(Tensor::scalar(fill), type(v)));
    return v;
  }

  // Masks need the largest size.
  Status require_sizes() const {
    for (size_t i = 0; i < inputs_.size(); ++i) {
      for (const OpenAxis& a : open_.of(inputs_[i]).axes) {
        if (size(inputs_[i], a.axis) < 0)
          return Error{ErrorCode::unsupported,
                       std::string(op_name(op_)) + ": the largest size of dimension " +
                           std::to_string(a.axis) + " of its input " + std::to_string(i) +
                           " is not known; give the inputs' sizes (--shapes)"};
      }
    }
    return {};
  }

  ValueId shape_of(ValueId v, int64_t start, int64_t end) {
    Inputs parts;
    for (int64_t axis = start; axis < end; ++axis) {
      const ValueId count = open_.count(v, axis);
      parts.push_back(count == kNoValue ? ints({size(v, axis)}) : as_vector(count));
    }
    return parts.size() == 1 ? parts[0] : steps_.add(Concat{0}, parts);
  }

  template <typename T>
  Status rewrite(T&, Rewritten&) {
    return {};
  }

  Status rewrite(Shape& op, Rewritten& out) {
    CHECK_OK(require_sizes());
    const ValueId v = inputs_[0];
    const int64_t rank = std::ssize(dims(v));
    const auto clamp = [&](int64_t i) {
      return std::clamp<int64_t>(i < 0 ? i + rank : i, 0, rank);
    };
    const int64_t start = clamp(op.start), end = std::max(start, clamp(op.end));
    if (std::ranges::any_of(Dims(dims(v).begin() + start, dims(v).begin() + end),
                            [](int64_t d) { return d < 0; }))
      return open_axis_error(op_, 0, open_.of(v).axes[0].axis);
    out.values = {start == 0 && end == rank ? actual_shape(v)
                  : start == end            ? ints({})
                                            : shape_of(v, start, end)};
    return {};
  }

  // A tensor of a shape that was asked of another one.
  Status rewrite(ConstantOfShape& op, Rewritten& out) {
    const ValueId like = open_.shape_source(graph_, inputs_[0]);
    out.values = {steps_.add(op, {ints(dims(like))})};
    open_.add(out.values[0], {open_.of(like).axes, false});
    return {};
  }
  Status rewrite(Expand&, Rewritten& out) {
    if (open_.any({inputs_[0]})) return open_axis_error(op_, 0, open_.of(inputs_[0]).axes[0].axis);
    const ValueId like = open_.shape_source(graph_, inputs_[1]);
    if (dims(inputs_[0]).size() > dims(like).size())
      return open_axis_error(op_, 1, open_.of(like).axes[0].axis);
    out.values = {steps_.add(Expand{}, {inputs_[0], ints(dims(like))})};
    open_.add(out.values[0], {open_.of(like).axes, false});
    return {};
  }

  // Nothing behind a count is a position, or a divisor.
  Status close_positions() {
    if (open_.of(inputs_[1]).axes.empty() || open_.of(inputs_[1]).zeros_behind) return {};
    CHECK_OK(require_sizes());
    inputs_[1] = masked(inputs_[1], 0);
    return {};
  }
  Status rewrite(Binary& op, Rewritten&) {
    const bool divides =
        op.kind == BinaryKind::div || op.kind == BinaryKind::mod || op.kind == BinaryKind::fmod;
    if (!divides || is_floating(type(inputs_[1])) || open_.of(inputs_[1]).axes.empty()) return {};
    CHECK_OK(require_sizes());
    inputs_[1] = masked(inputs_[1], 1);
    return {};
  }

  // Positions from the end of an axis count from its actual end.
  void count_from_end(ValueId sizes) {
    const ValueId at = inputs_[1];
    const ValueId below = steps_.add(Binary{BinaryKind::less}, {at, scalar(0)});
    const ValueId from_end = steps_.add(Binary{BinaryKind::add}, {at, sizes});
    inputs_[1] = steps_.add(Where{}, {below, from_end, at});
  }
  Status as_int64_positions() {
    if (type(inputs_[1]) != DataType::int64)
      inputs_[1] = steps_.add(Cast{DataType::int64}, {inputs_[1]});
    return {};
  }
  Status rewrite(Gather& op, Rewritten&) {
    CHECK_OK(close_positions());
    const int64_t axis = wrapped(op.axis, inputs_[0]);
    const ValueId count = count_of(0, axis);
    if (count == kNoValue) return {};
    if (graph_.constant(inputs_[1])) return open_axis_error(op_, 0, axis);
    CHECK_OK(as_int64_positions());
    count_from_end(count);
    return close_positions();
  }
  Status rewrite(GatherNd& op, Rewritten&) {
    CHECK_OK(close_positions());
    const ValueId x = inputs_[0];
    const int64_t tuple = dims(inputs_[1]).back();
    if (tuple < 0) return open_axis_error(op_, 1, std::ssize(dims(inputs_[1])) - 1);
    bool along_open = false;
    for (const OpenAxis& a : open_.of(x).axes)
      along_open |= a.axis >= op.batch_dims && a.axis < op.batch_dims + tuple;
    if (!along_open) return {};
    if (graph_.constant(inputs_[1])) return open_axis_error(op_, 0, open_.of(x).axes[0].axis);
    CHECK_OK(require_sizes());
    CHECK_OK(as_int64_positions());
    count_from_end(shape_of(x, op.batch_dims, op.batch_dims + tuple));
    return close_positions();
  }

  // Elements up to `end` from `start` on, of which the axis has `count`.
  Status rewrite(Slice&, Rewritten& out) {
    const auto& axes = open_.of(inputs_[0]).axes;
    std::vector<std::vector<int64_t>> given;
    for (size_t i = 1; i < inputs_.size(); ++i) {
      const Tensor* constant = graph_.constant(inputs_[i]);
      if (inputs_[i] != kNoValue && !constant) return open_axis_error(op_, i, 0);
      given.push_back(constant ? to_int64s(*constant) : std::vector<int64_t>());
    }
    given.resize(4);
    for (size_t i = 0; i < given[0].size(); ++i) {
      const int64_t axis =
          given[2].empty() ? static_cast<int64_t>(i) : wrapped(given[2][i], inputs_[0]);
      const ValueId count = count_of(0, axis);
      const int64_t start = given[0][i], end = given[1][i];
      if (count == kNoValue) continue;
      const bool plain = start >= 0 && end >= 0 && (given[3].empty() || given[3][i] == 1);
      if (plain && start == 0 && end >= size(inputs_[0], axis)) continue;  // all of it
      if (!plain || axes.size() != 1) return open_axis_error(op_, 0, axis);
      const ValueId last = steps_.add(Binary{BinaryKind::min}, {count, scalar(end)});
      const ValueId cut = steps_.add(Binary{BinaryKind::sub}, {last, scalar(start)});
      out.count = steps_.add(Binary{BinaryKind::max}, {cut, scalar(0)});
    }
    return {};
  }

  // What does not count loses, and comes behind equal ones that do.
  Status rewrite(TopK& op, Rewritten& out) {
    const ValueId x = inputs_[0];
    const int64_t axis = wrapped(op.axis, x);
    const ValueId count = count_of(0, axis);
    const bool known = graph_.constant(inputs_[1]) != nullptr;
    if (known && count == kNoValue) return {};
    CHECK_OK(require_sizes());
    if (size(x, axis) < 0) return open_axis_error(op_, 0, axis);
    const auto bound = open_.upper_bound(graph_, inputs_[1]);
    const int64_t most = std::clamp<int64_t>(bound.value_or(size(x, axis)), 0, size(x, axis));
    out.count = as_scalar(inputs_[1]);
    if (count == kNoValue) {
      out.count = steps_.add(Binary{BinaryKind::min}, {out.count, scalar(size(x, axis))});
    } else {
      out.count = steps_.add(Binary{BinaryKind::min}, {out.count, count});
      const bool floats = is_floating(type(x));
      const double nan = std::numeric_limits<double>::quiet_NaN();
      inputs_[0] = masked(x, axis,
                          floats && !op.largest ? convert(Tensor::scalar(nan), type(x))
                                                : extreme(type(x), !op.largest));
    }
    open_.add_count(out.count, most);
    inputs_[1] = ints({most});
    return {};
  }

  Status rewrite(Reduce& op, Rewritten&) {
    if (op.axes.empty() && op.none_is_identity) return {};
    for (const OpenAxis& a : std::vector(open_.of(inputs_[0]).axes)) {
      const auto is_it = [&](int64_t axis) { return wrapped(axis, inputs_[0]) == a.axis; };
      if (!op.axes.empty() && std::ranges::none_of(op.axes, is_it)) continue;
      CHECK_OK(require_sizes());
      TRY(const Tensor fill, neutral(op.kind, a.axis));
      inputs_[0] = masked(inputs_[0], a.axis, fill);
    }
    return {};
  }
  Result<Tensor> neutral(ReduceKind kind, int64_t axis) const {
    const DataType of = type(inputs_[0]);
    if (kind == ReduceKind::mean) return open_axis_error(op_, 0, axis);
    if (kind == ReduceKind::max || kind == ReduceKind::log_sum_exp) return extreme(of, false);
    if (kind == ReduceKind::min) return extreme(of, true);
    return convert(Tensor::scalar(kind == ReduceKind::prod ? 1.0 : 0.0), of);
  }

  Status rewrite(ArgMinMax& op, Rewritten&) {
    const int64_t axis = wrapped(op.axis, inputs_[0]);
    if (count_of(0, axis) == kNoValue) return {};
    if (op.select_last) return open_axis_error(op_, 0, axis);
    return mask_along(axis, extreme(type(inputs_[0]), !op.largest));
  }
  Status rewrite(Softmax& op, Rewritten&) {
    const int64_t axis = wrapped(op.axis, inputs_[0]);
    return count_of(0, axis) == kNoValue ? Status()
                                         : mask_along(axis, extreme(type(inputs_[0]), false));
  }
  Status rewrite(CumSum& op, Rewritten&) {
    if (!op.reverse) return {};
    CHECK_OK(require_sizes());
    inputs_[0] = masked(inputs_[0], 0);
    return {};
  }
  Status rewrite(FindNonZero&, Rewritten&) {
    CHECK_OK(require_sizes());
    inputs_[0] = masked(inputs_[0], 0);
    return {};
  }
  Status mask_along(int64_t axis, const Tensor& fill) {
    CHECK_OK(require_sizes());
    inputs_[0] = masked(inputs_[0], axis, fill);
    return {};
  }

  // Along an open axis: the places of what counts in the parts put one behind the other, and these
  // places' elements.
  Status rewrite(Concat& op, Rewritten& out) {
    int64_t axis = 0;
    bool along_open = false;
    for (size_t i = 0; i < inputs_.size(); ++i) {
      axis = wrapped(op.axis, inputs_[i]);
      along_open |= count_of(i, axis) != kNoValue;
    }
    if (!along_open) return {};
    CHECK_OK(require_sizes());
    Inputs whole;
    OpenAxes::Parts parts;
    for (size_t i = 0; i < inputs_.size(); ++i) {
      const ValueId part = inputs_[i];
      if (size(part, axis) < 0 || open_.of(part).axes.size() > 1)
        return open_axis_error(op_, i, axis);
      for (const OpenAxis& a : open_.of(part).axes) {
        if (a.axis != axis) return open_axis_error(op_, i, a.axis);
      }
      parts.emplace_back(size(part, axis), open_.count(part, axis));
      whole.push_back(closed(part));
    }
    const ValueId all = steps_.add(op, whole), at = places_in(parts, axis);
    out.values = {steps_.add(Gather{axis}, {all, at})};
    return {};
  }

  // Where the parts' elements that count stand in the whole; for parts of equal counts the same.
  ValueId places_in(const OpenAxes::Parts& parts, int64_t axis) {
    if (const auto known = open_.joined.find(parts); known != open_.joined.end())
      return known->second;
    Inputs marks;
    for (const ValueId part : inputs_) marks.push_back(flags(part, axis));
    const ValueId places = steps_.add(FindNonZero{}, {steps_.add(Concat{0}, marks)});
    if (places == kNoValue || graph_.value(places).producer == kNoNode) return kNoValue;
    const ValueId count = graph_.node(graph_.value(places).producer).outputs[1];
    const ValueId at = steps_.add(Reshape{}, {places, ints({-1})});
    open_.add_count(count, size(at, 0));
    open_.add(at, {{{0, count}}, true});
    return open_.joined[parts] = at;
  }

  // One boolean for each position along the axis: whether it counts; itself without an open axis.
  ValueId flags(ValueId part, int64_t axis) {
    if (open_.count(part, axis) == kNoValue) {
      Tensor yes(DataType::boolean, {size(part, axis)});
      if (yes.bytes() > 0) std::memset(yes.mutable_bytes(), 1, static_cast<size_t>(yes.bytes()));
      return steps_.constant(std::move(yes));
    }
    return closed(steps_.add(Reshape{}, {mask(part, axis), ints({-1})}));
  }
  // The same elements as a value of which all count.
  ValueId closed(ValueId v) {
    if (open_.of(v).axes.empty()) return v;
    const ValueId out = steps_.add(Identity{}, {v});
    open_.remove(out);
    return out;
  }

  Op& op_;
  Inputs& inputs_;
  OpenAxes& open_;
  const Graph& graph_;
  Steps& steps_;
};

}  // namespace

bool reads_open(const OpenAxes& open, const Graph& graph, const Op& op, const Inputs& inputs) {
  if (open.any(inputs)) return true;
  if (std::holds_alternative<ConstantOfShape>(op))
    return open.shape_source(graph, inputs[0]) != kNoValue;
  if (std::holds_alternative<Expand>(op)) return open.shape_source(graph, inputs[1]) != kNoValue;
  return false;
}

Result<Rewritten> rewrite_open(Op& op, Inputs& inputs, OpenAxes& open, const Graph& graph,
                               Steps& steps) {
  return Rewriter(op, inputs, open, graph, steps).run();
}

ValueId actual_shape(ValueId v, OpenAxes& open, const Graph& graph, Steps& steps) {
  Op none = Identity{};
  Inputs inputs;
  return Rewriter(none, inputs, open, graph, steps).actual_shape(v);
}

}  // namespace enginery
