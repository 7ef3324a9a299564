#include "tests/support/problem_list.h"

namespace enginery {

std::vector<ProblemRow> attention_problems() {
  return {
      // packed operands, head sizes, lengths, shared heads, masks, rows that a mask blanks whole
      {"attention_packed_197", "K/K",
       "attention batch=[1,3] queries=197 keys=197 depth=64 width=64 q=[0,113472,64,576,1] "
       "k=[192,113472,64,576,1] v=[384,113472,64,576,1] y=[0,37824,64,192,1] "
       "output=[1,197,192] scale=0.125 | float32[1x197x3x3x64] float32[1x197x3x3x64] "
       "float32[1x197x3x3x64]"},
      {"attention_packed_128", "K/K",
       "attention batch=[2,2] queries=128 keys=128 depth=32 width=32 q=[0,24576,32,192,1] "
       "k=[64,24576,32,192,1] v=[128,24576,32,192,1] y=[0,8192,32,64,1] output=[2,128,64] "
       "scale=0.176777 | float32[2x128x3x2x32] float32[2x128x3x2x32] float32[2x128x3x2x32]"},
      {"attention_one", "K/K",
       "attention batch=[1,2] queries=1 keys=1 depth=16 width=16 q=[0,32,16,16,1] "
       "k=[0,32,16,16,1] v=[0,32,16,16,1] y=[0,32,16,16,1] output=[1,2,1,16] scale=0.25 | "
       "float32[1x2x1x16] float32[1x2x1x16] float32[1x2x1x16]"},
      {"attention_keys_in_columns", "K/K",
       "attention batch=[2,2] queries=17 keys=19 depth=32 width=32 q=[0,1088,544,32,1] "
       "k=[0,1216,608,1,19] v=[0,1216,608,32,1] y=[0,1088,544,32,1] output=[2,2,17,32] "
       "scale=0.176777 | float32[2x2x17x32] float32[2x2x32x19] float32[2x2x19x32]"},
      {"attention_odd_heads", "K/K",
       "attention batch=[3] queries=21 keys=37 depth=20 width=12 q=[0,420,20,1] "
       "k=[0,740,20,1] v=[0,444,12,1] y=[0,252,12,1] output=[3,21,12] scale=0.223607 | "
       "float32[3x21x20] float32[3x37x20] float32[3x37x12]"},
      {"attention_padded_heads", "K/K",
       "attention batch=[1,2] queries=33 keys=70 depth=24 width=40 q=[0,1584,792,24,1] "
       "k=[0,3360,1680,24,1] v=[0,5600,2800,40,1] y=[0,2640,1320,40,1] output=[1,2,33,40] "
       "scale=0.204124 | float32[1x2x33x24] float32[1x2x70x24] float32[1x2x70x40]"},
      {"attention_head_96", "K/K",
       "attention batch=[1,2] queries=65 keys=65 depth=96 width=96 q=[0,12480,6240,96,1] "
       "k=[0,12480,6240,96,1] v=[0,12480,6240,96,1] y=[0,12480,6240,96,1] output=[1,2,65,96] "
       "scale=0.102062 | float32[1x2x65x96] float32[1x2x65x96] float32[1x2x65x96]"},
      {"attention_head_80", "K/K",
       "attention batch=[2] queries=40 keys=50 depth=80 width=80 q=[0,3200,80,1] "
       "k=[0,4000,80,1] v=[0,4000,80,1] y=[0,3200,80,1] output=[2,40,80] scale=0.111803 | "
       "float32[2x40x80] float32[2x50x80] float32[2x50x80]"},
      {"attention_head_256", "K/K",
       "attention batch=[2] queries=9 keys=40 depth=256 width=256 q=[0,2304,256,1] "
       "k=[0,10240,256,1] v=[0,10240,256,1] y=[0,2304,256,1] output=[2,9,256] scale=0.0625 | "
       "float32[2x9x256] float32[2x40x256] float32[2x40x256]"},
      {"attention_512", "K/K",
       "attention batch=[1,1] queries=24 keys=512 depth=128 width=128 q=[0,3072,3072,128,1] "
       "k=[0,65536,65536,128,1] v=[0,65536,65536,128,1] y=[0,3072,3072,128,1] "
       "output=[1,1,24,128] scale=0.0883883 | float32[1x1x24x128] float32[1x1x512x128] "
       "float32[1x1x512x128]"},
      {"attention_2048", "K/K",
       "attention batch=[1] queries=20 keys=2048 depth=32 width=64 q=[0,640,32,1] "
       "k=[0,65536,32,1] v=[0,131072,64,1] y=[0,1280,64,1] output=[1,20,64] scale=0.176777 | "
       "float32[1x20x32] float32[1x2048x32] float32[1x2048x64]"},
      {"attention_shared_heads", "K/K",
       "attention batch=[1,2,3] queries=35 keys=70 depth=64 width=64 "
       "q=[0,13440,6720,2240,64,1] k=[0,8960,4480,0,64,1] v=[0,8960,4480,0,64,1] "
       "y=[0,13440,6720,2240,64,1] output=[1,2,3,35,64] scale=0.125 | float32[1x2x3x35x64] "
       "float32[1x2x70x64] float32[1x2x70x64]"},
      {"attention_addend", "K/K",
       "attention batch=[2,2] queries=20 keys=77 depth=32 width=32 q=[0,1280,640,32,1] "
       "k=[0,4928,2464,32,1] v=[0,4928,2464,32,1] y=[0,1280,640,32,1] output=[2,2,20,32] "
       "scale=0.176777 addend=[0,77,0,0,1] | float32[2x2x20x32] float32[2x2x77x32] "
       "float32[2x2x77x32] float32[2x1x1x77]"},
      {"attention_constant_addend", "K/K",
       "attention batch=[2] queries=18 keys=18 depth=64 width=64 q=[0,1152,64,1] "
       "k=[0,1152,64,1] v=[0,1152,64,1] y=[0,1152,64,1] output=[2,18,64] scale=0.125 "
       "addend=[0,324,18,1] | float32[2x18x64] float32[2x18x64] float32[2x18x64] "
       "w:float32[2x18x18]"},
      {"attention_causal", "K/K",
       "attention batch=[1,2] queries=70 keys=70 depth=32 width=32 q=[0,4480,2240,32,1] "
       "k=[0,4480,2240,32,1] v=[0,4480,2240,32,1] y=[0,4480,2240,32,1] output=[1,2,70,32] "
       "scale=0.176777 causal=true | float32[1x2x70x32] float32[1x2x70x32] float32[1x2x70x32]"},
      {"attention_causal_past", "K/K",
       "attention batch=[2] queries=6 keys=30 depth=16 width=16 q=[0,96,16,1] k=[0,480,16,1] "
       "v=[0,480,16,1] y=[0,96,16,1] output=[2,6,16] scale=0.25 causal=true blank=-10000 | "
       "float32[2x6x16] float32[2x30x16] float32[2x30x16]"},
      {"attention_choice", "K/K",
       "attention batch=[2,1] queries=33 keys=40 depth=64 width=64 q=[0,2112,2112,64,1] "
       "k=[0,2560,2560,64,1] v=[0,2560,2560,64,1] y=[0,2112,2112,64,1] output=[2,1,33,64] "
       "scale=0.125 choice=[0,40,0,0,1] | float32[2x1x33x64] float32[2x1x40x64] "
       "float32[2x1x40x64] _ boolean[2x1x1x40]"},
      {"attention_choice_hides", "K/K",
       "attention batch=[2] queries=20 keys=24 depth=32 width=32 q=[0,640,32,1] "
       "k=[0,768,32,1] v=[0,768,32,1] y=[0,640,32,1] output=[2,20,32] scale=0.176777 blank=-3 "
       "addend=[0,0,0,1] choice=[0,480,24,1] hides=true | float32[2x20x32] float32[2x24x32] "
       "float32[2x24x32] float32[24] w:boolean[2x20x24]"},
      {"attention_row_without_keys", "K/K",
       "attention batch=[1] queries=3 keys=9 depth=32 width=32 q=[0,96,32,1] k=[0,288,32,1] "
       "v=[0,288,32,1] y=[0,96,32,1] output=[1,3,32] scale=0.176777 choice=[0,0,9,1] | "
       "float32[1x3x32] float32[1x9x32] float32[1x9x32] _ "
       "boolean[3x9]={1,0,1,1,0,0,0,0,1,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,1}"},
      {"attention_row_of_zeros", "K/K",
       "attention batch=[1] queries=3 keys=9 depth=32 width=32 q=[0,96,32,1] k=[0,288,32,1] "
       "v=[0,288,32,1] y=[0,96,32,1] output=[1,3,32] scale=0.176777 choice=[0,0,9,1] "
       "nan_is_zero=true | float32[1x3x32] float32[1x9x32] float32[1x9x32] _ "
       "boolean[3x9]={1,0,1,1,0,0,0,0,1,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,1}"},
      {"attention_masked_row_of_zeros", "K/K",
       "attention batch=[1] queries=3 keys=9 depth=32 width=32 q=[0,96,32,1] k=[0,288,32,1] "
       "v=[0,288,32,1] y=[0,96,32,1] output=[1,3,32] scale=0.176777 choice=[0,0,9,1] "
       "nan_is_zero=masked | float32[1x3x32] float32[1x9x32] float32[1x9x32] _ "
       "boolean[3x9]={1,0,1,1,0,0,0,0,1,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,1}"},
      {"attention_row_of_least", "K/K",
       "attention batch=[1] queries=3 keys=9 depth=32 width=32 q=[0,96,32,1] k=[0,288,32,1] "
       "v=[0,288,32,1] y=[0,96,32,1] output=[1,3,32] scale=0.176777 blank=-3.4028235e+38 "
       "choice=[0,0,9,1] | float32[1x3x32] float32[1x9x32] float32[1x9x32] _ "
       "boolean[3x9]={1,0,1,1,0,0,0,0,1,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,1}"},
      {"attention_columns", "K/K",
       "attention batch=[2] queries=20 keys=24 depth=32 width=16 q=[0,640,32,1] k=[0,768,32,1] "
       "v=[0,384,16,1] y=[0,320,1,20] output=[2,16,20] scale=0.176777 | float32[2x20x32] "
       "float32[2x24x32] float32[2x24x16]"},
      {"attention_sequence_first", "K/K",
       "attention batch=[2,2] queries=19 keys=19 depth=32 width=32 q=[0,64,32,128,1] "
       "k=[0,64,32,128,1] v=[0,64,32,128,1] y=[0,64,32,128,1] output=[19,2,64] scale=-0.25 | "
       "float32[19x2x64] float32[19x2x64] float32[19x2x64]"},
  };
}

}  // namespace enginery
