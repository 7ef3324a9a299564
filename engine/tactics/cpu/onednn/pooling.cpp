#include "engine/tactics/cpu/onednn/epilogue.h"

namespace enginery {
namespace {

using Dimensions = dnnl::memory::dims;

struct PoolGeometry {
  dnnl::algorithm algorithm;
  Dimensions kernel, strides, dilations, pads_begin, pads_end;
};

OnednnRecipes recipes_of(const OnednnLibrary& library, const Problem& p,
                         const PoolGeometry& shape) {
  size_t rank = input_dims(p, 0).size();
  if (rank < 3 || rank > 5) return no_primitive("pooling of rank " + std::to_string(rank));
  if (p.inputs[0].type.type != DataType::float32)
    return no_primitive("pooling of " + to_string(p.inputs[0].type));
  std::vector<OnednnRecipe> recipes;
  for (const Layout& layout : dense_layouts(library, input_dims(p, 0))) {
    OnednnRecipe recipe;
    Format format{DataType::float32, layout};
    recipe.inputs = default_formats(p, format);
    recipe.outputs = {format};
    TRY(PostOperations post, add_epilogue(p, format, OwnBias::taken, recipe));
    if (post.in_place_operand >= 0) return no_primitive("pooling with a sum");
    MemoryDesc source = memory_desc(input_dims(p, 0), format),
               destination = memory_desc(output_dims(p), format);
    recipe.arguments.push_back({DNNL_ARG_SRC, false, 0, source});
    recipe.arguments.push_back({DNNL_ARG_DST, true, 0, destination});
    recipe.implementations = [=, &library, attributes = post.attributes](std::string_view wanted) {
      dnnl::pooling_v2_forward::desc operation(dnnl::prop_kind::forward_inference, shape.algorithm,
                                               source, destination, shape.strides, shape.kernel,
                                               shape.dilations, shape.pads_begin, shape.pads_end);
      return list_implementations(library, operation, attributes, wanted);
    };
    recipes.push_back(std::move(recipe));
  }
  return recipes;
}

}  // namespace

OnednnRecipes pooling_recipes(const OnednnLibrary& library, const Problem& p) {
  const auto& op = std::get<Pooling>(p.op);
  PoolGeometry shape{dnnl::algorithm::pooling_max,
                     op.kernel,
                     op.strides,
                     op.dilations,
                     op.pads_begin,
                     op.pads_end};
  if (op.kind == PoolKind::average) {
    shape.algorithm = op.count_padding ? dnnl::algorithm::pooling_avg_include_padding
                                       : dnnl::algorithm::pooling_avg_exclude_padding;
  }
  for (size_t d = 0; d < op.kernel.size(); ++d) {
    if (shape.dilations.size() <= d) return no_primitive("pooling without dilations");
    int64_t extent = (op.kernel[d] - 1) * op.dilations[d] + 1;
    int64_t in = input_dims(p, 0)[d + 2], out = output_dims(p)[d + 2];
    // Ceil mode is right padding, so that the output's size comes out exactly.
    int64_t needed = (out - 1) * op.strides[d] + extent - in - op.pads_begin[d];
    if (op.count_padding && needed > op.pads_end[d])
      return no_primitive("a padded average over windows that pass the padding");
    shape.pads_end[d] = needed;
    shape.dilations[d] -= 1;
  }
  return recipes_of(library, p, shape);
}

OnednnRecipes global_pooling_recipes(const OnednnLibrary& library, const Problem& p) {
  const auto& op = std::get<GlobalPooling>(p.op);
  const Dims& dims = input_dims(p, 0);
  size_t spatial = dims.size() > 2 ? dims.size() - 2 : 0;
  PoolGeometry shape;
  shape.algorithm = op.kind == PoolKind::max ? dnnl::algorithm::pooling_max
                                             : dnnl::algorithm::pooling_avg_exclude_padding;
  shape.kernel.assign(dims.begin() + static_cast<int64_t>(dims.size() - spatial), dims.end());
  shape.strides = shape.kernel;
  shape.dilations = shape.pads_begin = shape.pads_end = Dimensions(spatial, 0);
  return recipes_of(library, p, shape);
}

}  // namespace enginery
