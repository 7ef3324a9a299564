// The graph's text form and its fingerprints: what is printed reads back the same, and a mistake is
// named with its line.
#include "tests/engine/graph/graph_support.h"

namespace enginery {
namespace {

TEST(GraphText, RoundTripsThroughItsOwnPrinting) {
  std::string text = R"(graph g {
  input %x : float32[Nx4]
  %s = constant float32[4] {1, 2.5, -3, inf}
  %y = binary(%x, %s) kind=mul
  %z = act(%y) kind=clip alpha=0 beta=6 group=3
  output %z
})";
  std::string once = to_text(parse(text));
  EXPECT_EQ(to_text(parse(once)), once);
  EXPECT_NE(once.find("group=3"), std::string::npos);
  EXPECT_NE(once.find("float32[Nx4]"), std::string::npos);
}

// An attribute called as a line's first word: attention's `output`, before a line that begins so.
TEST(GraphText, ReadsBackAnAttributeNamedAsALine) {
  const std::string once = to_text(parse(R"(graph g {
  input %q : float32[1x2x3x4]
  %y = attention(%q, %q, %q, _, _) batch=[2] queries=3 keys=3 depth=4 width=4 q=[0,12,4,1]
       k=[0,12,4,1] v=[0,12,4,1] y=[0,12,4,1] output=[2,3,4] scale=0.5
  output %y
})"));
  EXPECT_NE(once.find(" output=[2,3,4]"), std::string::npos) << once;
  EXPECT_EQ(to_text(parse(once)), once);
}

// Torch calls values "onnx::Conv_7"; other exporters take whatever a layer was called.
TEST(GraphText, ReadsBackAnyName) {
  Graph g;
  g.name = "my graph";
  for (const char* name : {"onnx::Conv_7", "a b", "f(x), y = {2}", "[0]", "#1", "say \"hi\"",
                           "back\\slash", "plain/name.2", "\\\"", "_"}) {
    const ValueId x = g.add_input(name, {DataType::float32, {2}});
    ASSERT_TRUE(g.add_node("", Activation{}, {x}, {std::string(name) + "'"}).ok());
    ASSERT_TRUE(g.mark_output(g.node(g.node_count() - 1).outputs[0]).ok());
  }
  const std::string text = to_text(g);
  const auto again = parse_graph(text);
  ASSERT_TRUE(again.ok()) << again.error().message << "\n" << text;
  EXPECT_EQ(again->name, "my graph");
  ASSERT_EQ(again->inputs().size(), g.inputs().size());
  for (size_t i = 0; i < g.inputs().size(); ++i) {
    EXPECT_EQ(again->value(again->inputs()[i]).name, g.value(g.inputs()[i]).name);
    EXPECT_EQ(again->value(again->outputs()[i]).name, g.value(g.outputs()[i]).name);
  }
  EXPECT_EQ(to_text(*again), text);
  EXPECT_NE(text.find("%plain/name.2 "), std::string::npos)
      << "without quotes where none are needed";
}

TEST(GraphText, NamesTheLineOfAMistake) {
  auto bad = parse_graph("graph g {\n  input %x : float32[2]\n  %y = act(%nope) kind=relu\n}");
  ASSERT_FALSE(bad);
  EXPECT_NE(bad.error().message.find("line 3"), std::string::npos) << bad.error().message;
  EXPECT_FALSE(parse_graph("graph g { %y = nonsense() }"));
  EXPECT_FALSE(parse_graph("graph g { input %x : float32[2]"));
}

// What parse_graph says of one line in a graph that has an input %x of float32[2].
std::string mistake(const std::string& line) {
  const auto graph = parse_graph("graph g {\n  input %x : float32[2]\n  " + line + "\n}");
  return graph ? "accepted" : graph.error().message;
}

