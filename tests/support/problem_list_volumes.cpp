// Convolutions and pooling of three spatial dimensions: see problem_list.h.
#include "tests/support/problem_list.h"

namespace enginery {

std::vector<ProblemRow> volume_problems() {
  return {
      {"conv_3d", "O/K",
       "conv strides=[1,1,1] dilations=[1,1,1] pads_begin=[1,1,1] pads_end=[1,1,1] | "
       "float32[1x16x5x6x7] w:float32[16x16x3x3x3] w:float32[16]"},
      {"conv_3d_groups", "O/K",
       "conv strides=[2,1,2] dilations=[1,2,1] pads_begin=[1,2,0] pads_end=[0,1,1] groups=2 | "
       "float32[2x12x5x6x7] w:float32[6x6x2x2x3] w:float32[6] | act kind=relu"},
      {"conv_3d_one_plane_at_a_time", "O/K",
       "conv strides=[1,2,2] dilations=[1,1,1] pads_begin=[0,1,1] pads_end=[0,1,1] | "
       "float32[2x16x3x9x7] w:float32[24x16x1x3x3] w:float32[24] | act kind=relu"},
      {"conv_3d_along_planes", "O/K",
       "conv strides=[2,1,1] dilations=[1,1,1] pads_begin=[1,0,0] pads_end=[1,0,0] | "
       "float32[2x16x5x3x4] w:float32[16x16x3x1x1] w:float32[16] | add float32[2x16x3x3x4]"},
      {"conv_3d_of_pixels", "-/K",
       "conv strides=[1,1,1] dilations=[1,1,1] pads_begin=[0,0,0] pads_end=[0,0,0] | "
       "float32[2x16x2x3x4] w:float32[16x16x1x1x1] | multiply float32[2x16x1x1x1]"},
      {"pool_3d", "O/K",
       "pool kind=max kernel=[2,3,3] strides=[2,2,2] dilations=[1,1,1] pads_begin=[0,1,1] "
       "pads_end=[1,1,1] | float32[2x12x5x6x7]"},
      {"pool_3d_average", "-/K",
       "pool kind=average kernel=[2,3,2] strides=[2,2,2] dilations=[1,1,1] pads_begin=[1,1,0] "
       "pads_end=[0,1,1] ceil_mode=true count_padding=true | float32[2x12x4x6x7]"},
      {"pool_3d_one_plane_at_a_time", "O/K",
       "pool kind=max kernel=[1,3,3] strides=[1,2,2] dilations=[1,1,1] pads_begin=[0,1,1] "
       "pads_end=[0,1,1] | float32[2x12x5x6x7]"},
      {"pool_3d_whole", "O/K", "global_pool kind=average | float32[2x40x3x4x5]"},
  };
}

}  // namespace enginery
