// Family convolution: dense convolutions.
#include "engine/tactics/cpu/kernel/convolution.h"

#include <algorithm>

#include "engine/tactics/cpu/kernel/pointwise_chain.h"

namespace enginery {
namespace {

// Takes the activations off the epilogue's end, unless they are a clip alone.
std::vector<PointwiseStep> take_activations(std::vector<EpilogueStep>& epilogue) {
  std::vector<PointwiseStep> out;
  const auto first = std::ranges::find(epilogue, EpilogueKind::activation, &EpilogueStep::kind);
  for (auto step = first; step != epilogue.end(); ++step) {
    if (step->kind != EpilogueKind::activation) return {};
    out.push_back(activation_step(step->activation));
  }
  const bool clips = out.size() == 1 && (out[0].function == PointwiseFunction::relu ||
                                         out[0].function == PointwiseFunction::clip);
  if (clips || out.size() > kMaxPointwiseSteps) return {};
  epilogue.erase(first, epilogue.end());
  return out;
}

}  // namespace

Result<ConvolutionEpilogue> read_convolution_epilogue(const Problem& p,
                                                      ActivationsAllowed allowed) {
  const bool own_bias = p.anchor_inputs > 2 && p.inputs[2].present;
  const Error refusal = no_cpu_kernel("a convolution with more than bias, residual and clip");
  Problem rest = p;
  ConvolutionEpilogue out;
  if (allowed == ActivationsAllowed::yes) out.activations = take_activations(rest.epilogue);
  for (size_t i = 0; i < rest.epilogue.size(); ++i) {
    if (rest.epilogue[i].kind != EpilogueKind::add) continue;
    const TensorDesc& desc = p.inputs[static_cast<size_t>(rest.epilogue[i].operand)];
    const bool whole =
        !desc.constant && desc.type.type == DataType::float32 && desc.type.dims == output_dims(p);
    // Only a clip may follow, and only a bias come before.
    if (!whole || (i > 0 && rest.epilogue[i - 1].kind != EpilogueKind::bias)) return refusal;
    out.residual = rest.epilogue[i].operand;
    rest.epilogue.erase(rest.epilogue.begin() + static_cast<int64_t>(i));
    break;
  }
  if (out.residual >= 0 && !out.activations.empty())
    return no_cpu_kernel("a convolution with residual and more than a clip");
  const auto bounds = read_bounds(rest, own_bias ? BiasAllowed::no : BiasAllowed::yes);
  if (!bounds) return refusal;
  out.bounds = *bounds;
  if (own_bias) out.bounds.bias = 2;
  const int bias = out.bounds.bias;
  if (bias >= 0 && !p.inputs[static_cast<size_t>(bias)].constant)
    return no_cpu_kernel("a convolution with a run-time bias");
  return out;
}

std::vector<Layout> side_layouts(const CpuKernelContext& context, int64_t channels) {
  std::vector<Layout> out{channels_last_layout()};
  const int32_t width = context.kernels.width, block = context.block();
  if (width == block && channels % block == 0) out.push_back({LayoutKind::blocked, block});
  return out;
}

void set_sides(const Layout& from, const Layout& to, const ConvolutionEpilogue& epilogue,
               Tactic& tactic) {
  tactic.inputs[0].layout = from;
  tactic.outputs[0].layout = to;
  if (epilogue.residual >= 0) tactic.inputs[static_cast<size_t>(epilogue.residual)].layout = to;
  tactic.in_place_operand = epilogue.residual;
  tactic.reads_pitched = from.kind == LayoutKind::channels_last;
  tactic.writes_pitched = epilogue.residual < 0 && to.kind == LayoutKind::channels_last;
}

Tensor pad_bias(const Tensor* bias, int64_t channels, int64_t width) {
  const int64_t panel = 2 * width;
  Tensor out(DataType::float32, {(channels + panel - 1) / panel * panel});
  auto to = out.mutable_data<float>();
  std::ranges::fill(to, 0.0f);
  if (bias) std::ranges::copy(bias->data<float>(), to.begin());
  return out;
}

namespace {

CpuKernelCandidates float_candidates(const CpuKernelContext& context, const Problem& p) {
  TRY(ConvolutionEpilogue epilogue, read_convolution_epilogue(p, ActivationsAllowed::yes));
  // Where Winograd's tiles serve they have less than half of the work.
  CpuKernelCandidates winograd = winograd_candidates(context, p, epilogue);
  return winograd.ok() ? winograd : conv_product_candidates(context, p, epilogue);
}

}  // namespace

CpuKernelCandidates offer_cpu_convolution(const CpuKernelContext& context, const Problem& p) {
  CpuKernelCandidates out = float_candidates(context, p);
  CpuKernelCandidates narrow = tile_conv_candidates(context, p);
  if (!narrow.ok()) return out;
  if (!out.ok()) return narrow;
  std::ranges::move(*narrow, std::back_inserter(*out));
  return out;
}

double product_us(const CpuKernelContext& context, double flops, double bytes) {
  const double gigaflops = context.threads * (context.kernels.width == 16   ? 125.0
                                              : context.isa >= CpuIsa::avx2 ? 72.0
                                                                            : 15.0);
  return 2 + std::max(flops / (gigaflops * 1e3), bytes / 20e3);
}

}  // namespace enginery
