// What the tactics of every GPU source have in common before their source adds its own.
//
// Where: called by the offers of cuda/kernel, cuda/cudnn and cuda/cublaslt. Threads: pure
// functions.
#pragma once

#include "engine/tactics/shapes/conv_shape.h"

namespace enginery {

// Of the allowed precisions those in which the device's libraries compute, the narrowest first:
// bf16 and tf32 came with the same SMs (8.0).
std::vector<Precision> library_precisions(const DeviceInfo& info,
                                          const std::set<Precision>& allowed);
// Floating-point operations a second at the device's peak; 0: it does not compute so.
double peak_flops(const DeviceInfo& info, Precision precision);

// A tactic with formats linear in the problem's own types, to be overwritten where a source wants
// others.
Tactic make_gpu_tactic(const Problem& problem, std::string source, std::string id);

// The same with the formats that a convolution's x, y and epilogue operands have in the epilogue's
// storage type.
Tactic make_conv_tactic(const Problem& problem, const ConvShape& shape,
                        const LoweredEpilogue& epilogue, std::string source, std::string id);

}  // namespace enginery
