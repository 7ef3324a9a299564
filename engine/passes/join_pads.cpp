#include "engine/passes/join_pads.h"

#include <algorithm>

#include "engine/passes/fold_pads.h"

namespace enginery {
namespace {

constexpr int64_t kMostElements = 1 << 16;  // of one constant: more would swell the engine's file

bool is_joined(DataType type) {
  return type == DataType::int32 || type == DataType::int64 || type == DataType::boolean;
}

// What stands beside the value along one dimension; 0 elements: nothing.
struct Beside {
  int64_t axis, before, after;
};

// In the dimensions' order; nothing where the node is to stay a Pad.
std::optional<std::vector<Beside>> joins_of(const Graph& graph, const Node& node) {
  const Pad* pad = std::get_if<Pad>(&node.op);
  if (!pad || pad->mode != PadMode::constant) return std::nullopt;
  const TensorType& type = graph.value(node.inputs[0]).type;
  if (!is_joined(type.type) || !is_static(type.dims)) return std::nullopt;
  if (has_input(node, 2) && !graph.constant(node.inputs[2])) return std::nullopt;
  const size_t rank = type.dims.size();
  const auto amounts = pad_amounts(graph, node, rank);
  if (!amounts || std::ranges::any_of(*amounts, [](int64_t p) { return p < 0; }))
    return std::nullopt;
  std::vector<Beside> out;
  Dims dims = type.dims;
  for (size_t d = 0; d < rank; ++d) {
    const Beside beside{static_cast<int64_t>(d), (*amounts)[d], (*amounts)[rank + d]};
    if (beside.before == 0 && beside.after == 0) continue;
    dims[d] = std::max(beside.before, beside.after);
    if (!checked_volume(dims).ok() || volume(dims) > kMostElements) return std::nullopt;
    dims[d] = type.dims[d] + beside.before + beside.after;
    out.push_back(beside);
  }
  if (out.empty()) return std::nullopt;  // remove_no_ops takes it
  return out;
}

class PadJoiner {
 public:
  PadJoiner(Graph& graph, NodeId id) : graph_(graph), id_(id), name_(graph.node(id).name) {}

  // The node itself becomes the last join, so that its output stays.
  Status join(const std::vector<Beside>& places) {
    const Node node = graph_.node(id_);
    ValueId x = node.inputs[0];
    fill_ = has_input(node, 2) ? graph_.constant(node.inputs[2])->reshaped({})
                               : convert(Tensor::scalar<int64_t>(0), graph_.value(x).type.type);
    for (size_t i = 0; i < places.size(); ++i) {
      TRY(std::vector<ValueId> parts, parts_of(x, places[i]));
      if (i + 1 == places.size()) {
        graph_.node(id_).op = Concat{places[i].axis};
        graph_.node(id_).inputs = std::move(parts);
        break;
      }
      TRY(const auto joined,
          graph_.add_node(name_ + "/part", Concat{places[i].axis}, std::move(parts)));
      x = joined[0];
    }
    return {};
  }

 private:
  Result<std::vector<ValueId>> parts_of(ValueId x, const Beside& place) {
    std::vector<ValueId> parts{x};
    if (place.before > 0) {
      TRY(const ValueId filled, filled_beside(x, place.axis, place.before));
      parts.insert(parts.begin(), filled);
    }
    if (place.after > 0) {
      TRY(const ValueId filled, filled_beside(x, place.axis, place.after));
      parts.push_back(filled);
    }
    return parts;
  }

  // A constant of the value's dims but for `size` along the axis.
  Result<ValueId> filled_beside(ValueId x, int64_t axis, int64_t size) {
    Dims dims = graph_.value(x).type.dims;
    dims[static_cast<size_t>(axis)] = size;
    const Tensor shape = Tensor::of<int64_t>({std::ssize(dims)}, std::span(dims));
    const std::vector<const Tensor*> operands{&fill_, &shape};
    TRY(auto filled, run_reference(Expand{}, operands));
    return graph_.add_constant(name_ + "/padding", std::move(filled[0]));
  }

  Graph& graph_;
  const NodeId id_;
  const std::string name_;
  Tensor fill_;  // a scalar, however the model writes it
};

}  // namespace

Result<int> join_pads(Graph& graph) {
  int changed = 0;
  for (const NodeId id : graph.topological_order()) {
    const auto places = joins_of(graph, graph.node(id));
    if (!places) continue;
    CHECK_OK(PadJoiner(graph, id).join(*places));
    ++changed;
  }
  return changed;
}

}  // namespace enginery
