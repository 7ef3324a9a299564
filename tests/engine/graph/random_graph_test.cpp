// The random graphs of tests/support hold what they are used for, and the comparison can fail.
#include "tests/support/random_graph.h"

#include <gtest/gtest.h>

#include <set>

#include "engine/graph/text.h"

namespace enginery::test {
namespace {

constexpr uint64_t kSeed = 1, kGraphs = 200;  // fixed: what they hold must not depend on luck

TEST(RandomGraphs, HoldEveryKindOfNodeTypeAndRank) {
  std::set<std::string> operators, types;
  std::set<size_t> ranks;
  size_t outputs_that_are_read = 0, shared = 0, widening = 0, exact = 0, rounded = 0;
  for (uint64_t i = 0; i < kGraphs; ++i) {
    const RandomGraph random = random_graph(kSeed + i);
    const Graph& g = random.graph;
    ASSERT_TRUE(verify(g)) << verify(g).error().message;
    const auto users = g.users();
    for (const NodeId id : g.topological_order()) {
      const Node& node = g.node(id);
      const TensorType& type = g.value(node.outputs[0]).type;
      operators.insert(std::string(op_name(node.op)));
      types.insert(std::string(to_string(type.type)));
      ranks.insert(type.dims.size());
      const size_t readers = users[static_cast<size_t>(node.outputs[0])].size();
      shared += readers > 1;
      outputs_that_are_read += readers > 0 && g.is_output(node.outputs[0]);
      widening +=
          std::holds_alternative<Binary>(node.op) && type.dims != g.value(node.inputs[0]).type.dims;
    }
    for (const double bar : random.bars) bar == 0 ? ++exact : ++rounded;
  }
  for (const char* name :
       {"act",      "arg_extreme", "batch_norm", "binary",   "cast",   "concat",  "conv",
        "cum_sum",  "deconv",      "expand",     "flatten",  "gather", "gemm",    "global_pool",
        "identity", "matmul",      "pad",        "pool",     "reduce", "reshape", "resize",
        "select",   "shape",       "slice",      "softmax",  "split",  "squeeze", "tile",
        "top_k",    "transpose",   "unary",      "unsqueeze"})
    EXPECT_TRUE(operators.count(name)) << name;
  EXPECT_EQ(types, (std::set<std::string>{"boolean", "float16", "float32", "int32", "int64"}));
  for (const size_t rank : {1, 2, 3, 4, 5}) EXPECT_TRUE(ranks.count(rank)) << rank;
  for (const size_t count : {outputs_that_are_read, shared, widening, exact, rounded})
    EXPECT_GE(count, kGraphs / 4);
}

TEST(RandomGraphs, HoldConstantsOfEqualBytesButOtherTypesOrDims) {
  size_t other_dims = 0, other_type = 0;
  for (uint64_t i = 0; i < kGraphs; ++i) {
    const Graph g = random_graph(kSeed + i).graph;
    std::map<std::string, TensorType> seen;
    for (ValueId v = 0; v < g.value_count(); ++v) {
      const Tensor* t = g.constant(v);
      if (!t) continue;
      const auto [at, first] = seen.emplace(std::string(as_text(t->byte_span())), t->tensor_type());
      other_dims += !first && at->second.dims != t->dims();
      other_type += !first && at->second.type != t->type();
    }
  }
  EXPECT_GE(other_dims, kGraphs / 4);
  EXPECT_GE(other_type, kGraphs / 4);
}

TEST(RandomGraphs, AreTheSameForTheSameSeed) {
  EXPECT_EQ(to_text(random_graph(5).graph), to_text(random_graph(5).graph));
  EXPECT_EQ(fingerprint(random_graph(5).graph), fingerprint(random_graph(5).graph));
  EXPECT_NE(fingerprint(random_graph(5).graph), fingerprint(random_graph(6).graph));
}

Graph parse(const std::string& body) {
  auto graph = parse_graph("graph t {\n" + body + "\n}");
  EXPECT_TRUE(graph) << (graph ? "" : graph.error().message);
  return graph ? *graph : Graph();
}

TEST(Difference, SeesValuesTypesAndNames) {
  const RandomGraph before{parse("input %x : float32[4]\n %y = act(%x) kind=relu\n output %y"),
                           {0}};
  const auto with = [&](const std::string& body, double bar = 0) {
    return difference({before.graph, {bar}}, parse("input %x : float32[4]\n" + body), 1);
  };
  EXPECT_EQ(with("%y = act(%x) kind=relu\n output %y"), "");
  EXPECT_NE(with("%y = act(%x) kind=leaky_relu alpha=0.001\n output %y"), "");
  EXPECT_EQ(with("%y = act(%x) kind=leaky_relu alpha=0.001\n output %y", 0.01), "");
  EXPECT_NE(with("%y = cast(%x) to=int32\n output %y", 10), "");
  EXPECT_NE(with("%z = act(%x) kind=relu\n output %z"), "");
}

TEST(GroupProblem, SeesWhatNoKernelCouldRun) {
  const auto problem = [](const std::string& body) {
    return group_problem(parse("input %x : float32[1x4]\n input %r : float32[2x4]\n" + body));
  };
  EXPECT_EQ(problem("%a = binary(%x, %x) kind=add group=0\n %b = act(%a) kind=relu group=0\n"
                    "output %b"),
            "");
  EXPECT_NE(problem("%a = binary(%x, %x) kind=add group=0\n %b = binary(%a, %r) kind=add group=0\n"
                    "output %b"),
            "");
  EXPECT_NE(problem("%a = binary(%x, %x) kind=add group=0\n %b = act(%a) kind=relu group=0\n"
                    "output %b\n output %a"),
            "");
  EXPECT_NE(problem("%a = binary(%x, %x) kind=add group=0\n %b = act(%a) kind=relu group=0\n"
                    "%c = act(%a) kind=tanh\n output %b\n output %c"),
            "");
}

}  // namespace
}  // namespace enginery::test
