#include "engine/plan/slices.h"

#include <algorithm>
#include <optional>
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
  explicit Offering(Network& network)
      : network_(network), producers_(producers_of(network)), users_(network.graph.users()) {}

  void run() {
    for (NetworkNode& node : network_.nodes) {
      std::vector<Tactic> slices = slices_of(node);
      if (!are_read_once(node.inputs)) std::erase_if(slices, joins_channels);
      std::erase_if(slices, [&](const Tactic& slice) {
        return joins_channels(slice) && !some_write_so(node, slice);
      });
      if (!slices.empty() && (joins_parts(node.problem) ? may_join(node) : may_cut(node)))
        node.tactics.insert(node.tactics.end(), slices.begin(), slices.end());
    }
  }

 private:
  // One in each of the formats in which the node can run at all.
  static std::vector<Tactic> slices_of(const NetworkNode& node) {
    std::vector<Tactic> out;
    for (const Tactic& copy : node.tactics) {
      const auto slice = slice_like(node.problem, copy);
      const bool known = slice && std::ranges::any_of(out, [&](const Tactic& other) {
                           return other.inputs == slice->inputs && other.outputs == slice->outputs;
                         });
      if (slice && !known) out.push_back(*slice);
    }
    return out;
  }

  // In the formats of the copy, or with the channels of its parts in their places.
  static std::optional<Tactic> slice_like(const Problem& problem, const Tactic& copy) {
    Tactic slice;
    slice.source = copy.source;
    slice.id = kSliceId;
    slice.inputs = copy.inputs;
    slice.outputs = copy.outputs;
    slice.compute = copy.compute;
    slice.view_of = 0;
    slice.trust = Trust::may_be_wrong;
    auto offsets = part_offsets(problem, slice);
    const auto pitched = pitched_parts(problem, copy.outputs[0]);
    if (!offsets && pitched) {
      std::ranges::fill(slice.inputs, *pitched);
      offsets = part_offsets(problem, slice);
      return offsets ? std::optional(slice) : std::nullopt;
    }
    const auto is_aligned = [](int64_t offset) { return offset % kArenaAlignment == 0; };
    if (!offsets || !std::ranges::all_of(*offsets, is_aligned)) return {};
    return slice;
  }

  static bool joins_channels(const Tactic& slice) { return has_pitch(slice.inputs[0]); }

  // Whoever else reads a value would have to read it with a pitch.
  bool are_read_once(const std::vector<ValueId>& values) const {
    return std::ranges::all_of(values, [&](ValueId v) {
      return v == kNoValue || users_[static_cast<size_t>(v)].size() == 1;
    });
  }

  // Whether there is anything to gain: for some part a tactic that writes it where it belongs.
  bool some_write_so(const NetworkNode& join, const Tactic& slice) const {
    const auto writes_so = [&](size_t part) {
      const auto made = producers_.find(join.inputs[part]);
      if (made == producers_.end()) return false;
      return std::ranges::any_of(made->second, [&](const NetworkNode* node) {
        return std::ranges::any_of(node->tactics, [&](const Tactic& t) {
          return node->outputs[0] == join.inputs[part] &&
                 can_leave(t, 0, output_dims(node->problem), slice.inputs[part]);
        });
      });
    };
    for (size_t part = 0; part < join.inputs.size(); ++part) {
      if (writes_so(part)) return true;
    }
    return false;
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
  const Users users_;
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

Tactic SliceHomes::placed(const NetworkNode& node, const Tactic& tactic) const {
  Tactic out = tactic;
  const auto found = homes_.find(node.outputs[0]);
  if (found == homes_.end()) return out;
  for (const SliceHome& home : found->second) {
    if (!has_pitch(home.format) || !can_leave(tactic, 0, output_dims(node.problem), home.format))
      continue;
    out.outputs[0] = home.format;
    out.in_place_operand = -1;
  }
  return out;
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
