// Recipe: one oneDNN primitive that computes a problem in given formats, before an implementation
// of it is chosen.
//
// makers (convolution, pooling, ...) turn a problem into recipes; onednn_source.cpp turns a
// recipe's implementations into tactics and one of them into a prepared tactic.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "engine/tactics/cpu/onednn/library.h"
#include "engine/tactics/tactic.h"

namespace enginery::onednn {

// An argument whose address comes with each launch.
struct RuntimeArgument {
  int argument = 0;  // DNNL_ARG_...
  bool output = false;
  size_t index = 0;  // of the problem's inputs or outputs
  Descriptor descriptor;
};

// A weight, put into the layout that the implementation wants when the tactic is prepared.
struct ConstantArgument {
  int argument = 0;
  Descriptor source;  // how `value` lies
  std::function<Tensor(Weights)> value;
  dnnl::query wanted = dnnl::query::undef;  // asked of the implementation; undef: as it lies
  int wanted_index = 0;
};

// One implementation by the library's own name.
struct Implementation {
  std::string name;
  dnnl::primitive_desc_base descriptor;
};

struct Recipe {
  std::string prefix;                   // tells recipes with the same formats apart: "wino:"
  std::vector<Format> inputs, outputs;  // as in Tactic
  std::vector<RuntimeArgument> arguments;
  std::vector<ConstantArgument> constants;
  std::function<std::vector<Implementation>()> implementations;  // throws dnnl::error
  int in_place_operand = -1;
  std::string avoid;   // implementations with this in their name are not offered; empty: none
  double speedup = 1;  // of its arithmetic over the direct algorithm; for estimates
};

using Recipes = Result<std::vector<Recipe>>;

// Every implementation that the library lists for an operation descriptor, in its order.
template <typename Operation>
std::vector<Implementation> list_implementations(const Library& library, const Operation& operation,
                                                 const dnnl::primitive_attr& attributes) {
  std::vector<Implementation> out;
  constexpr bool kAllowNone = true;
  dnnl::primitive_desc desc(&operation.data, &attributes, library.engine, nullptr, kAllowNone);
  while (desc) {
    out.push_back({desc.impl_info_str(), desc});
    if (!desc.next_impl()) break;
  }
  return out;
}

// Attributes that every primitive has: workspace comes from the caller.
dnnl::primitive_attr base_attributes();

// The makers; unsupported with the reason.
Recipes convolution_recipes(const Library& library, const Problem& problem);
Recipes deconvolution_recipes(const Library& library, const Problem& problem);
Recipes gemm_recipes(const Library& library, const Problem& problem);
Recipes matmul_recipes(const Library& library, const Problem& problem);
Recipes pooling_recipes(const Library& library, const Problem& problem);
Recipes global_pooling_recipes(const Library& library, const Problem& problem);
Recipes softmax_recipes(const Library& library, const Problem& problem);
Recipes lrn_recipes(const Library& library, const Problem& problem);
Recipes batch_norm_recipes(const Library& library, const Problem& problem);
Recipes activation_recipes(const Library& library, const Problem& problem);
Recipes binary_recipes(const Library& library, const Problem& problem);
Recipes reformat_recipes(const Library& library, const Problem& problem);

// ---- shared by the makers

inline Error unsupported(const std::string& reason) {
  return {ErrorCode::unsupported, "onednn: " + reason};
}

inline const Dims& input_dims(const Problem& p, size_t i) {
  return p.inputs[i].type.dims;
}
inline const Dims& output_dims(const Problem& p) {
  return p.outputs[0].type.dims;
}

// Formats of all inputs: `first` for input 0, linear in the tensor's own type for the others.
std::vector<Format> default_formats(const Problem& problem, const Format& first);

// The layouts that a tensor of these dims can take without padding: linear, channels-last, blocked.
std::vector<Layout> dense_layouts(const Library& library, const Dims& dims);

// A constant used as it is.
std::function<Tensor(Weights)> weight(size_t input);

}  // namespace enginery::onednn
