#include <algorithm>

#include "engine/tactics/cpu/onednn/convolution_dims.h"
#include "engine/tactics/cpu/onednn/epilogue.h"

namespace enginery {
namespace {

struct FormatPair {
  Format source, destination;
};

// What is worth trying: channels-last, blocked, and a planar source for a stem; in bfloat16
// channels-last alone, since the others lose AMX (untried without it).
std::vector<FormatPair> format_pairs(const OnednnLibrary& library, const Problem& p,
                                     int64_t groups) {
  constexpr int64_t kStemChannels = 4;
  int64_t c = input_dims(p, 0)[1], k = output_dims(p)[1], block = library.block();
  const Format linear, nhwc{DataType::float32, {LayoutKind::channels_last, 0}},
      blocked{DataType::float32, {LayoutKind::blocked, library.block()}};
  bool depthwise = groups > 1 && groups == c && k == c;
  bool whole_blocks =
      depthwise ? c % block == 0 : c / groups % block == 0 && k / groups % block == 0;
  std::vector<FormatPair> pairs{{nhwc, nhwc}};
  if (whole_blocks) pairs.push_back({blocked, blocked});
  if (groups == 1 && c <= kStemChannels) {
    pairs.push_back({linear, nhwc});
    if (k % block == 0) pairs.push_back({linear, blocked});
  }
  // The way without any reformat around it, for graphs where nothing else wants another layout.
  pairs.push_back({linear, linear});
  if (library.multiplies_bfloat16()) {
    const Format narrow{DataType::bfloat16, nhwc.layout};
    pairs.push_back({narrow, narrow});
    pairs.push_back({narrow, nhwc});
  }
  return pairs;
}

// What the convolution family's makers share.
struct ConvolutionKind {
  int64_t groups = 1;
  bool transposed = false;
};

Status check(const Problem& p, const char* what) {
  size_t rank = input_dims(p, 0).size();
  if (rank < 3 || rank > 5)
    return no_primitive(std::string(what) + " of rank " + std::to_string(rank));
  for (size_t i = 0; i < static_cast<size_t>(p.anchor_inputs); ++i) {
    if (!p.inputs[i].present) continue;
    if (p.inputs[i].type.type != DataType::float32)
      return no_primitive(std::string(what) + " in " + to_string(p.inputs[i].type));
    if (i > 0 && !p.inputs[i].constant)
      return no_primitive(std::string(what) + " with weights known only at run time");
  }
  if (p.outputs[0].type.type != DataType::float32)
    return no_primitive(std::string(what) + " to " + to_string(p.outputs[0].type));
  return {};
}

// Formats, arguments, weights and bias of one pair of formats.
Result<OnednnRecipe> base_recipe(const OnednnLibrary& library, const Problem& p,
                                 const FormatPair& pair, const ConvolutionKind& shape,
                                 PostOperations& post) {
  OnednnRecipe recipe;
  const auto& [source, destination] = pair;
  multiply_in(source.type, library, recipe);
  recipe.inputs = default_formats(p, source);
  recipe.outputs = {destination};
  bool has_bias = p.anchor_inputs > 2 && p.inputs[2].present;
  TRY(post, add_epilogue(p, destination, has_bias ? OwnBias::taken : OwnBias::free, recipe));
  if (has_bias) post.bias = 2;
  recipe.arguments.push_back({DNNL_ARG_SRC, false, 0, memory_desc(input_dims(p, 0), source)});
  recipe.arguments.push_back({DNNL_ARG_DST, true, 0, memory_desc(output_dims(p), destination)});
  Dims weights = library_weight_dims(input_dims(p, 1), shape.groups, shape.transposed);
  recipe.constants.push_back(
      {DNNL_ARG_WEIGHTS, stored_weights(weights, DataType::float32, shape.groups, shape.transposed),
       weight_of(1), dnnl::query::weights_md, 0});
  if (post.bias >= 0) {
    Dims bias{output_dims(p)[1]};
    recipe.constants.push_back({DNNL_ARG_BIAS, memory_desc(bias, Format{}),
                                weight_of(static_cast<size_t>(post.bias)), dnnl::query::weights_md,
                                1});
  }
  return recipe;
}

template <typename Forward, typename O>
ListImplementations describe(const OnednnLibrary& library, const Problem& p, const O& op,
                             const OnednnRecipe& recipe, const PostOperations& post,
                             dnnl::algorithm algorithm, const ConvolutionKind& shape) {
  MemoryDesc source = memory_desc(input_dims(p, 0), recipe.inputs[0]);
  MemoryDesc destination = memory_desc(output_dims(p), recipe.outputs[0]);
  MemoryDesc weights = any_layout_desc(
      library_weight_dims(input_dims(p, 1), shape.groups, shape.transposed), recipe.inputs[0].type);
  Dims bias_dims{output_dims(p)[1]};
  MemoryDesc bias = post.bias >= 0 ? memory_desc(bias_dims, Format{}) : MemoryDesc();
  ConvolutionGeometry g = geometry_of(op);
  return [=, &library, attributes = post.attributes](std::string_view wanted) {
    typename Forward::desc operation(dnnl::prop_kind::forward_inference, algorithm, source, weights,
                                     bias, destination, g.strides, g.dilations, g.pads_begin,
                                     g.pads_end);
    return list_implementations(library, operation, attributes, wanted);
  };
}

// Winograd's transforms cost more than they save on small planes and few channels.
bool suits_winograd(const OnednnLibrary& library, const Problem& p, const Convolution& op,
                    const FormatPair& pair) {
  const Dims& w = input_dims(p, 1);
  auto all = [](const std::vector<int64_t>& v, int64_t value) {
    return std::all_of(v.begin(), v.end(), [&](int64_t x) { return x == value; });
  };
  return library.isa >= CpuIsa::avx512 && pair.source.layout.kind == LayoutKind::blocked &&
         op.groups == 1 && w.size() == 4 && w[2] == 3 && w[3] == 3 && all(op.strides, 1) &&
         all(op.dilations, 1);
}

}  // namespace

OnednnRecipes convolution_recipes(const OnednnLibrary& library, const Problem& p) {
  CHECK_OK(check(p, "a convolution"));
  const auto& op = std::get<Convolution>(p.op);
  ConvolutionKind shape{op.groups, false};
  std::vector<OnednnRecipe> recipes;
  for (const FormatPair& pair : format_pairs(library, p, op.groups)) {
    PostOperations post;
    TRY(OnednnRecipe recipe, base_recipe(library, p, pair, shape, post));
    using Forward = dnnl::convolution_forward;
    recipe.implementations =
        describe<Forward>(library, p, op, recipe, post, dnnl::algorithm::convolution_direct, shape);
    recipes.push_back(recipe);
    if (!suits_winograd(library, p, op, pair)) continue;
    recipe.prefix = "wino:";
    recipe.algorithm = Algorithm::winograd;
    recipe.speedup = 1.8;
    recipe.implementations = describe<Forward>(library, p, op, recipe, post,
                                               dnnl::algorithm::convolution_winograd, shape);
    recipes.push_back(std::move(recipe));
  }
  return recipes;
}

OnednnRecipes deconvolution_recipes(const OnednnLibrary& library, const Problem& p) {
  CHECK_OK(check(p, "a deconvolution"));
  const auto& op = std::get<Deconvolution>(p.op);
  ConvolutionKind shape{op.groups, true};
  Deconvolution adjusted = op;
  // Output padding is a smaller end padding.
  for (size_t d = 0; d < adjusted.pads_end.size() && d < op.output_padding.size(); ++d) {
    adjusted.pads_end[d] -= op.output_padding[d];
  }
  std::vector<OnednnRecipe> recipes;
  for (const FormatPair& pair : format_pairs(library, p, op.groups)) {
    PostOperations post;
    TRY(OnednnRecipe recipe, base_recipe(library, p, pair, shape, post));
    recipe.implementations = describe<dnnl::deconvolution_forward>(
        library, p, adjusted, recipe, post, dnnl::algorithm::deconvolution_direct, shape);
    recipes.push_back(std::move(recipe));
  }
  return recipes;
}

}  // namespace enginery
