#include "engine/import/onnx/sizes/rewrite_sized.h"

#include <algorithm>

#include "engine/import/onnx/sizes/open_steps.h"
#include "engine/import/onnx/sizes/size_parts.h"

namespace enginery {
namespace {

// No dimension passes it.
constexpr int64_t kMostOfAnAxis = INT32_MAX;

// The count and the number of a product that is one of each; nothing while that product is made.
std::optional<std::pair<ValueId, int64_t>> counted_product(const OpenAxes& open, const Graph& graph,
                                                           const Op& op,
                                                           const std::vector<ValueId>& inputs) {
  const auto* binary = std::get_if<Binary>(&op);
  if (!binary || binary->kind != BinaryKind::mul) return std::nullopt;
  for (const ValueId v : inputs) {
    const TensorType& type = graph.value(v).type;
    if (type.type != DataType::int64 || type.dims.size() > 1 || volume(type.dims) != 1)
      return std::nullopt;
  }
  const size_t known = graph.constant(inputs[1]) ? 1 : 0;
  const Tensor* number = graph.constant(inputs[known]);
  if (!number || to_int64s(*number)[0] < 2) return std::nullopt;
  const auto parts = size_parts(open, graph, inputs[1 - known]);
  if (!has_count(parts)) return std::nullopt;
  const std::pair factors{(*parts)[0].count, to_int64s(*number)[0]};
  const auto made = open.products.find(factors);
  const bool is_being_made = made != open.products.end() && made->second == kNoValue;
  return is_being_made ? std::nullopt : std::optional(factors);
}

class SizedRewriter : private OpenSteps {
 public:
  using OpenSteps::OpenSteps;

  Result<Rewritten> run() {
    Rewritten out;
    CHECK_OK(std::visit([&](auto& op) { return rewrite(op, out); }, op_));
    return out;
  }

 private:
  template <typename T>
  Status rewrite(T&, Rewritten&) {
    return {};
  }

  // The most that each part can be, and the axes that are counts.
  struct Shape {
    Dims largest;
    CountedAxes axes;
  };
  // Errors: unsupported (a count of which no bound is known).
  Result<Shape> shape_of(const SizeParts& parts, size_t input) const {
    Shape out;
    for (const SizePart& part : parts) {
      const auto axis = std::ssize(out.largest);
      const auto most =
          part.count == kNoValue ? part.number : open_.upper_bound(graph_, part.count);
      if (!most) return refuse(input, axis);
      out.largest.push_back(*most);
      if (part.count != kNoValue) out.axes.push_back({axis, part.count});
    }
    return out;
  }

  void give(Rewritten& out, ValueId value, CountedAxes axes) {
    open_.add(value, {std::move(axes), false});
    out.values = {value};
  }

  Status rewrite(ConstantOfShape& op, Rewritten& out) {
    const auto parts = size_parts(open_, graph_, inputs_[0]);
    if (!parts) return refuse(0, 0);
    TRY(const Shape shape, shape_of(*parts, 0));
    give(out, steps_.add(op, {ints(shape.largest)}), shape.axes);
    return {};
  }

  // An axis of size 1 becomes one of that many; an open one stays where it has that count.
  Status rewrite(Expand&, Rewritten& out) {
    const auto parts = size_parts(open_, graph_, inputs_[1]);
    if (!parts) return refuse(1, 0);
    TRY(Shape shape, shape_of(*parts, 1));
    const ValueId x = inputs_[0];
    const int64_t ahead = std::ssize(shape.largest) - std::ssize(dims(x));
    if (ahead < 0) return refuse(0, 0);
    CountedAxes axes = shape.axes;
    for (const OpenAxis& a : open_.of(x).axes) {
      const SizePart& part = (*parts)[static_cast<size_t>(a.axis + ahead)];
      if (part == SizePart{0, a.count}) continue;
      if (part != SizePart{1, kNoValue}) return refuse(0, a.axis);
      axes.push_back({a.axis + ahead, a.count});
    }
    for (const CountedAxis& a : shape.axes) {
      const int64_t own = a.axis - ahead;
      if (own >= 0 && open_.count(x, own) == kNoValue && size(x, own) != 1)
        return refuse(1, a.axis);
    }
    std::ranges::sort(axes, {}, &OpenAxis::axis);
    give(out, steps_.add(Expand{}, {closed(x), ints(shape.largest)}), axes);
    return {};
  }

  // Only what is not repeated may be open; what is repeated as often as a run tells has size 1.
  Status rewrite(Tile&, Rewritten& out) {
    const auto parts = size_parts(open_, graph_, inputs_[1]);
    const ValueId x = inputs_[0];
    if (!parts || parts->size() != dims(x).size()) return refuse(1, 0);
    TRY(const Shape repeats, shape_of(*parts, 1));
    CountedAxes axes = open_.of(x).axes;
    for (const OpenAxis& a : axes) {
      if ((*parts)[static_cast<size_t>(a.axis)] != SizePart{1, kNoValue}) return refuse(0, a.axis);
    }
    for (const CountedAxis& a : repeats.axes) {
      if (size(x, a.axis) != 1) return refuse(1, a.axis);
      axes.push_back(a);
    }
    std::ranges::sort(axes, {}, &OpenAxis::axis);
    give(out, steps_.add(Tile{}, {closed(x), ints(repeats.largest)}), axes);
    return {};
  }

