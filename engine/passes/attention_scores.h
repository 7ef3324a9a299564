// The scores of an exported attention, read backwards from softmax to the product of queries and
// keys, and who reads the weights that softmax makes of them.
//
// Where: fuse_attention. Pure functions; every look-up says "nothing" instead of failing.
#pragma once

#include <limits>

#include "engine/passes/pattern_matcher.h"

namespace enginery {

// A mask, and the sizes of the scores where it joins them.
struct ScoreMask {
  ValueId value = kNoValue;
  Dims scores;
};

// scale * a b, `choice` where it hides, plus the addends: what softmax reads.
struct Scores {
  ValueId a = kNoValue, b = kNoValue;
  Dims product;  // of a b
  float scale = 1;
  std::optional<ScoreMask> choice;
  std::vector<ScoreMask> addends;  // at most two
  bool hides = false;              // the value of `choice` that does
  float blank = -std::numeric_limits<float>::infinity();
};

// What softmax over `v` reads. Each step has one reader and keeps the type; between them the stack
// of score matrices may be reshaped.
std::optional<Scores> read_scores(const Graph& graph, const Matcher& matcher, ValueId v);

// other * scalar of other's type, a quotient as the product with its inverse.
std::optional<Matcher::WithScalar> read_factor(const Graph& graph, const Matcher& matcher,
                                               const Node& node);

// The product that alone reads a softmax's weights, as they are or with zeros in place of NaN, or
// in rows in which the scores' only addend hides every key.
struct WeightsUse {
  NodeId product = kNoNode;
  ValueId weights = kNoValue;  // as the product reads them
  ZeroRows zeros = ZeroRows::none;
};
WeightsUse use_of_weights(const Graph& graph, const Matcher& matcher, const Node& softmax,
                          const Scores& scores);

}  // namespace enginery
