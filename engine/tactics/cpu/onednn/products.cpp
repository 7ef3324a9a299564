// Matrix products: fully connected layers as inner products, the others as matmul.
#include <algorithm>
#include <iterator>
#include <optional>

#include "engine/tactics/cpu/onednn/epilogue.h"
#include "engine/tactics/shapes/fully_connected.h"

namespace enginery {
namespace {

Status check_types(const Problem& p) {
  for (size_t i = 0; i < static_cast<size_t>(p.anchor_inputs); ++i) {
    if (p.inputs[i].present && p.inputs[i].type.type != DataType::float32) {
      return no_primitive("a matrix product in " + to_string(p.inputs[i].type));
    }
  }
  return {};
}

// How an inner product's operands lie.
struct InnerProductForm {
  bool packed = true;  // weights in the implementation's order
  DataType source = DataType::float32, destination = DataType::float32;
};

Result<OnednnRecipe> inner_product_recipe(const OnednnLibrary& library, const Problem& p,
                                          FullyConnected fc, const InnerProductForm& form) {
  OnednnRecipe recipe;
  recipe.prefix = form.packed ? "packed:" : "plain:";
  multiply_in(form.source, library, recipe);
  const Format format{form.destination, {}}, stored_format;
  recipe.inputs = default_formats(p, {form.source, {}});
  recipe.outputs = {format};
  TRY(PostOperations post,
      add_epilogue(p, format, fc.addend >= 0 ? OwnBias::taken : OwnBias::free, recipe));
  if (post.bias >= 0) {
    fc.addend = post.bias;
    fc.addend_factor = 1;
  }
  MemoryDesc source = memory_desc({fc.m, fc.k}, recipe.inputs[0]),
             destination = memory_desc({fc.m, fc.n}, format);
  MemoryDesc plain = memory_desc({fc.n, fc.k}, stored_format);
  MemoryDesc stored = fc.weights_are_nk ? plain
                                        : MemoryDesc({fc.n, fc.k}, dnnl_type(stored_format.type),
                                                     dnnl::memory::dims{1, fc.n});
  MemoryDesc bias = fc.addend >= 0 ? memory_desc({fc.n}, stored_format) : MemoryDesc();
  recipe.arguments.push_back({DNNL_ARG_SRC, false, 0, source});
  recipe.arguments.push_back({DNNL_ARG_DST, true, 0, destination});
  recipe.constants.push_back({DNNL_ARG_WEIGHTS, stored,
                              [fc](Weights w) { return weights_of(fc, w); },
                              dnnl::query::weights_md, 0});
  if (fc.addend >= 0) {
    recipe.constants.push_back({DNNL_ARG_BIAS, bias, [fc](Weights w) { return addend_of(fc, w); },
                                dnnl::query::weights_md, 1});
  }
  MemoryDesc packing = form.packed ? any_layout_desc({fc.n, fc.k}, form.source) : plain;
  recipe.implementations = [=, &library, attributes = post.attributes](std::string_view wanted) {
    dnnl::inner_product_forward::desc operation(dnnl::prop_kind::forward_inference, source, packing,
                                                bias, destination);
    return list_implementations(library, operation, attributes, wanted);
  };
  return recipe;
}

// Those in bfloat16, which need weights in the implementation's order; none where the CPU has no
// instructions for it.
void add_bfloat16_forms(const OnednnLibrary& library, std::vector<InnerProductForm>& forms) {
  if (!library.multiplies_bfloat16()) return;
  forms.push_back({.source = DataType::bfloat16, .destination = DataType::bfloat16});
  forms.push_back({.source = DataType::bfloat16});
}

OnednnRecipes fully_connected_recipes(const OnednnLibrary& library, const Problem& p,
                                      const FullyConnected& fc) {
  std::vector<OnednnRecipe> recipes;
  std::vector<InnerProductForm> forms = {{.packed = true}, {.packed = false}};
  add_bfloat16_forms(library, forms);
  for (const InnerProductForm& form : forms) {
    TRY(OnednnRecipe recipe, inner_product_recipe(library, p, fc, form));
    recipes.push_back(std::move(recipe));
  }
  // With few rows the weights are read once: the plain order streams best.
  constexpr int64_t kFewRows = 4;
  if (fc.m <= kFewRows) std::swap(recipes[0], recipes[1]);
  return recipes;
}

// Dims and strides of one operand of a batched product, aligned to `rank` and perhaps with its last
// two swapped.
MemoryDesc operand_descriptor(const Dims& own, size_t rank, bool transposed) {
  Dims dims = aligned(own, rank), strides = strides_of(dims);
  if (transposed) {
    std::swap(dims[rank - 1], dims[rank - 2]);
    std::swap(strides[rank - 1], strides[rank - 2]);
  }
  return MemoryDesc(dims, dnnl::memory::data_type::f32, strides);
}

struct MatmulForm {
  bool transpose_a = false, transpose_b = false;
};

// a times b, of which one may be constant.
Result<OnednnRecipe> matmul_recipe(const OnednnLibrary& library, const Problem& p,
                                   const MatmulForm& product) {
  size_t rank = output_dims(p).size();
  const Dims &a = input_dims(p, 0), &b = input_dims(p, 1);
  if (a.size() < 2 || b.size() < 2 || rank < 2 || rank > 6)
    return no_primitive("a matrix product with a vector");
  OnednnRecipe recipe;
  recipe.prefix = "matmul:";
  Format format;
  recipe.inputs = default_formats(p, format);
  recipe.outputs = {format};
  TRY(PostOperations post, add_epilogue(p, format, OwnBias::free, recipe));
  MemoryDesc source = operand_descriptor(a, rank, product.transpose_a);
  MemoryDesc stored = operand_descriptor(b, rank, product.transpose_b);
  MemoryDesc destination = memory_desc(output_dims(p), format);
  if (p.inputs[0].constant)
    recipe.constants.push_back({DNNL_ARG_SRC, source, weight_of(0), dnnl::query::undef, 0});
  else
    recipe.arguments.push_back({DNNL_ARG_SRC, false, 0, source});
  recipe.arguments.push_back({DNNL_ARG_DST, true, 0, destination});
  MemoryDesc weights = stored, bias;
  if (p.inputs[1].constant) {
    recipe.constants.push_back(
        {DNNL_ARG_WEIGHTS, stored, weight_of(1), dnnl::query::weights_md, 0});
    weights = MemoryDesc(stored.dims(), stored.data_type(), dnnl::memory::format_tag::any);
  } else {
    recipe.arguments.push_back({DNNL_ARG_WEIGHTS, false, 1, stored});
  }
  if (post.bias >= 0) {
    Dims bias_dims(rank, 1);
    bias_dims.back() = output_dims(p).back();
    bias = memory_desc(bias_dims, format);
    recipe.constants.push_back(
        {DNNL_ARG_BIAS, bias, weight_of(static_cast<size_t>(post.bias)), dnnl::query::undef, 0});
  }
  recipe.implementations = [=, &library, attributes = post.attributes](std::string_view wanted) {
    dnnl::matmul::desc operation(source, weights, bias, destination);
    return list_implementations(library, operation, attributes, wanted);
  };
  return recipe;
}

OnednnRecipes single(Result<OnednnRecipe> recipe) {
  if (!recipe.ok()) return recipe.error();
  return std::vector{std::move(*recipe)};
}

// As inner products with packed weights. Those that the library lacks are left out: a product of
// matrices is offered besides.
std::vector<OnednnRecipe> recipes_of_all_rows(const OnednnLibrary& library, const Problem& p) {
  std::vector<OnednnRecipe> out;
  const std::optional<Problem> rows = of_all_rows(p);
  const auto fc = rows ? read_fully_connected(*rows) : std::nullopt;
  if (!fc) return out;
  std::vector<InnerProductForm> forms = {{}};
  add_bfloat16_forms(library, forms);
  for (const InnerProductForm& form : forms) {
    auto recipe = inner_product_recipe(library, *rows, *fc, form);
    if (recipe.ok()) out.push_back(std::move(*recipe));
  }
  return out;
}

}  // namespace

OnednnRecipes gemm_recipes(const OnednnLibrary& library, const Problem& p) {
  CHECK_OK(check_types(p));
  const auto& op = std::get<Gemm>(p.op);
  if (auto fc = read_fully_connected(p)) return fully_connected_recipes(library, p, *fc);
  bool has_c = p.anchor_inputs > 2 && p.inputs[2].present;
  if (has_c || op.alpha != 1)
    return no_primitive("a gemm with run-time weights and an addend or a factor");
  return single(matmul_recipe(library, p, {op.transpose_a, op.transpose_b}));
}

OnednnRecipes matmul_recipes(const OnednnLibrary& library, const Problem& p) {
  CHECK_OK(check_types(p));
  if (auto fc = read_fully_connected(p)) return fully_connected_recipes(library, p, *fc);
  TRY(std::vector<OnednnRecipe> out, single(matmul_recipe(library, p, {})));
  std::ranges::move(recipes_of_all_rows(library, p), std::back_inserter(out));
  return out;
}

}  // namespace enginery
