#include "engine/plan/slices.h"

#include <algorithm>
#include <optional>
#include <ranges>
#include <set>

#include "engine/plan/memory.h"
#include "engine/plan/wanted_formats.h"
#include "engine/tactics/shapes/parts.h"

namespace enginery {
namespace {

// A node that makes or reads a value, as which of its outputs or inputs.
struct End {
  const NetworkNode* node;
  size_t index;
};

// Who makes and who reads each value, whichever alternatives are in force.
class Ends {
 public:
  explicit Ends(const Network& network) {
    add(network.nodes);
    for (const Alternative& alternative : network.alternatives) add(alternative.instead);
  }
  const std::vector<End>& makers(ValueId v) const { return of(makers_, v); }
  const std::vector<End>& readers(ValueId v) const { return of(readers_, v); }

 private:
  using ByValue = std::map<ValueId, std::vector<End>>;

  static const std::vector<End>& of(const ByValue& ends, ValueId v) {
    static const std::vector<End> kNobody;
    const auto found = ends.find(v);
    return found == ends.end() ? kNobody : found->second;
  }

  void add(const std::vector<NetworkNode>& nodes) {
    for (const NetworkNode& node : nodes) {
      for (size_t i = 0; i < node.outputs.size(); ++i)
        makers_[node.outputs[i]].push_back({&node, i});
      for (size_t i = 0; i < node.inputs.size(); ++i)
        readers_[node.inputs[i]].push_back({&node, i});
    }
  }

  ByValue makers_, readers_;
};

bool offers_a_view(const NetworkNode& node) {
  return std::ranges::any_of(node.tactics, [](const Tactic& t) { return t.view_of >= 0; });
}

class Offering {
 public:
  explicit Offering(Network& network) : network_(network), ends_(network) {}

  // Alternatives last: what is joined or cut without them stays so.
  void run() {
    for (NetworkNode& node : network_.nodes) offer(node);
    for (Alternative& alternative : network_.alternatives)
      for (NetworkNode& node : alternative.instead) offer(node);
    // From the outermost whole inwards: of joins the last one, of cuts the first one.
    for (NetworkNode& node : std::views::reverse(network_.nodes)) {
      if (joins_parts(node.problem)) offer_within_another(node);
    }
    for (NetworkNode& node : network_.nodes) {
      if (is_one_of<Split, Slice>(node.problem)) offer_within_another(node);
    }
  }

 private:
  void offer(NetworkNode& node) {
    std::vector<Tactic> slices = slices_of(node);
    const bool joins = joins_parts(node.problem);
    if (joins) {
      for (Tactic& slice : slices) {
        if (are_pieces(node, slice)) slice = beside_pieces(node, slice);
      }
    }
    std::erase_if(slices, [&](const Tactic& slice) { return !is_worth_offering(node, slice); });
    if (!slices.empty() && (joins ? may_join(node) : may_cut(node)))
      node.tactics.insert(node.tactics.end(), slices.begin(), slices.end());
  }

  bool is_worth_offering(const NetworkNode& node, const Tactic& slice) const {
    if (joins_parts(node.problem)) return gains_by_joining(node, slice) && !are_pieces(node, slice);
    return gains_by_cutting(node, slice) && !are_joined(node, slice);
  }

  // The slice with everything in `format`, the whole as well: channels of a wider tensor.
  static std::optional<Tactic> slice_within(const NetworkNode& node, Tactic slice,
                                            const Format& format) {
    std::ranges::fill(slice.inputs, format);
    std::ranges::fill(slice.outputs, format);
    return part_offsets(node.problem, slice) ? std::optional(std::move(slice)) : std::nullopt;
  }

  // A join of channels some of which are cut out of something in just that format: with a pitch
  // that nobody else has, one piece more, these are copied and the others need not be.
  static Tactic beside_pieces(const NetworkNode& join, const Tactic& slice) {
    const Format& part = slice.inputs[0];
    if (!has_pitch(part)) return slice;
    const int64_t piece = kPieceBytes / element_bytes(part.type);
    return slice_within(join, slice, with_pitch(part, part.layout.pitch + piece)).value_or(slice);
  }

  // Where the whole of a join is itself a part of a wider one, or what is cut is: its parts as
  // channels of that one, so that neither is copied.
  void offer_within_another(NetworkNode& node) {
    if (!is_slice(node.problem, node.tactics.back())) return;
    std::set<DataType> types;
    for (const Tactic& t : slices_of(node)) types.insert(t.inputs[0].type);
    for (const DataType type : types) {
      const auto widest = widest_around(node, type);
      const auto within = widest ? slice_within(node, node.tactics.back(), *widest) : std::nullopt;
      if (within && is_worth_offering(node, *within)) node.tactics.push_back(*within);
    }
  }

  // The format with the largest pitch in which a slice of another node has this one's whole as a
  // part.
  std::optional<Format> widest_around(const NetworkNode& node, DataType type) const {
    const bool joins = joins_parts(node.problem);
    const ValueId whole = joins ? node.outputs[0] : node.inputs[0];
    std::optional<Format> widest;
    const auto consider = [&](const Format& format) {
      const bool wider = has_pitch(format) && format.type == type &&
                         (!widest || format.layout.pitch > widest->layout.pitch);
      if (wider) widest = format;
    };
    each_slice(ends_.readers(whole), true,
               [&](const End& reader, const Tactic& t) { consider(t.inputs[reader.index]); });
    if (joins) return widest;
    each_slice(ends_.makers(whole), false,
               [&](const End& maker, const Tactic& t) { consider(t.outputs[maker.index]); });
    return widest;
  }