  // From 0 in steps of 1 up to a count.
  Status rewrite(Range&, Rewritten& out) {
    const auto start = size_parts(open_, graph_, inputs_[0]);
    const auto limit = size_parts(open_, graph_, inputs_[1]);
    const auto step = size_parts(open_, graph_, inputs_[2]);
    const bool counts = limit && limit->size() == 1 && start == SizeParts{{0, kNoValue}} &&
                        step == SizeParts{{1, kNoValue}};
    if (!counts) return refuse(1, 0);
    TRY(const Shape shape, shape_of(*limit, 1));
    ValueId all = steps_.counting(shape.largest);
    if (type(inputs_[1]) != DataType::int64) all = steps_.add(Cast{type(inputs_[1])}, {all});
    give(out, steps_.add(Identity{}, {closed(all)}), shape.axes);
    return {};
  }

  // A count in the target becomes 0 or -1, which say the same of this input. Where the first axis
  // is open and joined with those behind it, as many of its elements count as of theirs together.
  Status rewrite(Reshape& op, Rewritten& out) {
    const auto& axes = open_.of(inputs_[0]).axes;
    if (axes.size() != 1) return axes.empty() ? refuse(1, 0) : refuse(0, axes[0].axis);
    const OpenAxis own = axes[0];
    const auto parts = size_parts(open_, graph_, inputs_[1]);
    if (!parts) return refuse(1, 0);
    std::vector<int64_t> target;
    for (const SizePart& part : *parts) {
      if (part.count != kNoValue && part.count != own.count) return refuse(1, std::ssize(target));
      const bool copies = std::ssize(target) == own.axis && !op.allow_zero;
      target.push_back(part.count == kNoValue ? part.number : copies ? 0 : -1);
    }
    if (std::ranges::count(target, -1) > 1) return refuse(1, 0);
    if (has_count(parts)) inputs_[1] = ints(target);
    if (own.axis == 0 && !target.empty() && target[0] == -1) CHECK_OK(join_first(target, own, out));
    return {};
  }
  Status join_first(const std::vector<int64_t>& target, const OpenAxis& own, Rewritten& out) {
    const Dims& in = dims(inputs_[0]);
    if (!is_static(in)) return refuse(0, own.axis);
    const int64_t behind = volume(Dims(in.begin() + 1, in.end()));
    int64_t left = 1;
    for (size_t i = 1; i < target.size(); ++i) {
      const bool copied = target[i] == 0 && i < in.size();
      left *= copied ? in[i] : target[i];
    }
    if (left <= 0 || behind % left != 0) return refuse(0, own.axis);
    const int64_t times = behind / left;
    if (times > 1) out.count = times_of(own.count, times, in[0]);
    return {};
  }
  // That many times the count, of which there are `most`: for equal ones one value.
  ValueId times_of(ValueId count, int64_t times, int64_t most) {
    ValueId& product = open_.products.try_emplace({count, times}, kNoValue).first->second;
    if (product == kNoValue) {
      product = steps_.add(Binary{BinaryKind::mul}, {count, scalar(times)});
      open_.add_count(product, most * times);
    }
    return product;
  }

  // Axes before the given one are joined, and those from it on.
  Status rewrite(Flatten& op, Rewritten& out) {
    const Dims in = dims(inputs_[0]);
    const auto& axes = open_.of(inputs_[0]).axes;
    const int64_t axis = wrapped(op.axis, inputs_[0]);
    if (axis < 2 || axes.size() != 1 || axes[0].axis != 0 || !is_static(in)) return {};
    const int64_t behind = volume(Dims(in.begin() + axis, in.end()));
    const OpenAxis own = axes[0];
    op_ = Reshape{};
    inputs_.push_back(ints({-1, behind}));
    return join_first({-1, behind}, own, out);
  }

  // A count times a number is a count.
  Status rewrite(Binary& op, Rewritten& out) {
    const auto factors = counted_product(open_, graph_, op, inputs_);
    const auto most = factors ? open_.upper_bound(graph_, factors->first) : std::nullopt;
    if (!most || factors->second > kMostOfAnAxis / std::max<int64_t>(*most, 1)) return {};
    const ValueId product = times_of(factors->first, factors->second, *most);
    const bool is_vector = !dims(inputs_[0]).empty() || !dims(inputs_[1]).empty();
    out.values = {is_vector ? as_vector(product) : product};
    return {};
  }
};

}  // namespace

bool takes_counts(const OpenAxes& open, const Graph& graph, const Op& op,
                  const std::vector<ValueId>& inputs) {
  const auto counts = [&](size_t input) {
    return input < inputs.size() && has_count(size_parts(open, graph, inputs[input]));
  };
  if (std::holds_alternative<ConstantOfShape>(op)) return counts(0);
  if (std::holds_alternative<Resize>(op)) return counts(2);
  if (counted_product(open, graph, op, inputs)) return true;
  const bool sized = std::holds_alternative<Expand>(op) || std::holds_alternative<Tile>(op) ||
                     std::holds_alternative<Range>(op) || std::holds_alternative<Reshape>(op);
  return sized && counts(1);
}

Result<Rewritten> rewrite_sized(Op& op, std::vector<ValueId>& inputs, OpenAxes& open,
                                const Graph& graph, Steps& steps) {
  return SizedRewriter(op, inputs, open, graph, steps).run();
}

}  // namespace enginery
