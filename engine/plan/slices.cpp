#include "engine/plan/slices.h"

#include <algorithm>
#include <set>

#include "engine/plan/memory.h"
#include "engine/tactics/shapes/parts.h"

namespace enginery {
namespace {

// Who makes a value, whichever alternatives are in force.
using Producers = std::map<ValueId, std::vector<const NetworkNode*>>;

Producers producers_of(const Network& network) {
  Producers out;
  const auto add = [&](const std::vector<NetworkNode>& nodes) {
    for (const NetworkNode& node : nodes)
      for (const ValueId v : node.outputs) out[v].push_back(&node);
  };
  add(network.nodes);
  for (const Alternative& alternative : network.alternatives) add(alternative.instead);
  return out;
}

bool offers_a_view(const NetworkNode& node) {
  return std::ranges::any_of(node.tactics, [](const Tactic& t) { return t.view_of >= 0; });
}

class Offering {
 public:
  explicit Offering(Network& network) : network_(network), producers_(producers_of(network)) {}

  void run() {
    for (NetworkNode& node : network_.nodes) {
      const std::vector<Tactic> slices = slices_of(node);
      if (!slices.empty() && (joins_parts(node.problem) ? may_join(node) : may_cut(node)))
        node.tactics.insert(node.tactics.end(), slices.begin(), slices.end());
    }
  }

 private:
  // One in each of the formats in which the node can run at all.
  static std::vector<Tactic> slices_of(const NetworkNode& node) {
    std::vector<Tactic> out;
    for (const Tactic& copy : node.tactics) {
      const bool known = std::ranges::any_of(out, [&](const Tactic& slice) {
        return slice.inputs == copy.inputs && slice.outputs == copy.outputs;
      });
      const auto offsets = part_offsets(node.problem, copy);
      if (known || !offsets || !std::ranges::all_of(*offsets, [](int64_t offset) {
            return offset % kArenaAlignment == 0;
          }))
        continue;
      Tactic slice;
      slice.source = copy.source;
      slice.id = kSliceId;
      slice.inputs = copy.inputs;
      slice.outputs = copy.outputs;
      slice.compute = copy.compute;
      slice.view_of = 0;
      slice.trust = Trust::may_be_wrong;
      out.push_back(std::move(slice));
    }
    return out;
  }

  // Takes the parts for this whole, where all are to be had.
  bool may_join(const NetworkNode& node) {
    std::set<ValueId> wanted;
    for (const ValueId v : node.inputs) {
      if (!may_be_placed(v, wanted)) return false;
    }
    taken_.insert(wanted.begin(), wanted.end());
    return true;
  }

  // Whether the value can be written wherever it is wanted, and whatever it is a view of with it.
  bool may_be_placed(ValueId v, std::set<ValueId>& wanted) const {
    const auto made = producers_.find(v);
    if (made == producers_.end() || network_.graph.is_output(v)) return false;
    if (taken_.contains(v) || !wanted.insert(v).second) return false;
    return std::ranges::all_of(made->second, [&](const NetworkNode* node) {
      if (!offers_a_view(*node) || joins_parts(node->problem)) return true;
      return !is_slice(node->problem, node->tactics.back()) &&
             may_be_placed(node->inputs[0], wanted);
    });
  }

  // A graph's output would have to be copied to the caller at the end.
  bool may_cut(const NetworkNode& node) const {
    return std::ranges::none_of(node.outputs,
                                [&](ValueId v) { return network_.graph.is_output(v); });
  }

  Network& network_;
  const Producers producers_;
  std::set<ValueId> taken_;
};

}  // namespace

bool is_slice(const Problem& problem, const Tactic& tactic) {
  return tactic.view_of >= 0 && is_one_of<Concat, Split, Slice>(problem);
}

void offer_slices(Network& network) {
  Offering(network).run();
}

bool drop_slices(Network& network) {
  size_t dropped = 0;
  for (NetworkNode& node : network.nodes)
    dropped +=
        std::erase_if(node.tactics, [&](const Tactic& t) { return is_slice(node.problem, t); });
  return dropped > 0;
}

SliceHomes::SliceHomes(const Network& network, const std::vector<Tactic>& tactics) {
  // A whole has its place before its parts have theirs.
  for (size_t n = network.nodes.size(); n-- > 0;) {
    const NetworkNode& node = network.nodes[n];
    const bool cuts = is_slice(node.problem, tactics[n]) && !joins_parts(node.problem);
    if (tactics[n].view_of >= 0 && !cuts) add_parts(node, tactics[n]);
  }
}

const SliceHome* SliceHomes::find(ValueId v, const Dims& dims, const Format& format) const {
  const auto found = homes_.find(v);
  if (found == homes_.end()) return nullptr;
  for (const SliceHome& home : found->second) {
    if (same_placement(dims, home.format, format)) return &home;
  }
  return nullptr;
}

// Of a join, or of what is only seen under other dims, unless it is made in a format other than
// that of its home: a reformat then moves it there.
void SliceHomes::add_parts(const NetworkNode& node, const Tactic& tactic) {
  const ValueId out = node.outputs[0];
  const Dims& dims = output_dims(node.problem);
  const Format& format = tactic.outputs[0];
  const bool joins = joins_parts(node.problem);
  const SliceHome* known = find(out, dims, format);
  if (!known && !joins) return;
  SliceHome home{out, format, 0, physical_bytes(dims, format)};
  if (known)
    home = *known;
  else
    homes_[out].push_back(home);
  const auto offsets = joins ? part_offsets(node.problem, tactic) : std::vector<int64_t>{0};
  for (size_t i = 0; offsets && i < offsets->size(); ++i) {
    homes_[node.inputs[i]].push_back(
        {home.whole, tactic.inputs[i], home.offset + (*offsets)[i], home.whole_bytes});
  }
}

}  // namespace enginery
