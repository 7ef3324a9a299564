// What the tests of graphs share: a graph from its text form.
#pragma once

#include <gtest/gtest.h>

#include "engine/graph/text.h"

namespace enginery {

// A mistake in the text fails the test.
inline Graph parse(std::string_view text) {
  auto graph = parse_graph(text);
  EXPECT_TRUE(graph) << (graph ? "" : graph.error().message);
  return graph ? *graph : Graph();
}

// A convolution and its activation, over a batch of any size.
inline constexpr char kSmall[] = R"(
graph small {
  input %x : float32[Nx3x8x8]
  %w = constant float32[4x3x3x3] random(7)
  %b = constant float32[4] {1, 2, -3, 0.5}
  %c = conv(%x, %w, %b) strides=[1,1] dilations=[1,1] pads_begin=[1,1] pads_end=[1,1] groups=1
  %r = act(%c) kind=relu group=0
  output %r
})";

// x -> a -> b, both activations.
inline constexpr char kChain[] = R"(
graph chain {
  input %x : float32[2]
  %a = act(%x) kind=relu
  %b = act(%a) kind=tanh
  output %b
})";

}  // namespace enginery
