// A depthwise convolution, perhaps between two 1x1 convolutions, as sources see them: the region
//
//   [conv, [act,]] conv groups=channels [, act], conv [, add] [, act]
//
// such as every block of a mobile network is or ends with.
//
// Where: between a region and the sources that run it as one kernel. Values; pure functions.
#pragma once

#include "engine/tactics/tactic.h"

namespace enginery {

struct DepthwiseBlock {
  // One of the convolutions with its epilogue.
  struct Part {
    Problem problem;
    // Which input of the region each of the problem's is; -1: none (absent, or the result of the
    // part before).
    std::vector<int> from;
  };
  std::optional<Part> expand;
  Part depthwise, project;
  int64_t channels() const { return output_dims(depthwise.problem)[1]; }
};

// The places in graphs where one may stand, the longest first.
std::vector<RegionPattern> depthwise_block_patterns();

// Whether a region has a convolution in groups and one without behind it.
bool is_depthwise_block(const Problem& problem);

// Errors: unsupported.
Result<DepthwiseBlock> depthwise_block(const Problem& problem);

}  // namespace enginery
