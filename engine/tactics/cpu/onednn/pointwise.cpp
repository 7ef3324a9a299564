// Activations and broadcast binaries on their own, and changes of format.
#include "engine/tactics/cpu/onednn/epilogue.h"

namespace enginery {
namespace {

Result<dnnl::algorithm> binary_algorithm(BinaryKind kind) {
  switch (kind) {
    case BinaryKind::add:
      return dnnl::algorithm::binary_add;
    case BinaryKind::sub:
      return dnnl::algorithm::binary_sub;
    case BinaryKind::mul:
      return dnnl::algorithm::binary_mul;
    case BinaryKind::div:
      return dnnl::algorithm::binary_div;
    case BinaryKind::min:
      return dnnl::algorithm::binary_min;
    case BinaryKind::max:
      return dnnl::algorithm::binary_max;
    default:
      return no_primitive("binary " + std::string(enum_names(kind)[static_cast<size_t>(kind)]));
  }
}

bool has_padding(const Dims& dims, const Format& format) {
  return physical_bytes(dims, format) != volume(dims) * element_bytes(format.type);
}

}  // namespace

OnednnRecipes activation_recipes(const OnednnLibrary& library, const Problem& p) {
  const Dims& dims = input_dims(p, 0);
  if (p.inputs[0].type.type != DataType::float32)
    return no_primitive("an activation of " + to_string(p.inputs[0].type));
  if (dims.empty() || dims.size() > 5)
    return no_primitive("an activation of rank " + std::to_string(dims.size()));
  // A pass-through whose first post-operation is the activation; the library has no post-operation
  // alone.
  dnnl::post_ops one;
  CHECK_OK(append_activation(std::get<Activation>(p.op), one));
  std::vector<OnednnRecipe> recipes;
  for (const Layout& layout : dense_layouts(library, dims)) {
    OnednnRecipe recipe;
    Format format{DataType::float32, layout};
    recipe.inputs = default_formats(p, format);
    recipe.outputs = {format};
    if (one.len() != 1 || !p.epilogue.empty()) return no_primitive("a chain of pointwise steps");
    MemoryDesc data = memory_desc(dims, format);
    recipe.arguments.push_back({DNNL_ARG_SRC, false, 0, data});
    recipe.arguments.push_back({DNNL_ARG_DST, true, 0, data});
    float scale = 1, alpha = 0, beta = 0;
    dnnl::algorithm algorithm;
    one.get_params_eltwise(0, scale, algorithm, alpha, beta);
    recipe.implementations = [=, &library](std::string_view wanted) {
      dnnl::eltwise_forward::desc operation(dnnl::prop_kind::forward_inference, algorithm, data,
                                            alpha, beta);
      return list_implementations(library, operation, base_attributes(), wanted);
    };
    recipes.push_back(std::move(recipe));
  }
  return recipes;
}

OnednnRecipes binary_recipes(const OnednnLibrary& library, const Problem& p) {
  TRY(dnnl::algorithm algorithm, binary_algorithm(std::get<Binary>(p.op).kind));
  const Dims& out = output_dims(p);
  if (out.empty() || out.size() > 5)
    return no_primitive("a binary of rank " + std::to_string(out.size()));
  for (size_t i = 0; i < 2; ++i) {
    if (p.inputs[i].type.type != DataType::float32)
      return no_primitive("a binary of " + to_string(p.inputs[i].type));
  }
  // Only the second operand may be broadcast.
  if (input_dims(p, 0) != out || p.inputs[0].constant)
    return no_primitive("a binary whose first operand is broadcast");
  std::vector<OnednnRecipe> recipes;
  for (const Layout& layout : dense_layouts(library, out)) {
    OnednnRecipe recipe;
    Format format{DataType::float32, layout};
    recipe.inputs = default_formats(p, format);
    recipe.outputs = {format};
    TRY(PostOperations post, add_epilogue(p, format, OwnBias::taken, recipe));
    if (post.in_place_operand >= 0) return no_primitive("a binary with a sum");
    bool whole = input_dims(p, 1) == out && !p.inputs[1].constant;
    Format second{DataType::float32, whole ? layout : Layout{}};
    recipe.inputs[1] = second;
    MemoryDesc a = memory_desc(out, format),
               b = memory_desc(aligned(input_dims(p, 1), out.size()), second);
    recipe.arguments.push_back({DNNL_ARG_SRC_0, false, 0, a});
    recipe.arguments.push_back({DNNL_ARG_DST, true, 0, a});
    if (p.inputs[1].constant)
      recipe.constants.push_back({DNNL_ARG_SRC_1, b, weight_of(1), dnnl::query::undef, 0});
    else
      recipe.arguments.push_back({DNNL_ARG_SRC_1, false, 1, b});
    recipe.implementations = [=, &library, attributes = post.attributes](std::string_view wanted) {
      dnnl::binary::desc operation(algorithm, a, b, a);
      return list_implementations(library, operation, attributes, wanted);
    };
    recipes.push_back(std::move(recipe));
  }
  return recipes;
}

OnednnRecipes reformat_recipes(const OnednnLibrary& library, const Problem& p) {
  const Dims& dims = input_dims(p, 0);
  Format from = *p.inputs[0].pinned, to = *p.outputs[0].pinned;
  if (!dnnl_supports(from.type) || !dnnl_supports(to.type))
    return no_primitive("a reformat of these types");
  if (dims.empty() || dims.size() > 5)
    return no_primitive("a reformat of rank " + std::to_string(dims.size()));
  bool plain = from.layout.kind == LayoutKind::linear && to.layout.kind == LayoutKind::linear;
  if (!plain && dims.size() < 3)
    return no_primitive("a reformat of rank " + std::to_string(dims.size()));
  // The library's own padding is only that of its blocked layouts.
  for (const Format& f : {from, to}) {
    if (f.layout.kind == LayoutKind::channels_last && has_padding(dims, f))
      return no_primitive("padded channels-last");
    if (f.layout.kind == LayoutKind::blocked && f.layout.block != 8 && f.layout.block != 16) {
      return no_primitive("blocks of " + std::to_string(f.layout.block));
    }
  }
  OnednnRecipe recipe;
  recipe.inputs = {from};
  recipe.outputs = {to};
  MemoryDesc source = memory_desc(dims, from), destination = memory_desc(dims, to);
  recipe.arguments.push_back({DNNL_ARG_SRC, false, 0, source});
  recipe.arguments.push_back({DNNL_ARG_DST, true, 0, destination});
  recipe.implementations = [=, &library](std::string_view) -> std::vector<OnednnImplementation> {
    dnnl::reorder::primitive_desc desc(library.engine, source, library.engine, destination,
                                       base_attributes());
    return {{desc.impl_info_str(), desc}};
  };
  return std::vector{recipe};
}

}  // namespace enginery
