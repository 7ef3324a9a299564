// Inputs that are made up respect what the graph does with them.
#include "engine/graph/made_up_inputs.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace enginery {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// One input "x" of the type, and what `build` does with it.
template <typename F>
InputRange range_of(DataType type, F&& build) {
  Graph graph;
  const ValueId x = graph.add_input("x", {type, {4}});
  build(graph, x);
  return input_ranges(graph).front();
}

ValueId add(Graph& graph, Op op, std::vector<ValueId> inputs) {
  return graph.add_node("", std::move(op), std::move(inputs)).value().front();
}
ValueId whole(Graph& graph, int64_t value) {
  return graph.add_constant("", Tensor::scalar<int64_t>(value));
}
ValueId table(Graph& graph) {
  return graph.add_constant("", Tensor(DataType::float32, {5, 2}));
}

TEST(InputRanges, ArePositionsThatTheTableHas) {
  const auto looked_up = [](auto&& index_of) {
    return range_of(DataType::int64, [&](Graph& g, ValueId x) {
      add(g, Gather{0}, {table(g), index_of(g, x)});
    });
  };
  EXPECT_EQ(looked_up([](Graph&, ValueId x) { return x; }), (InputRange{0, 4}));
  EXPECT_EQ(looked_up([](Graph& g, ValueId x) {
              return add(g, Binary{BinaryKind::sub}, {x, whole(g, 100)});
            }),
            (InputRange{100, 104}));
  EXPECT_EQ(looked_up([](Graph& g, ValueId x) {
              return add(g, Binary{BinaryKind::sub}, {whole(g, 100), x});
            }),
            (InputRange{96, 100}));
  EXPECT_EQ(looked_up([](Graph& g, ValueId x) {
              return add(g, Binary{BinaryKind::mul}, {x, whole(g, 2)});
            }),
            (InputRange{0, 2}));
  EXPECT_EQ(looked_up([](Graph& g, ValueId x) {
              const ValueId shape = g.add_constant("", Tensor::of<int64_t>({2}, {2, 2}));
              return add(g, Reshape{}, {x, shape});
            }),
            (InputRange{0, 4}));
}

TEST(InputRanges, AreWhereTheOperatorIsDefined) {
  const auto below = [](UnaryKind kind) {
    return range_of(DataType::float32, [&](Graph& g, ValueId x) { add(g, Unary{kind}, {x}); });
  };
  EXPECT_EQ(below(UnaryKind::log), (InputRange{0.1, kInfinity}));
  EXPECT_EQ(below(UnaryKind::acos), (InputRange{-0.9, 0.9}));
  EXPECT_EQ(below(UnaryKind::exp), InputRange{});
  const InputRange divisor = range_of(DataType::int64, [](Graph& g, ValueId x) {
    add(g, Binary{BinaryKind::div}, {whole(g, 9), x});
  });
  EXPECT_GE(divisor.low, 1);
}

TEST(InputRanges, DropADemandThatContradicts) {
  const InputRange range = range_of(DataType::int64, [](Graph& g, ValueId x) {
    add(g, Gather{0}, {table(g), x});
    add(g, Gather{0}, {table(g), add(g, Binary{BinaryKind::sub}, {x, whole(g, 100)})});
  });
  EXPECT_TRUE(range == (InputRange{0, 4}) || range == (InputRange{100, 104}))
      << range.low << " to " << range.high;
}

TEST(MadeUpInputs, LieInTheirRangeAndReachItsEnds) {
  const Tensor ids = made_up_input({DataType::int32, {50}}, {100, 104}, 1);
  const std::vector<int64_t> values = to_int64s(ids);
  const auto [low, high] = std::ranges::minmax(values);
  EXPECT_EQ(low, 100);
  EXPECT_EQ(high, 104);
  const Tensor floats = made_up_input({DataType::float32, {1000}}, {0.1, kInfinity}, 1);
  EXPECT_GT(std::ranges::min(floats.data<float>()), 0.09f);
  EXPECT_GT(std::ranges::max(floats.data<float>()), 1.0f) << "not all at the end";
}

// A mask of ones hides nothing.
TEST(MadeUpInputs, AreOnesWhereIntegersAreFree) {
  EXPECT_EQ(to_int64s(made_up_input({DataType::int64, {3}}, {}, 1)),
            (std::vector<int64_t>{1, 1, 1}));
  EXPECT_EQ(to_int64s(made_up_input({DataType::boolean, {2}}, {}, 1)),
            (std::vector<int64_t>{1, 1}));
}

}  // namespace
}  // namespace enginery
