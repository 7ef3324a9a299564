#include "engine/import/onnx/sizes/rewrite_open.h"

#include <algorithm>
#include <limits>

#include "engine/import/onnx/sizes/open_steps.h"
#include "engine/import/onnx/sizes/rewrite_scatter.h"
#include "engine/import/onnx/sizes/rewrite_sized.h"
#include "engine/import/onnx/sizes/rewrite_spread.h"
#include "engine/import/onnx/sizes/size_parts.h"

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

class Rewriter : private OpenSteps {
 public:
  using OpenSteps::OpenSteps;

  Result<Rewritten> run() {
    Rewritten out;
    CHECK_OK(std::visit([&](auto& op) { return rewrite(op, out); }, op_));
    return out;
  }

  ValueId actual_shape(ValueId v) {
    const int64_t rank = std::ssize(dims(v));
    const ValueId shape = sizes_of(v, 0, rank);
    open_.add_shape(shape, v);
    return shape;
  }

 private:
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
                                            : sizes_of(v, start, end)};
    return {};
  }

  Status rewrite(ConstantOfShape&, Rewritten& out) { return rewrite_with(rewrite_sized, out); }
  Status rewrite(Expand&, Rewritten& out) { return rewrite_with(rewrite_sized, out); }
  Status rewrite(Tile&, Rewritten& out) { return rewrite_with(rewrite_sized, out); }
  Status rewrite(Range&, Rewritten& out) { return rewrite_with(rewrite_sized, out); }
  Status rewrite(Reshape&, Rewritten& out) { return rewrite_with(rewrite_sized, out); }
  Status rewrite(Flatten&, Rewritten& out) { return rewrite_with(rewrite_sized, out); }
  Status rewrite(Pad&, Rewritten& out) { return rewrite_with(rewrite_spread, out); }
  Status rewrite(Resize&, Rewritten& out) { return rewrite_with(rewrite_spread, out); }
  Status rewrite(ScatterElements&, Rewritten& out) { return rewrite_with(rewrite_scatter, out); }
  Status rewrite(ScatterNd&, Rewritten& out) { return rewrite_with(rewrite_scatter, out); }
  template <typename Rewrite>
  Status rewrite_with(Rewrite&& other, Rewritten& out) {
    TRY(out, other(op_, inputs_, open_, graph_, steps_));
    return {};
  }

  // Nothing behind a count is a position, or a divisor.
  Status close_positions() {
    if (open_.of(inputs_[1]).axes.empty() || open_.of(inputs_[1]).zeros_behind) return {};
    CHECK_OK(require_sizes());
    inputs_[1] = masked(inputs_[1], 0);
    return {};
  }
  Status rewrite(Binary& op, Rewritten& out) {
    if (op.kind == BinaryKind::mul && !open_.any(inputs_)) return rewrite_with(rewrite_sized, out);
    const bool divides =
        op.kind == BinaryKind::div || op.kind == BinaryKind::mod || op.kind == BinaryKind::fmod;
    if (!divides || is_floating(type(inputs_[1])) || open_.of(inputs_[1]).axes.empty()) return {};
    CHECK_OK(require_sizes());
    inputs_[1] = masked(inputs_[1], 1);
    return {};
  }

  Status as_int64_positions() {
    if (type(inputs_[1]) != DataType::int64)
      inputs_[1] = steps_.add(Cast{DataType::int64}, {inputs_[1]});
    return {};
  }
  // Sizes of a shape that are known are constants, and a count is itself.
  bool picks_sizes(Rewritten& out) {
    if (open_.any(inputs_)) return false;
    const auto all = size_parts(open_, graph_, inputs_[0]);
    const Tensor* at = graph_.constant(inputs_[1]);
    if (!all || !at) return false;
    SizeParts picked;
    for (int64_t i : to_int64s(*at)) {
      i += i < 0 ? std::ssize(*all) : 0;
      if (i < 0 || i >= std::ssize(*all)) return false;
      picked.push_back((*all)[static_cast<size_t>(i)]);
    }
    if (!has_count(picked)) {
      std::vector<int64_t> numbers;
      for (const SizePart& part : picked) numbers.push_back(part.number);
      out.values = {steps_.constant(Tensor::of<int64_t>(at->dims(), numbers))};
    } else if (at->dims().empty()) {
      out.values = {picked[0].count};
    }
    return true;
  }
  Status rewrite(Gather& op, Rewritten& out) {
    if (picks_sizes(out)) return {};
    CHECK_OK(close_positions());
    const int64_t axis = wrapped(op.axis, inputs_[0]);
    const ValueId count = count_of(0, axis);
    if (count == kNoValue) return {};
    if (graph_.constant(inputs_[1])) return open_axis_error(op_, 0, axis);
    CHECK_OK(as_int64_positions());
    inputs_[1] = from_actual_end(inputs_[1], count);
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
    inputs_[1] = from_actual_end(inputs_[1], sizes_of(x, op.batch_dims, op.batch_dims + tuple));
    return close_positions();
  }

  // An end that is the axis's own count is that of all of it.
  void close_ends() {
    const auto ends = size_parts(open_, graph_, inputs_[2]);
    if (!has_count(ends) || open_.of(inputs_[0]).axes.size() != 1) return;
    std::vector<int64_t> closed_ends;
    for (const SizePart& end : *ends) {
      const bool is_all = end.count == open_.of(inputs_[0]).axes[0].count;
      if (end.count != kNoValue && !is_all) return;
      closed_ends.push_back(end.count == kNoValue ? end.number : INT64_MAX);
    }
    inputs_[2] = ints(closed_ends);
  }

  // Elements up to `end` from `start` on, of which the axis has `count`.
  Status rewrite(Slice&, Rewritten& out) {
    const auto& axes = open_.of(inputs_[0]).axes;
    std::vector<std::vector<int64_t>> given;
    for (size_t i = 1; i < inputs_.size(); ++i) {
      if (i == 2) close_ends();
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

  // A mean is the sum of what counts over how much of it there is.
  Status mean(const Reduce& op, Rewritten& out) {
    CHECK_OK(require_sizes());
    const ValueId x = inputs_[0];
    ValueId sum = x, counts = kNoValue;
    int64_t known = 1;
    for (int64_t axis = 0; axis < std::ssize(dims(x)); ++axis) {
      const auto is_it = [&](int64_t a) { return wrapped(a, x) == axis; };
      if (!op.axes.empty() && std::ranges::none_of(op.axes, is_it)) continue;
      const ValueId count = open_.count(x, axis);
      if (count == kNoValue) {
        known *= size(x, axis);
        continue;
      }
      sum = masked(sum, axis, convert(Tensor::scalar(0.0), type(x)));
      counts = counts == kNoValue ? count : steps_.add(Binary{BinaryKind::mul}, {counts, count});
    }
    sum = steps_.add(Reduce{ReduceKind::sum, op.axes, op.keep_dims}, {sum});
    const ValueId all = steps_.add(Binary{BinaryKind::mul}, {counts, scalar(known)});
    out.values = {steps_.add(Binary{BinaryKind::div}, {sum, steps_.add(Cast{type(x)}, {all})})};
    return {};
  }
  Status rewrite(Reduce& op, Rewritten& out) {
    if (op.axes.empty() && op.none_is_identity) return {};
    const bool takes_open = std::ranges::any_of(open_.of(inputs_[0]).axes, [&](const OpenAxis& a) {
      return op.axes.empty() || std::ranges::any_of(op.axes, [&](int64_t axis) {
               return wrapped(axis, inputs_[0]) == a.axis;
             });
    });
    if (takes_open && op.kind == ReduceKind::mean && is_floating(type(inputs_[0])))
      return mean(op, out);
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
    if (inputs_.size() == 1) {
      out.values = inputs_;
      return {};
    }
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
    const auto split = open_.splits.find(parts);
    const ValueId all = steps_.add(op, whole),
                  at = split == open_.splits.end()
                           ? places_in(parts, axis)
                           : places_of_split(split->second, size(inputs_[0], axis));
    out.values = {steps_.add(Gather{axis}, {all, at})};
    return {};
  }

  // Where each of the `length` elements that were split stands in the whole: as far behind its own
  // place as the parts before its own have room beyond their sizes.
  ValueId places_of_split(ValueId sizes, int64_t length) {
    const ValueId places = steps_.counting({length}),
                  ends = steps_.add(CumSum{}, {sizes, ints({0})}),
                  room = steps_.add(Binary{BinaryKind::sub}, {scalar(length), sizes}),
                  column = steps_.add(Reshape{}, {places, ints({length, 1})}),
                  lies_before = steps_.add(Binary{BinaryKind::less}, {column, ends}),
                  beyond = steps_.add(Where{}, {lies_before, scalar(0), room}),
                  shifts = steps_.add(Reduce{ReduceKind::sum, {1}, false}, {beyond});
    return steps_.add(Binary{BinaryKind::add}, {places, shifts});
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
      const ValueId places = steps_.counting({size(part, axis)});
      return steps_.add(Binary{BinaryKind::greater_equal}, {places, scalar(0)});
    }
    return closed(steps_.add(Reshape{}, {mask(part, axis), ints({-1})}));
  }
};

