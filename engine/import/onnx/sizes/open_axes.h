// Open axes: dimensions of a graph's values whose size each run tells, as after NonZero and
// NonMaxSuppression.
//
// The graph knows static sizes alone, so such a value has its largest size there, and a count, an
// int64 scalar of the graph, says how many of the axis's elements are the model's; what stands
// behind them is nobody's. Where: beside the graph while a model is read (NodeReader). Every
// operator that reads such a value gives one again, as open_outputs says, after rewrite_open has
// seen to it that nothing behind a count reaches an element that counts; an operator for which
// neither knows a rule is refused. Not thread-safe.
#pragma once

#include <map>
#include <unordered_map>
#include <unordered_set>

#include "engine/graph/counted_outputs.h"

namespace enginery {

using OpenAxis = CountedAxis;

struct OpenValue {
  CountedAxes axes;           // rising
  bool zeros_behind = false;  // whether zeros stand behind what counts
};

class OpenAxes {
 public:
  // What is open of a value; nothing for most, and for kNoValue.
  const OpenValue& of(ValueId v) const;
  // The count of that axis; kNoValue where it is not open.
  ValueId count(ValueId v, int64_t axis) const;
  bool any(const std::vector<ValueId>& values) const;
  void add(ValueId v, OpenValue value);

  // The int64 vector `shape` is the shape of `v`, as each run tells it.
  void add_shape(ValueId shape, ValueId v) { shapes_[shape] = v; }
  // Whose shape a value is, as it is or cast; kNoValue where that is not known.
  ValueId shape_source(const Graph& graph, ValueId shape) const;

  // The most that an integer of the graph can be, where that follows from what it is made of:
  // constants, counts, the least of several.
  std::optional<int64_t> upper_bound(const Graph& graph, ValueId v) const;

  // What FindNonZero has made of a value, and where what counts stands in parts that are joined
  // (each part's size, and its count or kNoValue): asked twice, they give the same count.
  std::unordered_map<ValueId, std::vector<ValueId>> found;
  using Parts = std::vector<std::pair<int64_t, ValueId>>;
  std::map<Parts, ValueId> joined;
  // What was split as a run tells, into parts of these sizes (int64 [n]), each with room for all of
  // it: joined again, the parts are as long as it was.
  std::map<Parts, ValueId> splits;

  void remove(ValueId v) { values_.erase(v); }  // all of it counts

  void add_count(ValueId count, int64_t most) {
    bounds_[count] = most;
    counts_.insert(count);
  }
  // Of every count of the value's axes: where nothing else is known of it, its axis is the most.
  void know_sizes(const Graph& graph, ValueId v);
  // Whether it is the count of some axis.
  bool is_count(ValueId v) const { return counts_.contains(v); }

  // Values that follow from constants and sizes alone (told_sizes.h).
  std::unordered_set<ValueId> known_from_constants;

  // Counts times a number, made once; kNoValue while one is made.
  std::map<std::pair<ValueId, int64_t>, ValueId> products;

 private:
  std::optional<int64_t> bound(const Graph& graph, ValueId v, int depth) const;
  std::optional<int64_t> least_bound(const Graph& graph, const std::vector<ValueId>& of,
                                     int depth) const;

  std::unordered_map<ValueId, OpenValue> values_;
  std::unordered_map<ValueId, ValueId> shapes_;
  std::unordered_map<ValueId, int64_t> bounds_;  // of counts
  std::unordered_set<ValueId> counts_;
  const OpenValue none_;
};

// What is open of the outputs of a node that the graph has just got, of which `count`, if any, is
// the count of the axis that the operator works along. Errors: unsupported, with the operator, the
// input and the axis.
Result<std::vector<OpenValue>> open_outputs(const OpenAxes& open, const Graph& graph, const Op& op,
                                            const std::vector<ValueId>& inputs,
                                            const std::vector<ValueId>& outputs, ValueId count);

// unsupported: "gather: the size of its input 0's dimension 1 is known after a run alone".
Error open_axis_error(const Op& op, size_t input, int64_t axis);

}  // namespace enginery
