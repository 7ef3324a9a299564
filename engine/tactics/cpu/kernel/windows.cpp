// Pooling, depthwise convolution and LRN, channels last.
#include "engine/tactics/cpu/kernel/candidate.h"

namespace enginery::cpu_kernel {
namespace {

Layout channels_last() {
  return {LayoutKind::channels_last, 0};
}

Status require_plane(const Problem& p, const char* what) {
  size_t rank = input_dims(p, 0).size();
  if (rank != 3 && rank != 4)
    return unsupported(std::string(what) + " of rank " + std::to_string(rank));
  if (p.inputs[0].type.type != DataType::float32)
    return unsupported(std::string(what) + " of " + to_string(p.inputs[0].type));
  return {};
}

Tactic last_tactic(const Problem& p, const char* id) {
  Tactic tactic = base_tactic(p, id);
  tactic.inputs[0].layout = tactic.outputs[0].layout = channels_last();
  return tactic;
}

}  // namespace

Candidates pooling_candidates(const Context& context, const Problem& p) {
  CHECK_OK(require_plane(p, "pooling"));
  auto bounds = read_bounds(p, BiasAllowed::no);
  if (!bounds) return unsupported("pooling with more than a clip after it");
  const auto& op = std::get<Pooling>(p.op);
  Plane in = plane_of_dims(input_dims(p, 0)), out = plane_of_dims(output_dims(p));
  Plane kernel = plane_of(op.kernel, 1), stride = plane_of(op.strides, 1),
        dilation = plane_of(op.dilations, 1);
  Plane pad = plane_of(op.pads_begin, 0), pad_end = plane_of(op.pads_end, 0);
  cpu_kernels::PoolArguments a{};
  a.n = input_dims(p, 0)[0], a.channels = input_dims(p, 0)[1];
  a.in_h = in.h, a.in_w = in.w, a.out_h = out.h, a.out_w = out.w;
  a.kernel_h = kernel.h, a.kernel_w = kernel.w, a.stride_h = stride.h, a.stride_w = stride.w;
  a.dilation_h = dilation.h, a.dilation_w = dilation.w, a.pad_h = pad.h, a.pad_w = pad.w;
  a.pad_end_h = pad_end.h, a.pad_end_w = pad_end.w;
  a.average = op.kind == PoolKind::average, a.count_padding = op.count_padding;
  a.low = bounds->low, a.high = bounds->high;
  Tactic tactic = last_tactic(p, "pool");
  tactic.estimated_us =
      movement_us(context, p) + flop_count(p) / (4000.0 * context.threads * context.kernels.width);
  return std::vector<Candidate>{
      {std::move(tactic), [kernels = &context.kernels, a](Weights) -> Run {
         return [=](const Arguments& arguments) {
           auto call = a;
           call.in = static_cast<const float*>(arguments.inputs[0]);
           call.out = static_cast<float*>(arguments.outputs[0]);
           kernels->pool(call);
         };
       }}};
}

Candidates depthwise_candidates(const Context& context, const Problem& p) {
  CHECK_OK(require_plane(p, "a convolution"));
  const auto& op = std::get<Convolution>(p.op);
  int64_t channels = input_dims(p, 0)[1];
  if (op.groups != channels || output_dims(p)[1] != channels)
    return unsupported("a convolution that is not depthwise");
  if (channels < context.kernels.width) return unsupported("depthwise convolution of few channels");
  bool own_bias = p.anchor_inputs > 2 && p.inputs[2].present;
  auto bounds = read_bounds(p, own_bias ? BiasAllowed::no : BiasAllowed::yes);
  if (!bounds || !p.inputs[1].constant)
    return unsupported("depthwise convolution with more than bias and clip");
  int bias = own_bias ? 2 : bounds->bias;
  if (bias >= 0 && !p.inputs[static_cast<size_t>(bias)].constant)
    return unsupported("depthwise convolution with a run-time bias");
  Plane in = plane_of_dims(input_dims(p, 0)), out = plane_of_dims(output_dims(p));
  Plane kernel = plane_of_dims(input_dims(p, 1)), stride = plane_of(op.strides, 1),
        dilation = plane_of(op.dilations, 1);
  Plane pad = plane_of(op.pads_begin, 0);
  cpu_kernels::DepthwiseArguments a{};
  a.n = input_dims(p, 0)[0], a.channels = channels;
  a.in_h = in.h, a.in_w = in.w, a.out_h = out.h, a.out_w = out.w;
  a.kernel_h = kernel.h, a.kernel_w = kernel.w, a.stride_h = stride.h, a.stride_w = stride.w;
  a.dilation_h = dilation.h, a.dilation_w = dilation.w, a.pad_h = pad.h, a.pad_w = pad.w;
  a.low = bounds->low, a.high = bounds->high;
  Tactic tactic = last_tactic(p, "depthwise");
  tactic.estimated_us =
      movement_us(context, p) + flop_count(p) / (4000.0 * context.threads * context.kernels.width);
  auto build = [kernels = &context.kernels, a, bias,
                taps = kernel.h * kernel.w](Weights weights) -> Run {
    Tensor packed(DataType::float32, {taps, a.channels});
    auto from = weights[1]->data<float>();
    auto to = packed.mutable_data<float>();
    for (int64_t c = 0; c < a.channels; ++c) {
      for (int64_t t = 0; t < taps; ++t)
        to[static_cast<size_t>(t * a.channels + c)] = from[static_cast<size_t>(c * taps + t)];
    }
    Tensor bias_values = bias >= 0 ? *weights[static_cast<size_t>(bias)] : Tensor();
    return [=](const Arguments& arguments) {
      auto call = a;
      call.in = static_cast<const float*>(arguments.inputs[0]);
      call.out = static_cast<float*>(arguments.outputs[0]);
      call.weights = packed.data<float>().data();
      call.bias = bias >= 0 ? bias_values.data<float>().data() : nullptr;
      kernels->depthwise(call);
    };
  };
  return std::vector<Candidate>{{std::move(tactic), build}};
}

Candidates lrn_candidates(const Context& context, const Problem& p) {
  constexpr int64_t kMaxSize = 31;  // what the kernel's buffer on the stack holds
  const auto& op = std::get<Lrn>(p.op);
  if (input_dims(p, 0).size() < 3 || !p.epilogue.empty())
    return unsupported("lrn of this rank or with an epilogue");
  if (p.inputs[0].type.type != DataType::float32 || op.size > kMaxSize)
    return unsupported("lrn of this type or size");
  const Dims& dims = input_dims(p, 0);
  cpu_kernels::LrnArguments a{nullptr, nullptr, volume(dims) / dims[1], dims[1], op.size, op.alpha,
                              op.beta, op.bias};
  Tactic tactic = last_tactic(p, "lrn");
  tactic.estimated_us = 4 * movement_us(context, p);
  return std::vector<Candidate>{
      {std::move(tactic), [kernels = &context.kernels, a](Weights) -> Run {
         return [=](const Arguments& arguments) {
           auto call = a;
           call.in = static_cast<const float*>(arguments.inputs[0]);
           call.out = static_cast<float*>(arguments.outputs[0]);
           kernels->lrn(call);
         };
       }}};
}

}  // namespace enginery::cpu_kernel
