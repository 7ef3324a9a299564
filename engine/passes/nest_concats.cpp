#include "engine/passes/nest_concats.h"

#include <algorithm>
#include <map>
#include <span>

namespace enginery {
namespace {

// A value and the parts, side by side, that it consists of.
struct Whole {
  ValueId value;
  int64_t axis;
  std::vector<ValueId> parts;
};

// The wholes so far, by their first part.
class Wholes {
 public:
  void add(Whole whole) {
    const ValueId first = whole.parts.front();
    by_first_part_[first].push_back(std::move(whole));
  }

  // The largest one that `parts` begin with; null where there is none.
  const Whole* starting(std::span<const ValueId> parts, int64_t axis) const {
    const auto found = by_first_part_.find(parts.front());
    if (found == by_first_part_.end()) return nullptr;
    const Whole* largest = nullptr;
    for (const Whole& whole : found->second) {
      const bool fits = whole.axis == axis && whole.parts.size() <= parts.size() &&
                        std::ranges::equal(whole.parts, parts.first(whole.parts.size()));
      if (fits && (!largest || largest->parts.size() < whole.parts.size())) largest = &whole;
    }
    return largest;
  }

 private:
  std::map<ValueId, std::vector<Whole>> by_first_part_;
};

// The same with every run of parts that is a whole as that whole.
std::vector<ValueId> nested(const Wholes& wholes, std::span<const ValueId> parts, int64_t axis) {
  std::vector<ValueId> out;
  while (!parts.empty()) {
    const Whole* whole = wholes.starting(parts, axis);
    out.push_back(whole ? whole->value : parts.front());
    parts = parts.subspan(whole ? whole->parts.size() : 1);
  }
  return out;
}

}  // namespace

Result<int> nest_concats(Graph& graph) {
  int changed = 0;
  Wholes wholes;
  const auto rank_of = [&](ValueId v) { return graph.value(v).type.dims.size(); };
  for (const NodeId id : graph.topological_order()) {
    const Node node = graph.node(id);
    if (const auto* split = std::get_if<Split>(&node.op)) {
      const ValueId cut = node.inputs[0];
      wholes.add({cut, wrapped(split->axis, rank_of(cut)), node.outputs});
    }
    const auto* concat = std::get_if<Concat>(&node.op);
    if (!concat) continue;
    const ValueId joined = node.outputs[0];
    const int64_t axis = wrapped(concat->axis, rank_of(joined));
    const std::vector<ValueId> parts = nested(wholes, node.inputs, axis);
    changed += parts != node.inputs;
    if (parts.size() == 1 && node.inputs.size() > 1 && !graph.is_output(joined)) {
      graph.replace_uses(joined, parts[0]);
      graph.erase_node(id);
      continue;
    }
    graph.node(id).inputs = parts;
    if (node.inputs.size() > 1) wholes.add({joined, axis, node.inputs});
  }
  return changed;
}

}  // namespace enginery