TEST(GraphText, SaysWhatIsWrongWithALine) {
  const std::string at = "graph text, line 3: ";
  EXPECT_EQ(mistake("%y act(%x)"), at + "expected '=', found 'act'");
  EXPECT_EQ(mistake("y = act(%x)"), at + "expected a %value, found 'y'");
  EXPECT_EQ(mistake("%y = act(%z)"), at + "%z is not defined above");
  EXPECT_EQ(mistake("%y = act %x"), at + "expected '(', found '%x'");
  EXPECT_EQ(mistake("%y = nonsense(%x)"), at + "no operator is called 'nonsense'");
  EXPECT_EQ(mistake("%y = act(%x) kind=nope"),
            at + "act: attribute 'kind' = 'nope': expected one of the operator's kinds");
  EXPECT_EQ(mistake("input %y float32[2]"), at + "expected ':', found 'float32[2]'");
  EXPECT_EQ(mistake("input %y : float32"), at + "'float32' is not a type");
  EXPECT_EQ(mistake("%c = constant float32[2] zeros"), at + "constant data expected");
  EXPECT_EQ(mistake("%c = constant float32[2] sha256:00"),
            at + "the constant is given by its digest alone, not by its data");
  EXPECT_EQ(mistake("%\"y = act(%x)"), at + "the name \"y has no closing quote");
}

TEST(GraphText, HoldsConstantsToTheirNumberOfElements) {
  EXPECT_EQ(mistake("%c = constant int64[2] {1}"), "graph text, line 3: too few elements");
  EXPECT_EQ(mistake("%c = constant int64[2] {1, 2, 3}"), "graph text, line 3: too many elements");
  EXPECT_EQ(mistake("%c = constant int64[2] {1, two}"),
            "graph text, line 3: 'two' is not an integer");
  EXPECT_EQ(mistake("%c = constant float32[1] {1.5x}"),
            "graph text, line 3: '1.5x' is not a number");
  EXPECT_EQ(mistake("%c = constant float32[1x0] {}"), "accepted");
}

TEST(GraphText, CountsTheLinesInsideOfData) {
  EXPECT_EQ(mistake("%c = constant int64[2] {1,\n 2}\n  %y = act(%z)"),
            "graph text, line 5: %z is not defined above");
}

TEST(GraphText, RefusesWhatEndsTooEarly) {
  for (const char* text : {"", "graph", "graph g", "graph g {", "graph g { input",
                           "graph g { %y =", "graph g { input %x : float32[2] %y = act(%x",
                           "graph g { %c = constant float32[2] {1"}) {
    EXPECT_FALSE(parse_graph(text).ok()) << text;
  }
}

// 64-bit integers are positions and sizes: INT64_MAX means "to the end" in every exported slice.
TEST(GraphText, KeepsEveryBitOfAnInteger) {
  const Graph g = parse(R"(graph g {
    %c = constant int64[3] {9223372036854775807, -9223372036854775808, 9007199254740993}
    %y = identity(%c)
    output %y })");
  const Graph again = parse(to_text(g));
  const Tensor* c = again.constant(again.node(0).inputs[0]);
  ASSERT_NE(c, nullptr);
  EXPECT_EQ(to_int64s(*c), (std::vector<int64_t>{INT64_MAX, INT64_MIN, 9007199254740993}));
}

TEST(GraphText, KeepsEightBitFloatsAndFourBitIntegers) {
  const Graph g = parse(R"(graph g {
  %a = constant float8e5m2[4] {0.375, -57344, inf, nan}
  %b = constant int4[2] {-8, 7}
  %y = cast(%a) to=float8e4m3fn saturate=false
  %z = cast(%b) to=float32
  output %y
  output %z
})");
  const std::string text = to_text(g);
  EXPECT_NE(text.find("{0.375, -57344, inf, nan}"), std::string::npos) << text;
  EXPECT_NE(text.find("{-8, 7}"), std::string::npos) << text;
  EXPECT_NE(text.find("to=float8e4m3fn saturate=false"), std::string::npos) << text;
  EXPECT_EQ(to_text(parse(text)), text);
}

TEST(GraphText, WritesAbsentInputsSeveralOutputsAndLargeConstantsByTheirDigest) {
  const Graph g = parse(R"(graph g {
    input %x : float32[1x4]
    %s = constant int64[2] {1, 8}
    %w = constant float32[17] random(1)
    %a, %b = split(%x) axis=1 sizes=[1,3]
    %r = resize(%x, _, %s) mode=nearest
    output %a
    output %b
    output %r
    output %w })");
  const std::string text = to_text(g);
  EXPECT_NE(text.find("%a, %b = split(%x)"), std::string::npos) << text;
  EXPECT_NE(text.find("resize(%x, _, %s)"), std::string::npos) << text;
  EXPECT_NE(text.find("%w = constant float32[17] sha256:"), std::string::npos) << text;
  EXPECT_FALSE(parse_graph(text).ok()) << "a digest stands for data that is not there";
}

