// Which values cannot be negative: by operator, and through those that keep their input's sign.
#include "engine/compile/non_negative.h"

#include <gtest/gtest.h>

#include "tests/engine/passes/passes_support.h"

namespace enginery {
namespace {

struct Row {
  std::string name, body;
  bool expected;
};

const Row kRows[] = {
    {"an_input", "%y = act(%x) kind=swish", false},
    {"relu", "%y = act(%x) kind=relu", true},
    {"leaky_relu", "%y = act(%x) kind=leaky_relu alpha=0.1", false},
    {"clip_from_zero", "%y = act(%x) kind=clip alpha=0 beta=6", true},
    {"clip_from_below", "%y = act(%x) kind=clip alpha=-1 beta=1", false},
    {"log_softmax", "%y = softmax(%x) axis=1 log=true", false},
    {"softmax", "%y = softmax(%x) axis=1 log=false", true},
    {"pooled",
     "%a = act(%x) kind=relu\n %y = pool(%a) kind=max kernel=[2,2] strides=[1,1] dilations=[1,1] "
     "pads_begin=[0,0] pads_end=[0,0]",
     true},
    {"a_sum_of_two", "%a = act(%x) kind=relu\n %y = binary(%a, %a) kind=add", true},
    {"a_sum_with_the_input", "%a = act(%x) kind=relu\n %y = binary(%a, %x) kind=add", false},
    {"a_difference", "%a = act(%x) kind=relu\n %y = binary(%a, %a) kind=sub", false},
    {"times_a_positive_constant",
     "%a = act(%x) kind=relu\n %k = constant float32[1] {2}\n %y = binary(%a, %k) kind=mul", true},
    {"times_a_negative_constant",
     "%a = act(%x) kind=relu\n %k = constant float32[1] {-2}\n %y = binary(%a, %k) kind=mul",
     false},
    {"a_concat", "%a = act(%x) kind=relu\n %y = concat(%a, %a) axis=1", true},
    {"a_concat_with_the_input", "%a = act(%x) kind=relu\n %y = concat(%a, %x) axis=1", false},
};

void PrintTo(const Row& row, std::ostream* out) {
  *out << row.name;
}

class NonNegative : public testing::TestWithParam<Row> {};

TEST_P(NonNegative, IsWhatTheOperatorsTell) {
  const Graph graph = parse("input %x : float32[1x2x4x4]\n " + GetParam().body + "\n output %y");
  const ValueId y = graph.outputs().at(0);
  EXPECT_EQ(non_negative_values(graph).at(static_cast<size_t>(y)), GetParam().expected);
  EXPECT_FALSE(non_negative_values(graph).at(static_cast<size_t>(graph.inputs()[0])));
}

INSTANTIATE_TEST_SUITE_P(Rows, NonNegative, testing::ValuesIn(kRows),
                         [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace enginery
