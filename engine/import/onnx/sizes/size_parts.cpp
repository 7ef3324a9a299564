#include "engine/import/onnx/sizes/size_parts.h"

#include <algorithm>

namespace enginery {
namespace {

// Longer chains, and more sizes, come from no exporter.
constexpr int kMostSteps = 32;
constexpr int64_t kMaxParts = 64;

using Parts = std::optional<SizeParts>;

Parts numbers_of(const Tensor& tensor) {
  if (is_floating(tensor.type()) || tensor.size() > kMaxParts) return std::nullopt;
  SizeParts out;
  for (const int64_t number : to_int64s(tensor)) out.push_back({number, kNoValue});
  return out;
}

class Tracer {
 public:
  Tracer(const OpenAxes& open, const Graph& graph) : open_(open), graph_(graph) {}

  Parts of(ValueId v, int depth) const {
    if (v == kNoValue || depth > kMostSteps || !open_.of(v).axes.empty()) return std::nullopt;
    if (const Tensor* constant = graph_.constant(v)) return numbers_of(*constant);
    if (open_.is_count(v)) return SizeParts{{0, v}};
    const Value& value = graph_.value(v);
    if (value.producer == kNoNode || is_floating(value.type.type)) return std::nullopt;
    const Node& node = graph_.node(value.producer);
    return std::visit([&](const auto& op) { return made_by(op, node, depth + 1); }, node.op);
  }

 private:
  template <typename T>
  Parts made_by(const T&, const Node& node, int depth) const {
    constexpr bool kKeepsElements = std::is_same_v<T, Identity> || std::is_same_v<T, Cast> ||
                                    std::is_same_v<T, Reshape> || std::is_same_v<T, Squeeze> ||
                                    std::is_same_v<T, Unsqueeze>;
    if constexpr (kKeepsElements) return of(node.inputs[0], depth);
    return std::nullopt;
  }

  Parts made_by(const Concat&, const Node& node, int depth) const {
    SizeParts out;
    for (const ValueId v : node.inputs) {
      const Parts part = of(v, depth);
      if (!part || graph_.value(v).type.dims.size() != 1) return std::nullopt;
      out.insert(out.end(), part->begin(), part->end());
    }
    return out;
  }

  Parts made_by(const Gather&, const Node& node, int depth) const {
    const Tensor* at = graph_.constant(node.inputs[1]);
    const Parts all = of(node.inputs[0], depth);
    if (!all || !at || graph_.value(node.inputs[0]).type.dims.size() != 1) return std::nullopt;
    SizeParts out;
    for (int64_t i : to_int64s(*at)) {
      if (i < 0) i += std::ssize(*all);
      if (i < 0 || i >= std::ssize(*all)) return std::nullopt;
      out.push_back((*all)[static_cast<size_t>(i)]);
    }
    return out;
  }

  // Of steps of 1, from what is known to what is known.
  Parts made_by(const Slice&, const Node& node, int depth) const {
    const Parts all = of(node.inputs[0], depth);
    if (!all || graph_.value(node.inputs[0]).type.dims.size() != 1) return std::nullopt;
    const auto number = [&](size_t input, int64_t otherwise) -> std::optional<int64_t> {
      if (input >= node.inputs.size() || node.inputs[input] == kNoValue) return otherwise;
      const Tensor* constant = graph_.constant(node.inputs[input]);
      return constant && constant->size() == 1 ? std::optional(to_int64s(*constant)[0])
                                               : std::nullopt;
    };
    const auto start = number(1, 0), end = number(2, INT64_MAX), step = number(4, 1);
    if (!start || !end || step != 1) return std::nullopt;
    const int64_t n = std::ssize(*all);
    const auto place = [&](int64_t i) { return std::clamp<int64_t>(i < 0 ? i + n : i, 0, n); };
    const int64_t first = place(*start), last = std::max(first, place(*end));
    return SizeParts(all->begin() + first, all->begin() + last);
  }

  // Element by element, of parts of one length, or one of them for all.
  template <typename Combine>
  static Parts combined(const Parts& a, const Parts& b, Combine&& combine) {
    if (!a || !b || a->empty() || b->empty()) return std::nullopt;
    const size_t n = std::max(a->size(), b->size());
    if ((a->size() != n && a->size() != 1) || (b->size() != n && b->size() != 1))
      return std::nullopt;
    SizeParts out;
    for (size_t i = 0; i < n; ++i) {
      const std::optional<SizePart> one =
          combine((*a)[a->size() == 1 ? 0 : i], (*b)[b->size() == 1 ? 0 : i]);
      if (!one) return std::nullopt;
      out.push_back(*one);
    }
    return out;
  }

  static bool is_number(const SizePart& part, int64_t number) {
    return part.count == kNoValue && part.number == number;
  }
  // No count is below zero.
  static std::optional<SizePart> equal(const SizePart& a, const SizePart& b) {
    if (a.count == kNoValue && b.count == kNoValue) return SizePart{a.number == b.number, kNoValue};
    const bool differ =
        (a.count == kNoValue && a.number < 0) || (b.count == kNoValue && b.number < 0);
    return differ ? std::optional(SizePart{0, kNoValue}) : std::nullopt;
  }
  static std::optional<SizePart> sum(const SizePart& a, const SizePart& b) {
    if (is_number(a, 0)) return b;
    return is_number(b, 0) ? std::optional(a) : std::nullopt;
  }
  static std::optional<SizePart> product(const SizePart& a, const SizePart& b) {
    if (is_number(a, 1)) return b;
    return is_number(b, 1) ? std::optional(a) : std::nullopt;
  }

  Parts made_by(const Binary& op, const Node& node, int depth) const {
    const Parts a = of(node.inputs[0], depth), b = of(node.inputs[1], depth);
    if (op.kind == BinaryKind::equal) return combined(a, b, equal);
    if (op.kind == BinaryKind::add) return combined(a, b, sum);
    if (op.kind == BinaryKind::mul) return combined(a, b, product);
    return std::nullopt;
  }

  Parts made_by(const Where&, const Node& node, int depth) const {
    const Parts chosen = of(node.inputs[0], depth), a = of(node.inputs[1], depth),
                b = of(node.inputs[2], depth);
    if (!chosen || !a || !b || a->size() != chosen->size() || b->size() != chosen->size())
      return std::nullopt;
    SizeParts out;
    for (size_t i = 0; i < chosen->size(); ++i) {
      if ((*chosen)[i].count != kNoValue) return std::nullopt;
      out.push_back((*chosen)[i].number != 0 ? (*a)[i] : (*b)[i]);
    }
    return out;
  }

  const OpenAxes& open_;
  const Graph& graph_;
};

}  // namespace

std::optional<SizeParts> size_parts(const OpenAxes& open, const Graph& graph, ValueId v) {
  return Tracer(open, graph).of(v, 0);
}

bool has_count(const std::optional<SizeParts>& parts) {
  return parts &&
         std::ranges::any_of(*parts, [](const SizePart& part) { return part.count != kNoValue; });
}

}  // namespace enginery