// What the operator's own rule refuses, of sizes that may be any, no rewrite has to expect.
Status require_legal(const Op& op, const Inputs& inputs, const OpenAxes& open, const Graph& graph) {
  std::vector<Operand> operands = graph.operands(Node{"", op, inputs});
  for (size_t i = 0; i < inputs.size(); ++i) {
    for (const OpenAxis& a : open.of(inputs[i]).axes)
      operands[i].type.dims[static_cast<size_t>(a.axis)] = kDynamic;
  }
  const auto types = infer_types(op, operands);
  return types ? Status() : types.error();
}

}  // namespace

bool reads_open(const OpenAxes& open, const Graph& graph, const Op& op, const Inputs& inputs) {
  if (open.any(inputs) || takes_counts(open, graph, op, inputs)) return true;
  const bool picks = std::holds_alternative<Gather>(op) && graph.constant(inputs[1]);
  return picks && open.shape_source(graph, inputs[0]) != kNoValue;
}

Result<Rewritten> rewrite_open(Op& op, Inputs& inputs, OpenAxes& open, const Graph& graph,
                               Steps& steps) {
  CHECK_OK(require_legal(op, inputs, open, graph));
  return Rewriter(op, inputs, open, graph, steps).run();
}

ValueId actual_shape(ValueId v, OpenAxes& open, const Graph& graph, Steps& steps) {
  Op none = Identity{};
  Inputs inputs;
  return Rewriter(none, inputs, open, graph, steps).actual_shape(v);
}

}  // namespace enginery
