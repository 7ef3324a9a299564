// Packing of epilogue operands that are constants: biases, scales and whole tensors.
//
// Where: between an epilogue's reading (shapes/epilogue.h) and DeviceConstants. Threads: pure
// functions.
#pragma once

#include "engine/tactics/cuda/launch/device_constants.h"
#include "engine/tactics/shapes/epilogue.h"

namespace enginery {

// Packs a constant source as OperandAccess says that it is read: `channel` as float32 with zeros to
// `frame.padded`, `single` as one float32, `broadcast` as float32 in order, `same` in the frame's
// format. Scaled by source.scale. Requires source.constant.
PackConstant pack_operand(const EpilogueSource& source, const EpilogueFrame& frame);

}  // namespace enginery
