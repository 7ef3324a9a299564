// WantedFormats: the formats in which a value's readers want it, and how it comes to lie.
//
// Where: the layout search prices reformats by them, a selection lists these, make_plan places
// values. One rule for all three: what is wanted as channels of a wider tensor is written there
// where its maker can do so and everybody else can read it there; otherwise it lies as its maker
// leaves it, and a reformat brings it to each place. Pure functions of plain values.
#pragma once

#include <map>

#include "engine/plan/network.h"

namespace enginery {

struct WantedFormat {
  Format format;
  bool or_pitched = false;  // the same as channels of a wider tensor will do, too
  auto operator<=>(const WantedFormat&) const = default;
};
inline WantedFormat wanted_by(const Tactic& reader, size_t input) {
  return {reader.inputs[input], can_take_pitched(reader, input)};
}

// How many readers want a value so; the caller of a network is one. A value may have thousands of
// readers, and few formats.
using WantedFormats = std::map<WantedFormat, int>;

// Whether a reader takes what lies so without a reformat.
bool suits(const WantedFormat& want, const Dims& dims, const Format& lies);

// The format of a graph's inputs and outputs: linear, in the graph's type.
Format boundary_format(const Value& value);

// How the value lies that `maker` has as its output `output`; null: an input of the graph.
Format lying(const Value& value, const Tactic* maker, size_t output, const WantedFormats& wanted);

// From who makes a value to who reads it, with one tactic for each node.
struct Flow {
  const Tactic* maker = nullptr;  // null: an input
  size_t output = 0;
  WantedFormats wanted;
};
// Of all values that a node makes or reads at run time; `tactics` are parallel to the nodes and
// outlive it.
std::map<ValueId, Flow> flows_of(const Network& network, const std::vector<Tactic>& tactics);

// The formats that take a reformat from how the value lies, each once.
template <typename F>
void each_reformat(const Value& value, const Format& lies, const WantedFormats& wanted, F&& use) {
  const Format* last = nullptr;
  for (const auto& [want, count] : wanted) {
    if (suits(want, value.type.dims, lies) || (last && *last == want.format)) continue;
    last = &want.format;
    use(want.format);
  }
}

}  // namespace enginery
