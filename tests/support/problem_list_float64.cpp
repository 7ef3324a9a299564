// Element-wise operators and moves of float64: see problem_list.h.
#include "tests/support/problem_list.h"

namespace enginery {

std::vector<ProblemRow> float64_problems() {
  return {
      {"mul_float64", "K/K", "binary kind=mul | float64[21x1] w:float64[4]"},
      {"add_float64", "K/K", "binary kind=add | float64[2x3x700] float64[2x3x700]"},
      {"sub_float64_constant_first", "K/K", "binary kind=sub | w:float64[1x7] float64[5x1]"},
      {"div_float64", "K/K", "binary kind=div | float64[3x1x5] float64[4x5]"},
      {"pow_float64", "K/K", "binary kind=pow | float64[3x37] float64[3x37]"},
      {"min_float64", "K/K", "binary kind=min | float64[3x37] float64[37]"},
      {"max_float64", "K/K", "binary kind=max | float64[3x1] float64[3x37]"},
      {"fmod_float64", "K/K", "binary kind=fmod | float64[3x37] float64[37]"},
      {"mod_float64", "K/K", "binary kind=mod | float64[3x37] float64[37]"},
      {"cos_float64", "K/K", "unary kind=cos | float64[21x8]"},
      {"sin_float64", "K/K", "unary kind=sin | float64[21x8]"},
      {"erf_float64", "K/K", "unary kind=erf | float64[5x130]"},
      {"round_float64", "K/K", "unary kind=round | float64[5x130]"},
      {"sign_float64", "K/K", "unary kind=sign | float64[5x130]"},
      {"neg_float64", "K/K", "unary kind=neg | float64[]"},
      {"atanh_float64", "K/K", "unary kind=atanh | float64[5x13]"},
      {"clip_float64", "K/K", "act kind=clip alpha=-1 beta=0.5 | float64[5x13]"},
      {"sigmoid_float64", "K/K", "act kind=sigmoid | float64[5x13]"},
      {"celu_float64", "K/K", "act kind=celu alpha=0.75 | float64[5x13]"},
      {"hard_sigmoid_float64", "K/K", "act kind=hard_sigmoid alpha=0.25 beta=0.5 | float64[5x13]"},
      {"gelu_float64", "K/K", "act kind=gelu_tanh | float64[5x13]"},
      {"is_inf_float64", "K/K", "unary kind=is_inf | float64[4x37]"},
      {"is_positive_inf", "K/K", "unary kind=is_positive_inf | float32[4x37]"},
      {"is_negative_inf", "K/K", "unary kind=is_negative_inf | float32[4x37]"},
      {"cast_to_float64", "K/K", "cast to=float64 | float32[3x700]"},
      {"cast_int64_to_float64", "K/K", "cast to=float64 | int64[3x7]"},
      {"cast_from_float64", "K/K", "cast to=float32 | float64[3x700]"},
      {"cast_float64_to_int64", "K/K", "cast to=int64 | float64[3x7]"},
      {"cast_float64_to_boolean", "K/K", "cast to=boolean | float64[3x7]"},
      {"transpose_float64", "K/K", "transpose permutation=[2,0,1] | float64[2x5x7]"},
      {"gather_float64", "K/K", "gather axis=1 | float64[2x5x7] int64[3]"},
      {"where_float64", "K/K", "select | boolean[5x1] float64[7] float64[5x7]"},
      {"view_float64", "K/K", "unsqueeze | float64[5x7] int64[1]={1}"},
  };
}

}  // namespace enginery
