// A graph compiled into a signed engine file: for tests of the public API.
#pragma once

#include "engine/graph/text.h"
#include "tests/engine/runtime/signed_file.h"

namespace enginery::test {

// `text`: the statements of a graph; each node by the first tactic that one of the sources offers.
inline Plan plan_of(const std::string& text, const SourceFilter& filter) {
  const auto device = open_device(kEverywhere, {}).value();
  const auto sources = make_tactic_sources(*device, filter).value();
  const Network network =
      lower(parse_graph("graph t { " + text + " }").value(), sources, {Precision::fp32}).value();
  TacticSelection selection;
  for (const NetworkNode& node : network.nodes) selection.tactics.push_back(node.tactics[0]);
  EXPECT_TRUE(complete_reformats(network, sources, selection).ok());
  return make_plan(network, selection).value();
}

class SignedEngine : public SignedFile {
 public:
  // As plan_of(); `sizes`: of its outputs, told by each run.
  explicit SignedEngine(const std::string& text, const SourceFilter& filter = {},
                        const RunTimeSizes& sizes = {})
      : SignedFile(plan_of(text, filter), sizes) {}
};

// The positions of x's elements that are not zero, and their squares: each of as many as a run
// finds.
inline const std::string kFound =
    "input %x : float32[2x3]\n %all, %n = find_non_zero(%x)\n "
    "%y = compact(%all, %n) axes=[1]\n %s = binary(%all, %all) kind=mul\n "
    "%z = compact(%s, %n) axes=[1]\n %size = identity(%n)\n output %y\n output %z\n output %size";
inline const RunTimeSizes kFoundSizes = {{0, 1, 2}, {1, 1, 2}};

// Two layers over two inputs, large enough that kernels divide them among threads.
inline const std::string kTwoLayers =
    "input %x : float32[1x32x40x40]\n input %z : float32[1x32x40x40]\n "
    "%w = constant float32[32x32x3x3] random(1)\n "
    "%c = conv(%x, %w) strides=[1,1] dilations=[1,1] pads_begin=[1,1] pads_end=[1,1] groups=1\n "
    "%s = binary(%c, %z) kind=add\n %y = act(%s) kind=tanh\n output %y";

}  // namespace enginery::test
