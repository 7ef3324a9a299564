#include "engine/passes/join_pads.h"

#include <gtest/gtest.h>

#include "tests/engine/passes/passes_support.h"

namespace enginery {
namespace {

// A float %x becomes the whole %i, which is padded as %p; the output is a float again.
Graph padded(const std::string& type, const std::string& constants, const std::string& pad) {
  return parse("input %x : float32[2x3x5]\n %i = cast(%x) to=" + type + "\n" + constants +
               "\n %p = " + pad + "\n %y = cast(%p) to=float32\n output %y");
}

Graph padded_by(const std::string& type, const std::string& amounts) {
  return padded(type,
                " %pads = constant int64[6] " + amounts + "\n %value = constant " + type + "[] {1}",
                "pad(%i, %pads, %value)");
}

struct JoinRow {
  const char* name;
  const char* type;
  const char* amounts;
  int concats;
};

void PrintTo(const JoinRow& row, std::ostream* out) {
  *out << row.name;
}

class JoinPads : public testing::TestWithParam<JoinRow> {};

TEST_P(JoinPads, GivesWhatThePaddingGave) {
  const JoinRow& row = GetParam();
  Graph before = padded_by(row.type, row.amounts), after = before;
  EXPECT_EQ(run(join_pads, after), 1);
  EXPECT_EQ(count<Pad>(after), 0);
  EXPECT_EQ(count<Concat>(after), row.concats);
  EXPECT_EQ(after.value(node_named(after, "p").outputs[0]).type,
            before.value(node_named(before, "p").outputs[0]).type);
  expect_same_results(before, after, 0);
}

INSTANTIATE_TEST_SUITE_P(Rows, JoinPads,
                         testing::Values(JoinRow{"before", "int64", "{0, 0, 2, 0, 0, 0}", 1},
                                         JoinRow{"behind", "int32", "{0, 0, 0, 0, 3, 0}", 1},
                                         JoinRow{"both", "boolean", "{0, 1, 0, 0, 2, 0}", 1},
                                         JoinRow{"two_dims", "int64", "{1, 0, 0, 0, 0, 4}", 2},
                                         JoinRow{"all", "int32", "{1, 2, 3, 4, 5, 6}", 3}),
                         [](const auto& row) { return row.param.name; });

TEST(JoinPadsAlone, PadsWithZeroWhereNoValueIsGiven) {
  Graph before = padded("int64", " %pads = constant int64[6] {0, 0, 1, 0, 0, 1}", "pad(%i, %pads)");
  Graph after = before;
  EXPECT_EQ(run(join_pads, after), 1);
  expect_same_results(before, after, 0);
}

// Axes from the end, in another order than the dimensions'.
TEST(JoinPadsAlone, TakesNamedAxes) {
  Graph before = padded("int32",
                        " %pads = constant int64[4] {1, 0, 2, 3}\n %value = constant int32[] "
                        "{7}\n %axes = constant int64[2] {-1, 0}",
                        "pad(%i, %pads, %value, %axes)");
  Graph after = before;
  EXPECT_EQ(run(join_pads, after), 1);
  expect_same_results(before, after, 0);
}

// ONNX asks for a scalar; one element of a higher rank than the padded value's is taken, too.
TEST(JoinPadsAlone, TakesAValueOfAnyRank) {
  Graph before = padded("int64",
                        " %pads = constant int64[6] {0, 0, 1, 0, 0, 1}\n %value = constant "
                        "int64[1x1x1x1] {7}",
                        "pad(%i, %pads, %value)");
  Graph after = before;
  EXPECT_EQ(run(join_pads, after), 1);
  expect_same_results(before, after, 0);
}

TEST(JoinPadsAlone, LeavesOtherPaddings) {
  for (const auto& [type, amounts] : std::vector<std::pair<std::string, std::string>>{
           {"float32", "{0, 0, 1, 0, 0, 0}"},    // kernels pad floats
           {"uint8", "{0, 0, 1, 0, 0, 0}"},      // quantised
           {"int64", "{0, 0, -1, 0, 0, 2}"},     // a crop
           {"int64", "{0, 0, 10923, 0, 0, 0}"},  // a constant of 65,538
           {"int64", "{0, 0, 0, 0, 0, 0}"},      // nothing
       }) {
    Graph g = padded_by(type, amounts);
    EXPECT_EQ(run(join_pads, g), 0) << type << " " << amounts;
    EXPECT_EQ(count<Pad>(g), 1);
  }
  Graph reflected = padded("int64", " %pads = constant int64[6] {0, 0, 1, 0, 0, 1}",
                           "pad(%i, %pads) mode=reflect");
  EXPECT_EQ(run(join_pads, reflected), 0);
}

TEST(JoinPadsAlone, JoinsTheLargestConstantThatIsAllowed) {
  Graph g = padded_by("int64", "{0, 0, 10922, 0, 0, 0}");  // 65,532 elements
  EXPECT_EQ(run(join_pads, g), 1);
}

}  // namespace
}  // namespace enginery
