// The reference of a whole graph, with what small errors may turn into large ones: decisions.
//
// Floats that an engine computes differ from the reference's by rounding. An operator that decides
// (a comparison, ArgMax, TopK, a rounding, a quantisation) turns such a difference at a tie into a
// step, and what follows carries it on. So the graph is run in several worlds: in the first one
// exactly, in the others with the deciding operators' float inputs moved by what an engine may
// differ by. Where no decision is upstream all worlds are one. Free functions without state.
#pragma once

#include <memory>
#include <vector>

#include "engine/graph/graph.h"

namespace enginery {

// How a value hangs on decisions.
enum class Decided {
  none,  // on none: one world
  once,  // each element on one of its own: worlds `up` and `down` are the ends of what it may be
  often  // on many, or mixed: the random worlds are samples of what it may be
};

// In this order in DecidedValue::worlds.
enum class World { exact, up, down, random_1, random_2 };
inline constexpr int kWorlds = 5;

// For positions that ArgMax or TopK chose: what they chose from.
struct Choice {
  Tensor scores;  // float64 [outer, size, inner]
  int64_t size = 1, inner = 1;
  int64_t chosen = 1;  // how many of `size`
  double slack = 0;    // how far apart two scores may lie and be a tie
};

struct DecidedValue {
  std::vector<Tensor> worlds;  // one where Decided::none, else kWorlds
  Decided decided = Decided::none;
  std::shared_ptr<const Choice> choice;  // null unless the elements are positions
  const Tensor& exact() const { return worlds[0]; }
};

// The graph's outputs in order. `bar`: what a float may differ by, relative to the largest of its
// tensor. `inputs` run parallel to the graph's. Errors: those of the references, with the node's
// name.
Result<std::vector<DecidedValue>> run_decided(const Graph& graph, const std::vector<Tensor>& inputs,
                                              double bar);

// Whether a matrix product or convolution comes after a decision: then the worlds cost as many
// runs.
bool decides_before_products(const Graph& graph);

}  // namespace enginery
