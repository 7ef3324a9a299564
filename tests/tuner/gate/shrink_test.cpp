// The smaller problem: what is left over behind whole tiles stays what it was.
#include "tuner/gate/shrink.h"

#include "tests/tuner/gate/gate_support.h"

namespace enginery {
namespace {

using test::problem_of;

struct Case {
  const char* problem;
  const char* smaller;  // its key; empty: none
};

class Shrink : public testing::TestWithParam<Case> {};

TEST_P(Shrink, KeepsRemainders) {
  const auto smaller = shrink(problem_of(GetParam().problem));
  const std::string key = GetParam().smaller;
  ASSERT_EQ(smaller.has_value(), !key.empty());
  if (smaller) {
    EXPECT_EQ(smaller->key(), problem_of(key).key());
  }
}

const Case kCases[] = {
    // 56 x 56 rows at stride 1: 8 rows are a multiple of a tile's remainder. 700 = 2 * 256 + 188.
    {"conv strides=[1,1] dilations=[1,1] pads_begin=[1,1] pads_end=[1,1] | float32[1x200x56x56] "
     "w:float32[700x200x3x3] w:float32[700] | add float32[1x700x56x56]",
     "conv strides=[1,1] dilations=[1,1] pads_begin=[1,1] pads_end=[1,1] | float32[1x200x24x56] "
     "w:float32[444x200x3x3] w:float32[444] | add float32[1x444x24x56]"},
    {"gemm | float32[1000x600] float32[600x300] w:float32[300]",
     "gemm | float32[488x216] float32[216x300] w:float32[300]"},
    {"matmul | float32[12x64x1000] float32[12x1000x64]",
     "matmul | float32[2x64x232] float32[2x232x64]"},
    {"pool kind=max kernel=[2,2] strides=[2,2] dilations=[1,1] pads_begin=[0,0] pads_end=[0,0] | "
     "float32[32x16x32x32]",
     "pool kind=max kernel=[2,2] strides=[2,2] dilations=[1,1] pads_begin=[0,0] pads_end=[0,0] | "
     "float32[2x16x32x32]"},
    // Two images and heads, rows as far apart as before; 600 = 2 * 256 + 88, a mask of every key.
    {"attention batch=[8,12] queries=600 keys=600 depth=64 width=64 q=[0,1382400,64,2304,1] "
     "k=[768,1382400,64,2304,1] v=[1536,1382400,64,2304,1] y=[0,460800,64,768,1] "
     "output=[8,600,768] scale=0.125 addend=[0,600,0,0,1] | float32[8x600x2304] "
     "float32[8x600x2304] float32[8x600x2304] float32[8x1x1x600]",
     "attention batch=[2,2] queries=344 keys=344 depth=64 width=64 q=[0,1382400,64,2304,1] "
     "k=[768,1382400,64,2304,1] v=[1536,1382400,64,2304,1] y=[0,44032,64,128,1] output=[88064] "
     "scale=0.125 addend=[0,600,0,0,1] | float32[2172800] float32[2173568] float32[2174336] "
     "float32[944]"},
    // A region as its product: 8 rows of 56 in both images, 188 channels beyond 256.
    {"dequantize | uint8[2x200x56x56] w:float32[] | then dequantize(w:int8[700x200x3x3] "
     "w:float32[700]) axis=0 | then conv(r0 r1 w:float32[700]) strides=[1,1] dilations=[1,1] "
     "pads_begin=[1,1] pads_end=[1,1] | then binary(r2 float32[2x700x56x56]) kind=add | then "
     "act(r3) kind=relu "
     "| then quantize(r4 w:float32[]) to=uint8",
     "dequantize | uint8[2x200x8x56] w:float32[] | then dequantize(w:int8[444x200x3x3] "
     "w:float32[444]) axis=0 | then conv(r0 r1 w:float32[444]) strides=[1,1] dilations=[1,1] "
     "pads_begin=[1,1] pads_end=[1,1] | then binary(r2 float32[2x444x8x56]) kind=add | then "
     "act(r3) kind=relu "
     "| then quantize(r4 w:float32[]) to=uint8"},
    {"dequantize | int8[1000x600] w:float32[] | then dequantize(w:int8[600x300] w:float32[300]) "
     "axis=1 | then gemm(r0 r1 w:float32[300])",
     "dequantize | int8[488x216] w:float32[] | then dequantize(w:int8[216x300] w:float32[300]) "
     "axis=1 | then gemm(r0 r1 w:float32[300])"},
    // Two products that are added: both keep the rows of the larger filter, 8 of 56.
    {"conv strides=[1,1] dilations=[1,1] pads_begin=[1,1] pads_end=[1,1] | float32[2x200x56x56] "
     "w:float32[700x200x3x3] | then conv(float32[2x300x112x112] w:float32[700x300x1x1] "
     "w:float32[700]) strides=[2,2] dilations=[1,1] pads_begin=[0,0] pads_end=[0,0] | then "
     "binary(r0 r1) kind=add | then act(r2) kind=relu",
     "conv strides=[1,1] dilations=[1,1] pads_begin=[1,1] pads_end=[1,1] | float32[2x200x8x56] "
     "w:float32[444x200x3x3] | then conv(float32[2x172x16x112] w:float32[444x172x1x1] "
     "w:float32[444]) strides=[2,2] dilations=[1,1] pads_begin=[0,0] pads_end=[0,0] | then "
     "binary(r0 r1) kind=add | then act(r2) kind=relu"},
    // A product with the pooling behind it: an image and 16 of 112 rows.
    {"conv strides=[2,2] dilations=[1,1] pads_begin=[3,3] pads_end=[3,3] | float32[2x3x224x224] "
     "w:float32[64x3x7x7] w:float32[64] | then act(r0) kind=relu | then pool(r1) kind=max "
     "kernel=[3,3] strides=[2,2] dilations=[1,1] pads_begin=[1,1] pads_end=[1,1]",
     "conv strides=[2,2] dilations=[1,1] pads_begin=[3,3] pads_end=[3,3] | float32[1x3x32x224] "
     "w:float32[64x3x7x7] w:float32[64] | then act(r0) kind=relu | then pool(r1) kind=max "
     "kernel=[3,3] strides=[2,2] dilations=[1,1] pads_begin=[1,1] pads_end=[1,1]"},
    // A region that is compared in full: few products.
    {"dequantize | int8[100x60] w:float32[] | then dequantize(w:int8[60x300] w:float32[300]) "
     "axis=1 | then gemm(r0 r1 w:float32[300])",
     ""},
    {"gemm | float32[8x600] float32[600x30]", ""},  // compared in full as it is
};

INSTANTIATE_TEST_SUITE_P(Problems, Shrink, testing::ValuesIn(kCases));

}  // namespace
}  // namespace enginery
