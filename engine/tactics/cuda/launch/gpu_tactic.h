// What the tactics of every GPU source have in common before their source adds its own.
//
// Where: called by the offers of cuda/kernel, cuda/cudnn and cuda/cublaslt. Threads: pure
// functions.
#pragma once

#include "engine/tactics/shapes/conv_shape.h"

namespace enginery {

// A tactic with formats linear in the problem's own types, to be overwritten where a source wants
// others.
Tactic make_gpu_tactic(const Problem& problem, std::string source, std::string id);

// The same with the formats that a convolution's x, y and epilogue operands have in the epilogue's
// storage type.
Tactic make_conv_tactic(const Problem& problem, const ConvShape& shape,
                        const LoweredEpilogue& epilogue, std::string source, std::string id);

}  // namespace enginery
