// OnednnRecipe: one oneDNN primitive that computes a problem in given formats, before an
// implementation of it is chosen.
//
// Where: families (convolution, pooling, ...) turn a problem into recipes, one for each way of
// laying out its tensors; onednn_source.cpp turns a recipe's implementations into tactics and one
// of them into a prepared tactic. Recipes are values that borrow the library; any thread.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/tactics/cpu/onednn/library.h"
#include "engine/tactics/tactic.h"

namespace enginery {

// An argument whose address comes with each launch.
struct RuntimeArgument {
  int argument = 0;  // DNNL_ARG_...
  bool output = false;
  size_t index = 0;  // of the problem's inputs or outputs
  MemoryDesc descriptor;
};

// A weight, put into the layout that the implementation wants when the tactic is prepared.
struct ConstantArgument {
  int argument = 0;
  MemoryDesc source;  // how `value` lies
  std::function<Tensor(Weights)> value;
  dnnl::query wanted = dnnl::query::undef;  // asked of the implementation; undef: as it lies
  int wanted_index = 0;
};

// One implementation by the library's own name.
struct OnednnImplementation {
  std::string name;
  dnnl::primitive_desc_base descriptor;
};

// The implementations of a described operation in the library's order: all, or where one is wanted
// by its name, those up to it (describing the others would take most of a load's time). Throws
// dnnl::error.
using ListImplementations =
    std::function<std::vector<OnednnImplementation>(std::string_view wanted)>;

// One primitive in given formats. The vectors of formats run parallel to the problem's.
struct OnednnRecipe {
  std::string prefix;                   // tells recipes with the same formats apart: "wino:"
  std::vector<Format> inputs, outputs;  // as in Tactic
  std::vector<RuntimeArgument> arguments;
  std::vector<ConstantArgument> constants;
  ListImplementations implementations;
  int in_place_operand = -1;
  std::string avoid;  // implementations with this in their name are not offered; empty: none
  Algorithm algorithm = Algorithm::direct;
  Precision compute = Precision::fp32;  // what floats are multiplied in
  double speedup = 1;  // of its arithmetic over the direct algorithm; for estimates
};

using OnednnRecipes = Result<std::vector<OnednnRecipe>>;

// ListImplementations of an operation descriptor.
template <typename Operation>
std::vector<OnednnImplementation> list_implementations(const OnednnLibrary& library,
                                                       const Operation& operation,
                                                       const dnnl::primitive_attr& attributes,
                                                       std::string_view wanted) {
  std::vector<OnednnImplementation> out;
  constexpr bool kAllowNone = true;
  dnnl::primitive_desc desc(&operation.data, &attributes, library.engine, nullptr, kAllowNone);
  while (desc) {
    out.push_back({desc.impl_info_str(), desc});
    if (out.back().name == wanted || !desc.next_impl()) break;
  }
  return out;
}

// Attributes that every primitive has: workspace comes from the caller.
dnnl::primitive_attr base_attributes();

// The families (onednn_source.cpp lists them). Errors: unsupported, with the reason.
OnednnRecipes convolution_recipes(const OnednnLibrary& library, const Problem& problem);
OnednnRecipes deconvolution_recipes(const OnednnLibrary& library, const Problem& problem);
OnednnRecipes gemm_recipes(const OnednnLibrary& library, const Problem& problem);
OnednnRecipes matmul_recipes(const OnednnLibrary& library, const Problem& problem);
OnednnRecipes pooling_recipes(const OnednnLibrary& library, const Problem& problem);
OnednnRecipes global_pooling_recipes(const OnednnLibrary& library, const Problem& problem);
OnednnRecipes softmax_recipes(const OnednnLibrary& library, const Problem& problem);
OnednnRecipes lrn_recipes(const OnednnLibrary& library, const Problem& problem);
OnednnRecipes batch_norm_recipes(const OnednnLibrary& library, const Problem& problem);
OnednnRecipes activation_recipes(const OnednnLibrary& library, const Problem& problem);
OnednnRecipes binary_recipes(const OnednnLibrary& library, const Problem& problem);
OnednnRecipes reformat_recipes(const OnednnLibrary& library, const Problem& problem);
// Regions of quantised numbers. Scales are part of the description: without `weights` it is one of
// scales that are 1.
OnednnRecipes quantized_recipes(const OnednnLibrary& library, const Problem& problem,
                                Weights weights);

// ---- shared by the families

inline Error no_primitive(const std::string& reason) {
  return {ErrorCode::unsupported, "onednn: " + reason};
}

// Formats of all inputs: `first` for input 0, linear in the tensor's own type for the others.
std::vector<Format> default_formats(const Problem& problem, const Format& first);

// Makes `recipe` one whose floats are multiplied in `type`: float32 or bfloat16.
void multiply_in(DataType type, const OnednnLibrary& library, OnednnRecipe& recipe);

// The layouts that a tensor of these dims can take without padding: linear, channels-last, blocked.
std::vector<Layout> dense_layouts(const OnednnLibrary& library, const Dims& dims);

// A constant used as it is.
std::function<Tensor(Weights)> weight_of(size_t input);

}  // namespace enginery
