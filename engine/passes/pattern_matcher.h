// Matcher: reads patterns backwards from a value, for passes that recognise what exporters leave in
// pieces. Every look-up says "nothing" instead of failing.
//
// Where: the passes that fuse, fold and move nodes. Refers to the graph, whose tables may move: its
// answers hold until something is added. Not thread-safe.
#pragma once

#include <optional>
#include <vector>

#include "engine/graph/graph.h"

namespace enginery {

// Whether the optional input is there.
bool has_input(const Node& node, size_t input);

class Matcher {
 public:
  explicit Matcher(const Graph& graph) : graph_(graph), users_(graph.users()) {}

  const Node* producer(ValueId v) const;
  // The producer, if only one node reads it, so that the pattern may swallow it.
  const Node* private_producer(ValueId v) const;
  // The node that alone reads the only output of `node`, which is no output of the graph; kNoNode.
  NodeId only_reader(const Node& node) const;
  // The nodes that read `v`, once for each use.
  const std::vector<NodeId>& readers(ValueId v) const { return users_[static_cast<size_t>(v)]; }
  // Of a floating constant of one element. A number of a float64 graph is not what float32 makes of
  // it: nothing.
  std::optional<float> scalar(ValueId v) const;

  struct WithScalar {
    ValueId other;
    float scalar;
  };
  // other (kind) scalar, in any order for commutative kinds.
  std::optional<WithScalar> binary_with_scalar(const Node* node, BinaryKind kind) const;
  // other ^ scalar, the scalar of any type.
  std::optional<WithScalar> power(const Node* node) const;
  const Activation* activation(const Node* node, ActivationKind kind) const;

  // Node `id` reads `now`, and no longer what it read `before`.
  void rewired(NodeId id, const std::vector<ValueId>& before, const std::vector<ValueId>& now);

 private:
  const Graph& graph_;
  std::vector<std::vector<NodeId>> users_;
};

// A constant that is one number for each channel of `dims`, or one for all, as float32; nothing
// where it is neither or would change dims by broadcasting.
std::optional<std::vector<float>> constant_per_channel(const Tensor* t, const Dims& dims,
                                                       size_t channel_axis);

}  // namespace enginery