TEST(GraphText, ReadsCommentsScalarsAndAnonymousSizes) {
  const Graph g = parse(R"(# a comment before
graph g {  # and one behind
  input %x : float32[?x3]
  %s = constant float32[] {2.5}  # a scalar
  %y = binary(%x, %s) kind=mul
  output %y
})");
  EXPECT_EQ(g.value(g.outputs()[0]).type.dims, (Dims{kDynamic, 3}));
  EXPECT_EQ(g.constant(g.node(0).inputs[1])->rank(), 0);
}

TEST(Fingerprint, StructureIgnoresWeightsAndNamesButNotShapes) {
  Graph a = parse(kSmall);
  std::string other(kSmall);
  other.replace(other.find("random(7)"), 9, "random(8)");
  Graph b = parse(other);
  for (size_t at; (at = other.find("%r")) != std::string::npos;) other.replace(at, 2, "%q");
  Graph c = parse(other);
  EXPECT_EQ(structure_fingerprint(a), structure_fingerprint(b));
  EXPECT_NE(fingerprint(a), fingerprint(b));
  EXPECT_EQ(fingerprint(b), fingerprint(c));
  EXPECT_NE(structure_fingerprint(a), structure_fingerprint(specialize(a, {})->graph));
}

// New weights of a quantised network need no tuning either; a zero point decides what may run.
TEST(StructureFingerprint, HasNoWeightsIn8BitsButZeroPoints) {
  const auto structure = [](const std::string& weights, const std::string& zero) {
    auto graph = parse_graph("graph g {\n input %x : int8[2x2]\n%w = constant int8[2x2] {" +
                             weights + "}\n%z = constant int8[1] {" + zero +
                             "}\n%y = binary(%x, %w) kind=mul\n%o = binary(%y, %z) kind=add\n"
                             "output %o\n}");
    EXPECT_TRUE(graph.ok()) << graph.error().message;
    return graph.ok() ? structure_fingerprint(*graph) : Digest();
  };
  EXPECT_EQ(structure("1,2,3,4", "0"), structure("4,3,2,1", "0"));
  EXPECT_NE(structure("1,2,3,4", "0"), structure("1,2,3,4", "5"));
}

// Each change to this graph must change the fingerprint of its structure, or no tactic of the one
// may be taken for the other.
TEST(Fingerprint, StructureChangesWithWhateverTacticsDependOn) {
  const std::string base = R"(graph g {
    input %x : float32[1x4x6x6]
    input %z : float32[1x4x6x6]
    %w = constant float32[4x4x1x1] random(1)
    %i = constant int64[1] {0}
    %c = conv(%x, %w) strides=[1,1] dilations=[1,1] pads_begin=[0,0] pads_end=[0,0] groups=1
    %d = binary(%c, %z) kind=sub
    %t = gather(%d, %i) axis=1
    output %t })";
  const std::pair<const char*, const char*> changes[] = {
      {"kind=sub", "kind=mul"},
      {"binary(%c, %z)", "binary(%z, %c)"},
      {"kind=sub", "kind=sub group=0"},
      {"1x4x6x6]\n    input %z", "2x4x6x6]\n    input %z"},
      {"int64[1] {0}", "int64[1] {1}"},
      {"int64[1] {0}", "int64[] {0}"},
      {"axis=1", "axis=2"},
      {"output %t", "output %t output %d"},
  };
  const Digest plain = structure_fingerprint(parse(base));
  for (const auto& [from, to] : changes) {
    std::string changed = base;
    changed.replace(changed.find(from), std::string_view(from).size(), to);
    EXPECT_NE(structure_fingerprint(parse(changed)), plain) << from << " -> " << to;
  }
}

TEST(Fingerprint, DoesNotDependOnWhatTheGraphHasErased) {
  Graph g = parse(kChain);
  const Digest before = fingerprint(g);
  const ValueId x = g.inputs()[0];
  const auto extra = g.add_node("extra", Activation{}, {x});
  ASSERT_TRUE(extra.ok());
  EXPECT_NE(fingerprint(g), before);
  g.erase_node(g.node_count() - 1);
  EXPECT_EQ(fingerprint(g), before);
}

}  // namespace
}  // namespace enginery
