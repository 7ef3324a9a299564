// The weights of oneDNN's Winograd convolutions F(2x2, 3x3), transformed into the layout that the
// implementation wants.
//
// The library's own reorder of them was about half of the time that ResNet-50's engine took to
// load; this one writes the same numbers, but for rounding, and most of that time is gone. The
// layout is part of oneDNN 2's public descriptor (dnnl_wino_desc_t); oneDNN 3 hides it.
//
// Source: Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks", 2015 (U = G g G^T).
#pragma once

#include "engine/tactics/cpu/onednn/library.h"

namespace enginery {

// Whether pack_winograd writes `wanted` from `source`: float32 in both, `source` plain
// [O, I, 3, 3], `wanted` one of the two layouts of F(2x2, 3x3) with their output channels in
// blocks.
bool packs_winograd(const MemoryDesc& source, const MemoryDesc& wanted);

// `packed` has wanted.get_size() bytes; channels beyond the source's are filled with zeros.
// Requires packs_winograd.
void pack_winograd(const MemoryDesc& source, const MemoryDesc& wanted, const float* weights,
                   float* packed);

}  // namespace enginery
