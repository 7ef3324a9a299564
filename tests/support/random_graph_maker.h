// What the kinds of nodes of random_graph.h are made with. Used by tests/support/random_*.cpp only.
#pragma once

#include <functional>
#include <optional>
#include <random>
#include <span>

#include "engine/graph/graph.h"

namespace enginery::test {

// A value of the graph under construction, with a bound of its elements and of what reordered float
// arithmetic may change about them (forward error analysis, a little generous).
struct Drawn {
  ValueId id = kNoValue;
  TensorType type;
  double bound = 2;
  double noise = 0;  // 0: no pass may change a bit

  const Dims& dims() const { return type.dims; }
  int64_t rank() const { return static_cast<int64_t>(type.dims.size()); }
  bool floating() const { return is_floating(type.type); }
  bool exact() const { return noise == 0; }
};

// The relative error that one reordered operation may add to a value.
inline constexpr double kRounding = 2e-6;

class GraphMaker {
 public:
  explicit GraphMaker(uint64_t seed);

  // ---- chance
  int64_t between(int64_t first, int64_t last);  // both included
  bool one_in(int64_t n) { return between(1, n) == 1; }
  template <typename T>
  T one_of(std::initializer_list<T> choices) {
    return choices.begin()[between(0, static_cast<int64_t>(choices.size()) - 1)];
  }
  std::vector<int64_t> sizes(size_t count, int64_t first, int64_t last);

  // ---- values
  // One of the newest values that `fits` accepts; nothing when there is none.
  std::optional<Drawn> value_where(const std::function<bool(const Drawn&)>& fits);
  const std::vector<Drawn>& values() const { return values_; }
  Drawn input(TensorType type);
  // Floats in +-[low, high], integers in [-3, 3]; sometimes the bytes of an earlier constant.
  ValueId constant(DataType type, Dims dims, float low = 0.2f, float high = 0.8f);
  ValueId positive(Dims dims);  // float32 in [0.5, 1.5]
  ValueId ints(const std::vector<int64_t>& values, DataType type = DataType::int64);
  double bound_of(ValueId constant) const;  // the largest absolute value of its elements
  // A constant among the values that nodes read as data.
  void offer_constant(TensorType type);

  // ---- nodes
  // Adds a node and offers its outputs to later nodes. Nothing when the operator refuses the inputs
  // or an output would be empty, too large or of rank 6.
  std::vector<Drawn> add(Op op, const std::vector<ValueId>& inputs, double bound, double noise);
  // A node whose output's size follows from a run-time shape: an output of the graph, read by none.
  void add_last(Op op, const std::vector<ValueId>& inputs, double noise);
  // A second node like an earlier one; small constants may be copies with equal bytes.
  void repeat_a_node();

  Graph& graph() { return graph_; }
  const std::vector<Drawn>& last_values() const { return last_; }

 private:
  void offer(Drawn value);

  std::mt19937_64 random_;
  Graph graph_;
  std::vector<Drawn> values_, last_;
  std::vector<Tensor> constants_;
};

using NodeKind = void (*)(GraphMaker&);
std::span<const NodeKind> pointwise_kinds();  // random_pointwise.cpp
std::span<const NodeKind> layer_kinds();      // random_layers.cpp
std::span<const NodeKind> move_kinds();       // random_moves.cpp
std::span<const NodeKind> attention_kinds();  // random_attention.cpp

}  // namespace enginery::test
