// A problem's epilogue as oneDNN's post-operations.
//
// Where: between a family, which has read the anchor, and its recipe. Any thread.
#pragma once

#include "engine/tactics/cpu/onednn/recipe.h"

namespace enginery {

struct PostOperations {
  dnnl::primitive_attr attributes;
  int bias = -1;              // the problem input that the primitive adds as its own bias
  int in_place_operand = -1;  // the operand that the destination must hold beforehand
};

enum class OwnBias {
  taken,
  free
};  // whether the primitive's bias argument is still free for the first step

// Appends what the epilogue needs to `recipe` (formats, arguments, constants). `output` is the
// result's format. Errors: unsupported.
Result<PostOperations> add_epilogue(const Problem& problem, const Format& output, OwnBias own_bias,
                                    OnednnRecipe& recipe);

// Appends an activation to post-operations. Errors: unsupported.
Status append_activation(const Activation& activation, dnnl::post_ops& operations);

}  // namespace enginery
