#include "engine/passes/remove_no_ops.h"

#include <gtest/gtest.h>

#include "tests/engine/passes/passes_support.h"

namespace enginery {
namespace {

TEST(RemoveNoOps, RemovesIdentitiesAndKeepsOutputNames) {
  Graph g = parse(
      "input %x : float32[2x3]\n %a = act(%x) kind=relu\n %b = identity(%a)\n %c = transpose(%b) "
      "permutation=[0,1]\n output %c");
  EXPECT_EQ(run(remove_no_ops, g), 2);
  EXPECT_EQ(g.value(g.outputs()[0]).name, "c");
}

TEST(RemoveNoOps, LeavesAnIdentityBetweenInputAndOutput) {
  Graph g = parse("input %x : float32[2]\n %y = identity(%x)\n output %y");
  EXPECT_EQ(run(remove_no_ops, g), 0);
}

// The dims stay: only the type tells that something happens between them.
TEST(RemoveNoOps, KeepsACastThatChangesTheType) {
  Graph g = parse(R"(input %x : float32[4]
    %i = cast(%x) to=int32
    %f = cast(%i) to=float32
    %y = act(%f) kind=relu
    output %y)");
  EXPECT_EQ(run(remove_no_ops, g), 0);
  EXPECT_EQ(count<Cast>(g), 2);
}

TEST(RemoveNoOps, RemovesACastToTheSameType) {
  Graph g = parse(R"(input %x : float32[4]
    %a = act(%x) kind=relu
    %f = cast(%a) to=float32
    %y = act(%f) kind=tanh
    output %y)");
  EXPECT_EQ(run(remove_no_ops, g), 1);
}

// A rotary embedding of whole heads, as exporters write it: what it turns, and the empty rest.
TEST(RemoveNoOps, TakesEmptyPartsOutOfAConcat) {
  const std::string begin = R"(input %x : float32[2x4]
    %a = act(%x) kind=relu
    %from = constant int64[1] {4}
    %to = constant int64[1] {9}
    %axis = constant int64[1] {1}
    %empty = slice(%a, %from, %to, %axis)
    )";
  Graph g = parse(begin + "%y = concat(%a, %empty) axis=1\n %z = act(%y) kind=tanh\n output %z");
  EXPECT_EQ(run(remove_no_ops, g), 2) << "the part, and then the Concat";
  EXPECT_EQ(count<Concat>(g), 0);
  Graph two = parse(begin + "%y = concat(%empty, %a, %empty, %x) axis=1\n output %y");
  EXPECT_EQ(run(remove_no_ops, two), 1);
  EXPECT_EQ(node_named(two, "y").inputs.size(), 2u);
  Graph nothing = parse(begin + "%y = concat(%empty, %empty) axis=1\n output %y");
  EXPECT_EQ(run(remove_no_ops, nothing), 0);
}

TEST(RemoveNoOps, RemovesAChoiceThatIsTheSameForEveryElement) {
  const auto chosen = [](const std::string& choice, const std::string& other) {
    return parse("input %x : float32[2x3]\n %a = act(%x) kind=relu\n %c = constant boolean" +
                 choice + "\n %o = constant float32" + other +
                 "\n %s = select(%c, %o, %a)\n %y = act(%s) kind=tanh\n output %y");
  };
  Graph g = chosen("[2x1] {0, 0}", "[] {7}");
  EXPECT_EQ(run(remove_no_ops, g), 1);
  EXPECT_EQ(count<Where>(g), 0);
  for (const std::string kept : {"[2x1] {0, 1}", "[2x1] {1, 1}"}) {  // 7 would have to repeat
    Graph stays = chosen(kept, "[] {7}");
    EXPECT_EQ(run(remove_no_ops, stays), 0) << kept;
  }
  Graph grows = chosen("[4x1x1] {0, 0, 0, 0}", "[] {7}");
  EXPECT_EQ(run(remove_no_ops, grows), 0);
}

// A gate by channel is broadcast by the product itself.
TEST(RemoveNoOps, ReadsWhatWasExpandedForAnElementwiseOperator) {
  Graph g = parse(R"(input %x : float32[1x4x3x3]
    input %gate : float32[1x4x1x1]
    %zero = constant float32[1] {0}
    %dims = constant int64[4] {1, 4, 3, 3}
    %wide = expand(%gate, %dims)
    %scaled = binary(%x, %wide) kind=mul
    %open = binary(%gate, %zero) kind=greater
    %which = expand(%open, %dims)
    %y = select(%which, %scaled, %x)
    output %y)");
  EXPECT_EQ(run(remove_no_ops, g), 2);
  EXPECT_EQ(run(remove_dead, g), 2);
  EXPECT_EQ(count<Expand>(g), 0);
}

// Without one of two expansions the result keeps its dims; without both it would not.
TEST(RemoveNoOps, LeavesTheExpansionThatGivesAResultItsDims) {
  Graph g = parse(R"(input %a : float32[1x4]
    input %b : float32[1x4]
    %dims = constant int64[2] {3, 4}
    %wide_a = expand(%a, %dims)
    %wide_b = expand(%b, %dims)
    %y = binary(%wide_a, %wide_b) kind=add
    %square = binary(%wide_b, %wide_b) kind=mul
    output %y
    output %square)");
  EXPECT_EQ(run(remove_no_ops, g), 2);
  EXPECT_EQ(run(remove_dead, g), 1);
  EXPECT_EQ(count<Expand>(g), 1);
  EXPECT_EQ(g.value(g.outputs()[0]).type.dims, (Dims{3, 4}));
  EXPECT_EQ(g.value(g.outputs()[1]).type.dims, (Dims{3, 4}));
}

TEST(RemoveNoOps, LeavesATransposeThatMovesElements) {
  Graph g = parse(
      "input %x : float32[2x2]\n %a = act(%x) kind=relu\n %c = transpose(%a) permutation=[1,0]\n "
      "%d = act(%c) kind=relu\n output %d");
  EXPECT_EQ(run(remove_no_ops, g), 0);
}

// The dims stay in each: what one end gains, the other loses.
TEST(RemoveNoOps, LeavesAPadThatMovesElements) {
  for (const std::string pads : {"{1, 0, -1, 0}", "{0, 1, 0, -1}", "{0, -1, 0, 1}"}) {
    Graph g = parse("input %x : float32[2x3]\n %a = act(%x) kind=relu\n %p = constant int64[4] " +
                    pads + "\n %b = pad(%a, %p)\n %y = act(%b) kind=tanh\n output %y");
    EXPECT_EQ(run(remove_no_ops, g), 0) << pads;
  }
}

TEST(RemoveNoOps, RemovesAResizeToTheSameSizes) {
  const std::string begin = "input %x : float32[1x2x4x4]\n %a = act(%x) kind=relu\n ",
                    end = "\n %y = act(%b) kind=tanh\n output %y";
  for (const std::string mode : {"nearest", "linear", "cubic"}) {
    Graph sizes =
        parse(begin + "%s = constant int64[4] {1, 2, 4, 4}\n %b = resize(%a, _, %s) mode=" + mode +
              " coordinates=half_pixel" + end);
    EXPECT_EQ(run(remove_no_ops, sizes), 1) << mode;
    Graph scales =
        parse(begin + "%s = constant float32[4] {1, 1, 1, 1}\n %b = resize(%a, %s) mode=" + mode +
              " coordinates=asymmetric" + end);
    EXPECT_EQ(run(remove_no_ops, scales), 1) << mode;
  }
}

// 1.2 times 4 is rounded down to 4, but the samples are read from other places.
TEST(RemoveNoOps, LeavesAResizeByAScaleThatIsRoundedAway) {
  Graph g = parse(R"(input %x : float32[1x2x4x4]
    %a = act(%x) kind=relu
    %s = constant float32[4] {1, 1, 1.2, 1.2}
    %b = resize(%a, %s) mode=linear coordinates=half_pixel
    %y = act(%b) kind=tanh
    output %y)");
  EXPECT_EQ(run(remove_no_ops, g), 0);
}

// A part of the input may have its sizes, too.
TEST(RemoveNoOps, LeavesACropToTheSameSizes) {
  Graph g = parse(R"(input %x : float32[1x1x4x4]
    %a = act(%x) kind=relu
    %r = constant float32[8] {0, 0, 0.5, 0.5, 1, 1, 1, 1}
    %s = constant int64[4] {1, 1, 4, 4}
    %b = resize(%a, _, %s, %r) mode=linear coordinates=crop
    %y = act(%b) kind=tanh
    output %y)");
  EXPECT_EQ(run(remove_no_ops, g), 0);
}

// An empty permutation reverses the dimensions: of a square matrix the dims stay, the elements
// move.
TEST(RemoveNoOps, LeavesATransposeThatReversesASquare) {
  Graph g = parse(
      "input %x : float32[3x3]\n %a = act(%x) kind=relu\n %c = transpose(%a)\n %d = act(%c) "
      "kind=tanh\n output %d");
  EXPECT_EQ(run(remove_no_ops, g), 0);
}

TEST(RemoveNoOps, RemovesATransposeOfDimensionsOfOne) {
  for (const std::string permutation : {"permutation=[1,0,2]", "permutation=[0,1,2]"}) {
    Graph g = parse("input %x : float32[1x1x4]\n %a = act(%x) kind=relu\n %b = transpose(%a) " +
                    permutation + "\n %y = act(%b) kind=tanh\n output %y");
    EXPECT_EQ(run(remove_no_ops, g), 1) << permutation;
  }
}

TEST(RemoveNoOps, RemovesWhatGivesTheSameShapeOnly) {
  struct Case {
    const char* line;
    int removed;
  };
  for (const Case& c : {Case{"reshape(%a, %same)", 1},
                        {"reshape(%a, %other)", 0},
                        {"expand(%a, %same)", 1},
                        {"expand(%a, %wider)", 0},
                        {"flatten(%a)", 1},
                        {"flatten(%a) axis=0", 0},
                        {"concat(%a) axis=0", 1},
                        {"concat(%a, %a) axis=0", 0},
                        {"pad(%a, %none)", 1}}) {
    Graph g =
        parse(std::string("input %x : float32[2x3]\n %same = constant int64[2] {2, 3}\n") +
              "%other = constant int64[2] {3, 2}\n %wider = constant int64[3] {2, 2, 3}\n" +
              "%none = constant int64[4] {0, 0, 0, 0}\n %a = act(%x) kind=relu\n %b = " + c.line +
              "\n %y = act(%b) kind=tanh\n output %y");
    EXPECT_EQ(run(remove_no_ops, g), c.removed) << c.line;
  }
}

TEST(RemoveNoOps, LeavesAnOutputThatWouldShareItsValue) {
  // Both outputs would be one value with one name.
  Graph g = parse(
      "input %x : float32[2]\n %a = act(%x) kind=relu\n %b = identity(%a)\n output %a\n output %b");
  EXPECT_EQ(run(remove_no_ops, g), 0);
  Graph constant = parse("%c = constant float32[2] {1, 2}\n %b = identity(%c)\n output %b");
  EXPECT_EQ(run(remove_no_ops, constant), 0);
}

TEST(RemoveNoOps, LeavesAReshapeOfRunTimeSizes) {
  Graph g = parse(
      "input %x : float32[?x3]\n %s = constant int64[2] {-1, 3}\n %a = act(%x) kind=relu\n %b = "
      "reshape(%a, %s)\n %y = act(%b) kind=tanh\n output %y");
  const auto changed = remove_no_ops(g);
  ASSERT_TRUE(changed.ok());
  EXPECT_EQ(*changed, 0);
}

TEST(RemoveNoOps, RemovesWhatANeutralNumberDoes) {
  struct Row {
    const char* line;
    int removed;
  };
  for (const Row& row : {Row{"binary(%a, %zero) kind=add", 1},
                         {"binary(%zero, %a) kind=add", 1},
                         {"binary(%a, %zeros) kind=sub", 1},
                         {"binary(%a, %one) kind=mul", 1},
                         {"binary(%a, %one) kind=div", 1},
                         {"binary(%a, %one) kind=pow", 1},
                         // Another function of a, another number, or more elements than a has.
                         {"binary(%zero, %a) kind=sub", 0},
                         {"binary(%one, %a) kind=div", 0},
                         {"binary(%a, %one) kind=add", 0},
                         {"binary(%a, %zero) kind=mul", 0},
                         {"binary(%a, %one) kind=max", 0},
                         {"binary(%a, %nearly) kind=mul", 0},
                         {"binary(%a, %wide) kind=mul", 0}}) {
    Graph g = parse(
        std::string("input %x : float32[2x3]\n %zero = constant float32[] {0}\n"
                    "%zeros = constant float32[3] {0, 0, 0}\n %one = constant float32[1] {1}\n"
                    "%nearly = constant float32[3] {1, 1, 2}\n"
                    "%wide = constant float32[2x1x1] {1, 1}\n %a = act(%x) kind=sigmoid\n %b = ") +
        row.line + "\n %y = act(%b) kind=tanh\n output %y");
    EXPECT_EQ(run(remove_no_ops, g), row.removed) << row.line;
  }
}

TEST(RemoveNoOps, MergesCastsOfWhichTheFirstLosesNothing) {
  const auto casts = [](const std::string& first, const std::string& second) {
    return parse(
        "input %x : float32[6]\n %h = cast(%x) to=float16\n %n = unary(%h) kind=neg\n"
        "%a = cast(%n) to=" +
        first + "\n %b = cast(%a) to=" + second + "\n output %b");
  };
  Graph there_and_back = casts("float32", "float16");
  EXPECT_EQ(run(remove_no_ops, there_and_back), 2) << "merged, and then it changes nothing";
  Graph onwards = casts("float32", "int32");
  EXPECT_EQ(run(remove_no_ops, onwards), 1);
  Graph lossy = casts("int32", "float32");
  EXPECT_EQ(run(remove_no_ops, lossy), 0);
}

}  // namespace
}  // namespace enginery
