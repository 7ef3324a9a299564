#include "engine/passes/fold_into_next.h"

#include <gtest/gtest.h>

#include "tests/engine/passes/passes_support.h"

namespace enginery {
namespace {

const std::string kUnpadded =
    "strides=[2,1] dilations=[1,2] pads_begin=[0,0] pads_end=[0,0] groups=";

// %x times %s plus %t, which are one number a channel, and what `reader` makes of it as %y.
Graph normalised(const std::string& reader, const std::string& dims = "2x4x6x7",
                 const std::string& factors = "4x1x1") {
  return parse("input %x : float32[" + dims + "]\n %s = constant float32[" + factors +
               "] random(1)\n %t = constant float32[" + factors + "] random(2)\n" +
               "%w = constant float32[6x4x3x3] random(3)\n" +
               "%g = constant float32[6x2x3x3] random(4)\n %b = constant float32[6] random(5)\n" +
               "%m = constant float32[4x6] random(6)\n %n = constant float32[6x4] random(7)\n" +
               "%p = binary(%x, %s) kind=mul\n %q = binary(%p, %t) kind=add\n" + reader +
               "\n output %y");
}

TEST(FoldIntoNext, TakesScaleAndShiftIntoAConvolution) {
  for (const std::string& form :
       {"%y = conv(%q, %w) " + kUnpadded + "1", "%y = conv(%q, %w, %b) " + kUnpadded + "1",
        "%y = conv(%q, %g, %b) " + kUnpadded + "2"}) {
    Graph g = normalised(form);
    EXPECT_EQ(run(fold_into_next, g), 2) << form;
    EXPECT_EQ(g.live_node_count(), 1) << form;
  }
}

TEST(FoldIntoNext, TakesScaleAndShiftIntoAProduct) {
  for (const std::string form :
       {"%y = gemm(%q, %m)", "%y = gemm(%q, %m, %b)", "%y = gemm(%q, %n, %b) transpose_b=true"}) {
    Graph g = normalised(form, "3x4", "4");
    EXPECT_EQ(run(fold_into_next, g), 2) << form;
    EXPECT_EQ(g.live_node_count(), 1) << form;
  }
  // A product has no place for what the shift adds.
  Graph alone = parse(
      "input %x : float32[2x3x4]\n %s = constant float32[4] random(1)\n"
      "%m = constant float32[4x6] random(2)\n %p = binary(%x, %s) kind=mul\n"
      "%y = matmul(%p, %m)\n output %y");
  EXPECT_EQ(run(fold_into_next, alone), 1);
  Graph shifted = normalised("%y = matmul(%q, %m)", "2x3x4", "4");
  EXPECT_EQ(run(fold_into_next, shifted), 0);
}

// Padding is zero; shifted, it would not be. A scale alone leaves it zero.
TEST(FoldIntoNext, LeavesAShiftOfPaddedPictures) {
  const auto padded = [](const std::string& kind) {
    return parse("input %x : float32[1x4x5x5]\n %w = constant float32[4x4x3x3] random(1)\n" +
                 std::string("%s = constant float32[4x1x1] random(2)\n") +
                 "%q = binary(%x, %s) kind=" + kind + "\n %y = conv(%q, %w) " + kConv +
                 "\n output %y");
  };
  for (const std::string kind : {"add", "sub"}) {
    Graph g = padded(kind);
    EXPECT_EQ(run(fold_into_next, g), 0) << kind;
  }
  for (const std::string kind : {"mul", "div"}) {
    Graph g = padded(kind);
    EXPECT_EQ(run(fold_into_next, g), 1) << kind;
  }
}

TEST(FoldIntoNext, LeavesWhatIsNoConstantOfEachChannelOrIsReadTwice) {
  const std::string conv = "conv(%q, %w) " + kUnpadded + "1";
  for (const std::string& body :
       {"%q = binary(%x, %z) kind=mul\n %y = " + conv,  // run-time factor
        "%q = binary(%x, %e) kind=mul\n %y = " + conv,  // each pixel its own
        "%q = binary(%s, %x) kind=div\n %y = " + conv,  // not linear
        "%q = binary(%x, %s) kind=mul\n %r = act(%q) kind=relu\n %y = conv(%r, %w) " + kUnpadded +
            "1",
        "%q = binary(%x, %s) kind=mul\n output %q\n %y = " + conv,
        "%q = binary(%x, %s) kind=mul\n %o = act(%q) kind=tanh\n output %o\n %y = " + conv}) {
    Graph g = parse(
        "input %x : float32[1x4x5x7]\n input %z : float32[1x4x1x1]\n"
        "%s = constant float32[4x1x1] random(1)\n %e = constant float32[5x7] random(2)\n"
        "%w = constant float32[4x4x3x3] random(3)\n" +
        body + "\n output %y");
    EXPECT_EQ(run(fold_into_next, g), 0) << body;
  }
}

}  // namespace
}  // namespace enginery
