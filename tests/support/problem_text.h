// Problems from one line of text, so that lists of them can be read.
//
//   OP ATTRIBUTE=VALUE... | INPUT... [| EPILOGUE]...
//   OP ATTRIBUTE=VALUE... | INPUT... [| then OP(OPERAND...) ATTRIBUTE=VALUE...]...   a region
//   OPERAND:  rN, the result of operator N; a number, that INPUT; or an INPUT of its own
//   INPUT:    [w:]TYPE[DIMS][={INTS}], or _ for an absent one; w: marks a weight, ={1,2} an integer
//   constant's value EPILOGUE: bias INPUT | add INPUT | multiply INPUT | act kind=K [alpha=A]
//   [beta=B] a reformat: reformat | TYPE[DIMS] | FORMAT -> FORMAT
//
// Example: conv strides=[1,1] dilations=[1,1] pads_begin=[1,1] pads_end=[1,1] | float32[1x8x7x7]
// w:float32[8x8x3x3] | act kind=relu
#pragma once

#include "engine/tactics/problem.h"

namespace enginery {

Result<Problem> parse_problem(std::string_view text);

}  // namespace enginery
