// Arguments of conv_volume.cuh and pool_volume.cuh.
//
// Read by the host and by the kernels' text; engine files hold code that reads them, so a field is
// never moved.
#pragma once

#include "engine/tactics/cuda/kernel/text/args.h"

#ifndef ENGINERY_KERNEL_TEXT
namespace enginery::gpu {
#endif

// Along planes, rows or columns.
struct VolumeSide {
  int in, taps, stride, dilation, pad, pad_end;
};

// Input [n][planes][rows][columns][c], output [n][z][p][q][k].
struct VolumeArgs {
  const void* x;
  const float* w;  // convolutions: [taps of planes, rows, columns][c of the group][k]
  void* y;
  EpilogueArgs epilogue;
  VolumeSide side[3];
  int c, ldy;                // channels of x and y with their padding
  int k, group_c, group_k;   // output channels without it; of a group
  long long total;           // threads with work
  Divisor by_q, by_p, by_z;  // output columns, rows, planes
};

#ifndef ENGINERY_KERNEL_TEXT
}  // namespace enginery::gpu
#endif
