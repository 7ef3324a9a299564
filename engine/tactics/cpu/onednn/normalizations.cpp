// Softmax, LRN and a batch norm that no convolution took in.
#include "engine/tactics/cpu/onednn/epilogue.h"

namespace enginery::onednn {
namespace {

// One recipe a layout for primitives with one source and an equal destination; `describe` gets the
// descriptor.
template <typename Describe>
Recipes same_shape_recipes(const Library& library, const Problem& p,
                           const std::vector<Layout>& layouts, const Describe& describe) {
  if (p.inputs[0].type.type != DataType::float32)
    return unsupported("normalisation of " + to_string(p.inputs[0].type));
  if (!p.epilogue.empty()) return unsupported("a normalisation with an epilogue");
  std::vector<Recipe> recipes;
  for (const Layout& layout : layouts) {
    Recipe recipe;
    Format format{DataType::float32, layout};
    recipe.inputs = default_formats(p, format);
    recipe.outputs = {format};
    Descriptor data = descriptor(input_dims(p, 0), format);
    recipe.arguments.push_back({DNNL_ARG_SRC, false, 0, data});
    recipe.arguments.push_back({DNNL_ARG_DST, true, 0, data});
    recipe.implementations = [data, describe, &library] { return describe(library, data); };
    recipes.push_back(std::move(recipe));
  }
  return recipes;
}

}  // namespace

Recipes softmax_recipes(const Library& library, const Problem& p) {
  const auto& op = std::get<Softmax>(p.op);
  const Dims& dims = input_dims(p, 0);
  if (dims.empty() || dims.size() > 6)
    return unsupported("softmax of rank " + std::to_string(dims.size()));
  int axis = static_cast<int>(op.axis < 0 ? op.axis + static_cast<int64_t>(dims.size()) : op.axis);
  return same_shape_recipes(
      library, p, dense_layouts(library, dims),
      [axis, log = op.log](const Library& l, const Descriptor& d) {
        if (log) {
          dnnl::logsoftmax_forward::desc operation(dnnl::prop_kind::forward_inference, d, axis);
          return list_implementations(l, operation, base_attributes());
        }
        dnnl::softmax_forward::desc operation(dnnl::prop_kind::forward_inference, d, axis);
        return list_implementations(l, operation, base_attributes());
      });
}

Recipes lrn_recipes(const Library& library, const Problem& p) {
  const auto& op = std::get<Lrn>(p.op);
  if (op.size % 2 == 0) return unsupported("lrn over an even number of channels");
  if (input_dims(p, 0).size() != 4) return unsupported("lrn of rank other than 4");
  return same_shape_recipes(library, p, dense_layouts(library, input_dims(p, 0)),
                            [op](const Library& l, const Descriptor& d) {
                              dnnl::lrn_forward::desc operation(
                                  dnnl::prop_kind::forward_inference,
                                  dnnl::algorithm::lrn_across_channels, d, op.size, op.alpha,
                                  op.beta, op.bias);
                              return list_implementations(l, operation, base_attributes());
                            });
}

Recipes batch_norm_recipes(const Library& library, const Problem& p) {
  const auto& op = std::get<BatchNorm>(p.op);
  size_t rank = input_dims(p, 0).size();
  if (rank < 3 || rank > 5) return unsupported("batch norm of rank " + std::to_string(rank));
  for (size_t i = 1; i < 5; ++i) {
    if (!p.inputs[i].constant) return unsupported("batch norm with run-time statistics");
  }
  TRY(auto recipes,
      same_shape_recipes(library, p, dense_layouts(library, input_dims(p, 0)),
                         [op](const Library& l, const Descriptor& d) {
                           using Flags = dnnl::normalization_flags;
                           auto flags =
                               Flags::use_global_stats | Flags::use_scale | Flags::use_shift;
                           dnnl::batch_normalization_forward::desc operation(
                               dnnl::prop_kind::forward_inference, d, op.epsilon, flags);
                           return list_implementations(l, operation, base_attributes());
                         }));
  Dims channels{input_dims(p, 0)[1]};
  for (Recipe& recipe : recipes) {
    int arguments[] = {DNNL_ARG_SCALE, DNNL_ARG_SHIFT, DNNL_ARG_MEAN, DNNL_ARG_VARIANCE};
    for (size_t i = 0; i < 4; ++i) {
      recipe.constants.push_back(
          {arguments[i], descriptor(channels, Format{}), weight(i + 1), dnnl::query::undef, 0});
    }
  }
  return recipes;
}

}  // namespace enginery::onednn