  // Those of the ends that join, or that cut.
  template <typename F>
  static void each_slice(const std::vector<End>& ends, bool joins, F&& use) {
    for (const End& end : ends) {
      if (joins_parts(end.node->problem) != joins) continue;
      for (const Tactic& t : end.node->tactics)
        if (is_slice(end.node->problem, t)) use(end, t);
    }
  }

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
      std::ranges::fill(joins_parts(problem) ? slice.inputs : slice.outputs, *pitched);
      offsets = part_offsets(problem, slice);
      return offsets ? std::optional(slice) : std::nullopt;
    }
    const auto is_aligned = [](int64_t offset) { return offset % kArenaAlignment == 0; };
    if (!offsets || !std::ranges::all_of(*offsets, is_aligned)) return {};
    return slice;
  }

  // Whether some end of some part has a tactic that does.
  template <typename F>
  static bool any_tactic(const std::vector<End>& ends, F&& holds) {
    return std::ranges::any_of(ends, [&](const End& end) {
      return std::ranges::any_of(end.node->tactics,
                                 [&](const Tactic& tactic) { return holds(end, tactic); });
    });
  }
  template <typename F>
  static bool any_part(size_t count, F&& holds) {
    size_t part = 0;
    while (part < count && !holds(part)) ++part;
    return part < count;
  }

  // Whether, for channels of pixels, some part has a tactic that writes it where it belongs.
  bool gains_by_joining(const NetworkNode& join, const Tactic& slice) const {
    if (!has_pitch(slice.inputs[0])) return true;
    return any_part(join.inputs.size(), [&](size_t part) {
      return any_tactic(ends_.makers(join.inputs[part]), [&](const End& maker, const Tactic& t) {
        const TensorDesc& made = maker.node->problem.outputs[maker.index];
        return can_leave(t, maker.index, made.type.dims, slice.inputs[part]);
      });
    });
  }

  // Likewise a tactic that reads it where it is.
  bool gains_by_cutting(const NetworkNode& cut, const Tactic& slice) const {
    if (!has_pitch(slice.outputs[0])) return true;
    return any_part(cut.outputs.size(), [&](size_t part) {
      return any_tactic(ends_.readers(cut.outputs[part]), [&](const End& reader, const Tactic& t) {
        return can_take_pitched(t, reader.index) &&
               t.inputs[reader.index] == without_pitch(slice.outputs[part]);
      });
    });
  }

  // Whether some part is cut out of something in the format in which the join wants it.
  bool are_pieces(const NetworkNode& join, const Tactic& slice) const {
    return any_part(join.inputs.size(), [&](size_t part) {
      return any_tactic(ends_.makers(join.inputs[part]), [&](const End& maker, const Tactic& t) {
        const Problem& cut = maker.node->problem;
        return is_slice(cut, t) && !joins_parts(cut) &&
               same_placement(cut.outputs[maker.index].type.dims, t.outputs[maker.index],
                              slice.inputs[part]);
      });
    });
  }

  // Whether some part is joined with others in the format in which it would be cut.
  bool are_joined(const NetworkNode& cut, const Tactic& slice) const {
    return any_part(cut.outputs.size(), [&](size_t part) {
      return any_tactic(ends_.readers(cut.outputs[part]), [&](const End& reader, const Tactic& t) {
        const Problem& join = reader.node->problem;
        return is_slice(join, t) && joins_parts(join) &&
               same_placement(join.inputs[reader.index].type.dims, t.inputs[reader.index],
                              slice.outputs[part]);
      });
    });
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

  // Whether the value can be written wherever it is wanted, and whatever it is a view of with it. A
  // piece of something is copied there, but nothing copies what is seen through a view.
  bool may_be_placed(ValueId v, std::set<ValueId>& wanted, bool is_seen = false) const {
    const std::vector<End>& makers = ends_.makers(v);
    if (makers.empty() || network_.graph.is_output(v)) return false;
    if (taken_.contains(v) || !wanted.insert(v).second) return false;
    return std::ranges::all_of(makers, [&](const End& maker) {
      const NetworkNode& node = *maker.node;
      if (!offers_a_view(node) || joins_parts(node.problem)) return true;
      if (is_slice(node.problem, node.tactics.back())) return !is_seen;
      return may_be_placed(node.inputs[0], wanted, true);
    });
  }

  // A graph's output would have to be copied to the caller at the end.
  bool may_cut(const NetworkNode& node) const {
    return std::ranges::none_of(node.outputs,
                                [&](ValueId v) { return network_.graph.is_output(v); });
  }

  Network& network_;
  const Ends ends_;
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
  find_pitches(network, tactics);
}

void SliceHomes::find_pitches(const Network& network, const std::vector<Tactic>& tactics) {
  const auto is_pitched = [](const Tactic& t) {
    return std::ranges::any_of(t.inputs, has_pitch) || std::ranges::any_of(t.outputs, has_pitch);
  };
  if (std::ranges::none_of(tactics, is_pitched)) return;
  for (const auto& [v, flow] : flows_of(network, tactics)) {
    const Format lies = lying(network.graph.value(v), flow.maker, flow.output, flow.wanted);
    if (has_pitch(lies)) pitched_.emplace(v, lies);
  }
}

const Format* SliceHomes::pitch_of(ValueId v) const {
  const auto found = pitched_.find(v);
  return found == pitched_.end() ? nullptr : &found->second;
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
  if (pitched_.empty() || is_slice(node.problem, tactic)) return out;
  if (const Format* made = pitch_of(node.outputs[0])) {
    out.outputs[0] = *made;
    out.in_place_operand = -1;
  }
  const Format* read = node.inputs.empty() ? nullptr : pitch_of(node.inputs[0]);
  if (read && can_take_pitched(tactic, 0) && without_pitch(*read) == tactic.inputs[0]) {
    out.inputs[0] = *read;
    if (out.in_place_operand == 0) out.in_place_operand = -1;
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
