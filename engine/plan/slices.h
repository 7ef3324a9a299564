// Slices: values that are a part of another value's memory. A Concat whose producers write each
// part where it belongs runs nothing, nor does a Split or Slice whose readers begin further on.
// Parts that are channels of pixels have the whole's pitch: who can write or read with one does,
// and a reformat brings what others make to its place and what others want from there.
//
// Where: lowering offers such steps beside the sources' tactics, at no cost; selection weighs them
// against copies and the reformats that they need; make_plan asks where the values then lie.
// Values; free functions without state.
#pragma once

#include <map>

#include "engine/plan/network.h"

namespace enginery {

// The name of the tactic in its key, for all sources.
inline constexpr const char* kSliceId = "slice";

// Gives the Concat, Split and Slice nodes, those of alternatives too, a tactic "slice" (view_of 0)
// behind the others, in every format of theirs in which each part is one piece that begins at a
// multiple of kArenaAlignment (memory.h), or is channels of pixels where somebody writes or reads
// such; these with the pitch of the widest whole around them, too, where their own whole is a part
// of one. None where a part must lie elsewhere whatever is chosen: an input, output or constant of
// the graph, a part of two wholes or twice of one, or already a piece of something in that format.
void offer_slices(Network& network);

// Takes the slices of a network without alternatives out again; whether there were any.
bool drop_slices(Network& network);

// Whether the step joins or cuts without moving anything.
bool is_slice(const Problem& problem, const Tactic& tactic);

// Where a value must lie so that no step needs to move it: in the memory of `whole`, which no other
// one contains, in any format that places its elements as `format` does.
struct SliceHome {
  ValueId whole = kNoValue;
  Format format;
  int64_t offset = 0, whole_bytes = 0;
};

// The homes of all values that the chosen tactics join, and of the wholes themselves; and which of
// them lie with a pitch. `tactics` run parallel to the network's nodes.
class SliceHomes {
 public:
  SliceHomes(const Network& network, const std::vector<Tactic>& tactics);

  // Null where the value may lie anywhere.
  const SliceHome* find(ValueId v, const Dims& dims, const Format& format) const;

  // The tactic as it runs: reads and writes with a pitch what lies so.
  Tactic placed(const NetworkNode& node, const Tactic& tactic) const;

 private:
  void add_parts(const NetworkNode& node, const Tactic& tactic);
  void find_pitches(const Network& network, const std::vector<Tactic>& tactics);
  const Format* pitch_of(ValueId v) const;

  // Two for a whole that is joined in one format and, in another, is itself a part.
  std::map<ValueId, std::vector<SliceHome>> homes_;
  std::map<ValueId, Format> pitched_;  // how these lie, channels of a wider tensor
};

}  // namespace enginery
