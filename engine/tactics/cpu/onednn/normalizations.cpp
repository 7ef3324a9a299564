// Softmax, LRN and a batch norm that no convolution took in.
#include "engine/tactics/cpu/onednn/epilogue.h"

namespace enginery {
namespace {

// One recipe a layout for primitives with one source and an equal destination; `describe` gets the
// descriptor.
template <typename Describe>
OnednnRecipes same_shape_recipes(const OnednnLibrary& library, const Problem& p,
                                 const std::vector<Layout>& layouts, const Describe& describe) {
  if (p.inputs[0].type.type != DataType::float32)
    return no_primitive("normalisation of " + to_string(p.inputs[0].type));
  if (!p.epilogue.empty()) return no_primitive("a normalisation with an epilogue");
  std::vector<OnednnRecipe> recipes;
  for (const Layout& layout : layouts) {
    OnednnRecipe recipe;
    Format format{DataType::float32, layout};
    recipe.inputs = default_formats(p, format);
    recipe.outputs = {format};
    MemoryDesc data = memory_desc(input_dims(p, 0), format);
    recipe.arguments.push_back({DNNL_ARG_SRC, false, 0, data});
    recipe.arguments.push_back({DNNL_ARG_DST, true, 0, data});
    recipe.implementations = [data, describe, &library](std::string_view wanted) {
      return describe(library, data, wanted);
    };
    recipes.push_back(std::move(recipe));
  }
  return recipes;
}

}  // namespace

OnednnRecipes softmax_recipes(const OnednnLibrary& library, const Problem& p) {
  const auto& op = std::get<Softmax>(p.op);
  const Dims& dims = input_dims(p, 0);
  if (dims.empty() || dims.size() > 6)
    return no_primitive("softmax of rank " + std::to_string(dims.size()));
  int axis = static_cast<int>(op.axis < 0 ? op.axis + static_cast<int64_t>(dims.size()) : op.axis);
  return same_shape_recipes(
      library, p, dense_layouts(library, dims),
      [axis, log = op.log](const OnednnLibrary& l, const MemoryDesc& d, std::string_view wanted) {
        if (log) {
          dnnl::logsoftmax_forward::desc operation(dnnl::prop_kind::forward_inference, d, axis);
          return list_implementations(l, operation, base_attributes(), wanted);
        }
        dnnl::softmax_forward::desc operation(dnnl::prop_kind::forward_inference, d, axis);
        return list_implementations(l, operation, base_attributes(), wanted);
      });
}

OnednnRecipes lrn_recipes(const OnednnLibrary& library, const Problem& p) {
  const auto& op = std::get<Lrn>(p.op);
  if (op.size % 2 == 0) return no_primitive("lrn over an even number of channels");
  if (input_dims(p, 0).size() != 4) return no_primitive("lrn of rank other than 4");
  return same_shape_recipes(
      library, p, dense_layouts(library, input_dims(p, 0)),
      [op](const OnednnLibrary& l, const MemoryDesc& d, std::string_view wanted) {
        dnnl::lrn_forward::desc operation(dnnl::prop_kind::forward_inference,
                                          dnnl::algorithm::lrn_across_channels, d, op.size,
                                          op.alpha, op.beta, op.bias);
        return list_implementations(l, operation, base_attributes(), wanted);
      });
}

OnednnRecipes batch_norm_recipes(const OnednnLibrary& library, const Problem& p) {
  const auto& op = std::get<BatchNorm>(p.op);
  size_t rank = input_dims(p, 0).size();
  if (rank < 3 || rank > 5) return no_primitive("batch norm of rank " + std::to_string(rank));
  for (size_t i = 1; i < 5; ++i) {
    if (!p.inputs[i].constant) return no_primitive("batch norm with run-time statistics");
  }
  TRY(auto recipes, same_shape_recipes(
                        library, p, dense_layouts(library, input_dims(p, 0)),
                        [op](const OnednnLibrary& l, const MemoryDesc& d, std::string_view wanted) {
                          using Flags = dnnl::normalization_flags;
                          auto flags =
                              Flags::use_global_stats | Flags::use_scale | Flags::use_shift;
                          dnnl::batch_normalization_forward::desc operation(
                              dnnl::prop_kind::forward_inference, d, op.epsilon, flags);
                          return list_implementations(l, operation, base_attributes(), wanted);
                        }));
  Dims channels{input_dims(p, 0)[1]};
  for (OnednnRecipe& recipe : recipes) {
    int arguments[] = {DNNL_ARG_SCALE, DNNL_ARG_SHIFT, DNNL_ARG_MEAN, DNNL_ARG_VARIANCE};
    for (size_t i = 0; i < 4; ++i) {
      recipe.constants.push_back(
          {arguments[i], memory_desc(channels, Format{}), weight_of(i + 1), dnnl::query::undef, 0});
    }
  }
  return recipes;
}

}  // namespace enginery
