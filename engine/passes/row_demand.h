// Which rows of its inputs a node must read to make only some rows of its output.
//
// Where: drop_dead_rows. Pure functions over sizes that are known; what is not said to be possible
// is left alone.
#pragma once

#include <optional>
#include <vector>

#include "engine/graph/graph.h"

namespace enginery {

// The positions [first, first + count) of one dimension of a value.
struct Rows {
  size_t axis = 0;
  int64_t first = 0, count = 0;
  bool operator==(const Rows&) const = default;
};

// What a node reads of each input; nothing where it reads the whole.
using InputRows = std::vector<std::optional<Rows>>;

// The part of its input that a slice along one dimension, or a gather of one constant index, takes;
// nothing for other nodes, and where it takes the whole.
std::optional<Rows> rows_taken(const Graph& graph, const Node& node);

// What the node must read so that of its only output `rows` are what they were; nothing where it
// cannot leave the others out.
std::optional<InputRows> rows_to_read(const Graph& graph, const Node& node, const Rows& rows);

// The operator that makes `rows` alone out of what rows_to_read says; a reshape in place of
// whatever keeps the elements' order.
Op of_rows(const Op& op, const Rows& rows);

}  // namespace enginery
