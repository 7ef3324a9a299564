// Family averaged_product: a fully connected layer or a 1x1 convolution of a picture's averages, as
// one launch.
#include "engine/tactics/shapes/averaged_product.h"

#include "engine/kernels/cpu/isa/products/averaged_product.h"
#include "engine/tactics/cpu/kernel/cpu_kernel_family.h"
#include "engine/tactics/shapes/fully_connected.h"

namespace enginery {
namespace {

// Where the product's constants are among the region's inputs.
struct LayerConstants {
  FullyConnected layer;
  std::vector<int> from;

  std::vector<const Tensor*> of(Weights weights) const {
    std::vector<const Tensor*> out;
    for (const int input : from)
      out.push_back(input < 0 ? nullptr : weights[static_cast<size_t>(input)]);
    return out;
  }
};

CpuKernelRun prepared(const CpuKernelContext& context, const AveragedProductArguments& a,
                      const LayerConstants& constants, Weights weights) {
  const std::vector<const Tensor*> own = constants.of(weights);
  const FullyConnected& layer = constants.layer;
  const Tensor w = weights_by_output(layer, own);
  const Tensor bias = layer.addend >= 0 ? addend_of(layer, own) : Tensor();
  return [kernel = context.kernels.averaged_product, a, w, bias](const Arguments& arguments) {
    AveragedProductArguments call = a;
    call.in = static_cast<const float*>(arguments.inputs[0]);
    call.averages = static_cast<float*>(arguments.workspace);
    call.product.y = static_cast<float*>(arguments.outputs[0]);
    call.product.w = w.data<float>().data();
    call.product.bias = bias.size() > 0 ? bias.data<float>().data() : nullptr;
    kernel(call);
  };
}

void set_layout(const CpuKernelContext& context, const Layout& layout,
                AveragedProductArguments& a) {
  const int64_t width = context.kernels.width,
                apart = context.in_pitch > 0 ? context.in_pitch : a.product.k;
  const bool blocked = layout.kind == LayoutKind::blocked;
  a.planes = layout.kind == LayoutKind::linear;
  a.in_pixel = blocked ? width : apart;
  a.in_vector = blocked ? width * a.pixels : width;
  a.in_image = (a.planes || blocked ? a.product.k : apart) * a.pixels;
}

}  // namespace

CpuKernelCandidates offer_cpu_averaged_product(const CpuKernelContext& context, const Problem& p) {
  TRY(const AveragedProduct region, averaged_product(p));
  const auto layer = read_fully_connected(region.product);
  const auto bounds = read_bounds(region.product, BiasAllowed::no);
  if (!layer || layer->m > kMaxGemvRows || !bounds || p.inputs[0].type.type != DataType::float32)
    return no_cpu_kernel("averages with another product");
  AveragedProductArguments a{};
  a.product.m = layer->m;
  a.product.n = layer->n;
  a.product.k = layer->k;
  a.product.low = bounds->low;
  a.product.high = bounds->high;
  a.pixels = volume(input_dims(p, 0)) / (layer->m * layer->k);
  std::vector<CpuKernelCandidate> out;
  for (const Layout& layout : dense_layouts(context, input_dims(p, 0))) {
    if (layout.kind == LayoutKind::blocked && layout.block != context.kernels.width) continue;
    set_layout(context, layout, a);
    Tactic tactic = cpu_kernel_tactic(p, "averaged_product");
    tactic.inputs[0].layout = layout;
    tactic.reads_pitched = layout.kind == LayoutKind::channels_last;
    tactic.workspace_bytes = layer->m * layer->k * static_cast<int64_t>(sizeof(float));
    tactic.estimated_us = movement_and_arithmetic_us(context, p, 2000);
    out.push_back({std::move(tactic),
                   [context, a, constants = LayerConstants{*layer, region.from}](Weights weights) {
                     return prepared(context, a, constants, weights);
                   }});
  }
  return out;
}

}  // namespace enginery
