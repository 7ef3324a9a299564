#include "engine/tactics/cpu/onednn/recipe.h"

namespace enginery {

dnnl::primitive_attr base_attributes() {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attributes;
}

std::vector<Format> default_formats(const Problem& problem, const Format& first) {
  std::vector<Format> formats;
  for (const TensorDesc& desc : problem.inputs) formats.push_back({desc.type.type, {}});
  if (!formats.empty()) formats[0] = first;
  return formats;
}

void multiply_in(DataType type, const OnednnLibrary& library, OnednnRecipe& recipe) {
  constexpr double kSpeedupOfAmx = 6, kSpeedupOfVectors = 2;  // over float32; for estimates
  if (type != DataType::bfloat16) return;
  recipe.compute = Precision::bf16;
  recipe.speedup = library.isa >= CpuIsa::amx ? kSpeedupOfAmx : kSpeedupOfVectors;
}

std::vector<Layout> dense_layouts(const OnednnLibrary& library, const Dims& dims) {
  std::vector<Layout> out;
  bool image = dims.size() >= 3 && dims.size() <= 5;
  if (image) out.push_back({LayoutKind::channels_last, 0});
  if (image && dims[1] % library.block() == 0)
    out.push_back({LayoutKind::blocked, library.block()});
  out.push_back({});
  return out;
}

std::function<Tensor(Weights)> weight_of(size_t input) {
  return [input](Weights weights) { return *weights[input]; };
}

}  // namespace enginery
