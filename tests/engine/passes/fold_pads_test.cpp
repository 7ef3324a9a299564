#include "engine/passes/fold_pads.h"

#include <gtest/gtest.h>

#include "tests/engine/passes/passes_support.h"

namespace enginery {
namespace {

constexpr char kOneRound[] = "{0, 0, 1, 1, 0, 0, 1, 1}";

// %x, made non-negative as %r, padded by `pads` with `value` as %p, and what `rest` makes of it.
Graph padded_then(const std::string& pads, const std::string& value, const std::string& rest) {
  return parse("input %x : float32[2x4x7x5]\n %r = act(%x) kind=relu\n" +
               std::string("%w = constant float32[3x4x3x3] random(1)\n") +
               "%pads = constant int64[8] " + pads + "\n %value = constant float32[] {" + value +
               "}\n" + rest + "\n output %y");
}

constexpr char kConvolved[] =
    "%p = pad(%x, %pads, %value)\n %y = conv(%p, %w) strides=[2,1] dilations=[1,1] "
    "pads_begin=[0,1] pads_end=[0,0] groups=1";

TEST(FoldPads, JoinsZerosToTheConvolution) {
  Graph g = padded_then("{0, 0, 1, 0, 0, 0, 2, 1}", "0", kConvolved);
  EXPECT_EQ(run(fold_pads, g), 1);
  const Node& node = node_named(g, "y");
  EXPECT_EQ(g.value(node.inputs[0]).name, "x");
  EXPECT_EQ(std::get<Convolution>(node.op).pads_begin, (std::vector<int64_t>{1, 1}));
  EXPECT_EQ(std::get<Convolution>(node.op).pads_end, (std::vector<int64_t>{2, 1}));
}

TEST(FoldPads, JoinsTwoPadsOneBehindTheOther) {
  Graph g = padded_then("{0, 0, 1, 0, 0, 0, 0, 1}", "0",
                        "%q = pad(%x, %pads)\n %p = pad(%q, %pads)\n %y = conv(%p, %w) "
                        "strides=[1,1] dilations=[1,1] pads_begin=[0,0] pads_end=[0,0] groups=1");
  EXPECT_EQ(run(fold_pads, g), 2);
}

// Others read the padded tensor, too, which stays.
TEST(FoldPads, LeavesThePadToItsOtherReaders) {
  Graph g = padded_then(kOneRound, "0",
                        std::string(kConvolved) + "\n %z = act(%p) kind=tanh\n" + " output %z");
  EXPECT_EQ(run(fold_pads, g), 1);
  EXPECT_EQ(count<Pad>(g), 1);
}

TEST(FoldPads, LeavesWhatAConvolutionCannotPadWith) {
  const std::vector<std::pair<std::string, std::string>> rows = {
      {kOneRound, "1"},                    // another number
      {"{0, 1, 0, 0, 0, 0, 0, 0}", "0"},   // channels: weights of 4 are left over
      {"{0, 0, -1, 0, 0, 0, 0, 0}", "0"},  // a crop
      {"{0, 0, 3, 0, 0, 0, 0, 0}", "0"},   // windows of padding alone
  };
  for (const auto& [pads, value] : rows) {
    const bool channels = pads == rows[1].first;
    Graph g = padded_then(pads, value,
                          channels ? "%p = pad(%x, %pads)\n %y = act(%p) kind=tanh" : kConvolved);
    EXPECT_EQ(run(fold_pads, g), 0) << pads << " " << value;
  }
  Graph edge = padded_then(kOneRound, "0",
                           "%p = pad(%x, %pads) mode=edge\n %y = conv(%p, %w) strides=[1,1] "
                           "dilations=[1,1] pads_begin=[0,0] pads_end=[0,0] groups=1");
  EXPECT_EQ(run(fold_pads, edge), 0);
}

std::string pooled(const std::string& x, const std::string& kind, const std::string& more = "") {
  return "%p = pad(" + x + ", %pads, %value)\n %y = pool(%p) kind=" + kind +
         " kernel=[3,2] strides=[2,2] dilations=[1,1] " +
         (more.empty() ? "pads_begin=[0,0] pads_end=[0,0]" : more);
}

TEST(FoldPads, JoinsTheLeastNumberToAMaximum) {
  Graph g = padded_then(kOneRound, "-inf", pooled("%x", "max"));
  EXPECT_EQ(run(fold_pads, g), 1);
  EXPECT_EQ(std::get<Pooling>(node_named(g, "y").op).pads_end, (std::vector<int64_t>{1, 1}));
}

TEST(FoldPads, JoinsZerosToAMaximumOfWhatIsNeverNegative) {
  Graph g = padded_then(kOneRound, "0", pooled("%r", "max"));
  EXPECT_EQ(run(fold_pads, g), 1);
  Graph negative = padded_then(kOneRound, "0", pooled("%x", "max"));
  EXPECT_EQ(run(fold_pads, negative), 0);
}

TEST(FoldPads, CountsTheZerosThatAnAverageReads) {
  Graph g = padded_then(kOneRound, "0", pooled("%x", "average"));
  EXPECT_EQ(run(fold_pads, g), 1);
  EXPECT_TRUE(std::get<Pooling>(node_named(g, "y").op).count_padding);
  Graph counts =
      padded_then(kOneRound, "0",
                  pooled("%x", "average", "pads_begin=[1,0] pads_end=[0,0] count_padding=true"));
  EXPECT_EQ(run(fold_pads, counts), 1);
}

TEST(FoldPads, LeavesPoolingsThatTellThePaddingsApart) {
  for (const std::string own :
       {"pads_begin=[1,0] pads_end=[0,0]", "pads_begin=[0,0] pads_end=[0,0] ceil_mode=true"}) {
    Graph g = padded_then(kOneRound, "0", pooled("%x", "average", own));
    EXPECT_EQ(run(fold_pads, g), 0) << own;
  }
}

}  // namespace
}  // namespace enginery
