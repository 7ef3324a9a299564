// Family conv_pool: the convolution of a picture joined with the max pooling behind it
// (conv_pool.cuh), of floats and of quantised numbers.
#include <cmath>

#include "engine/tactics/cuda/kernel/conv_pool/pool_case.h"
#include "engine/tactics/cuda/kernel/families.h"
#include "engine/tactics/cuda/kernel/quantized_launch.h"

namespace enginery {
namespace {

// The plane of pooled outputs, with its sizes.
Result<PooledPlane> plane_of(const Problem& problem, const PooledConv& region, ConvShape& shape,
                             DataType type) {
  TRY(PooledPlane plane, pooled_plane(region, shape, type));
  const Dims& y = output_dims(problem);
  plane.p = y[2], plane.q = y[3];
  // A window that has nothing of its input would need a value of its own.
  const bool empty =
      2 * (plane.p - 1) - plane.pad >= shape.p || 2 * (plane.q - 1) - plane.pad >= shape.q;
  if (empty) return refusal("windows without elements");
  return plane;
}

Status offer_floats(const Problem& problem, const PooledConv& region, const KernelContext& context,
                    std::vector<Tactic>& out) {
  TRY(ConvShape shape, conv_shape(region.conv));
  for (const DataType type : context.storage_types()) {
    if (type == DataType::float32) continue;
    TRY(const PooledPlane plane, plane_of(problem, region, shape, type));
    TRY(const LoweredEpilogue epilogue, lower_conv_epilogue(region.conv, shape, type));
    for (const bool from_floats : {false, true}) {
      for (const PoolCase& c : pool_cases(shape, plane, type, from_floats, context)) {
        Tactic tactic = make_conv_tactic(problem, c.shape, epilogue, id_of(c));
        if (from_floats) tactic.inputs[0] = {DataType::float32, {}};
        tactic.estimated_us = estimate_us(c, context);
        out.push_back(std::move(tactic));
      }
    }
  }
  return {};
}

// Errors: unsupported (what is added between the product and the pooling).
Result<QuantizedConv> quantized_picture(const PooledConv& region) {
  TRY(const QuantizedConv conv, quantized_conv(region.conv));
  const QuantizedProduct& q = conv.product;
  if (q.addend >= 0 || !is_eight_bits(q.result) || (q.activation && !never_falls(*q.activation)))
    return refusal("a pooling of something else than a quantised convolution");
  return conv;
}

Status offer_bytes(const Problem& problem, const PooledConv& region, const KernelContext& context,
                   std::vector<Tactic>& out) {
  TRY(QuantizedConv conv, quantized_picture(region));
  const DataType source = conv.product.source;
  const bool from_floats = region.quantize.has_value();
  TRY(const PooledPlane plane, plane_of(problem, region, conv.shape, source));
  for (const Tactic& formats : quantized_tactics(problem, conv, context)) {
    for (const PoolCase& c : pool_cases(conv.shape, plane, source, from_floats, context)) {
      Tactic tactic = formats;
      if (from_floats) tactic.inputs[0] = {DataType::float32, {}};
      tactic.id = id_of(c);
      tactic.estimated_us = estimate_us(c, context);
      out.push_back(std::move(tactic));
    }
  }
  return {};
}

// Errors: unsupported (no variant has registers and shared memory for it).
Status some_tactics(const std::vector<Tactic>& out, size_t before) {
  if (out.size() > before) return {};
  return refusal("weights that no warp can hold");
}

Status offer_conv_pool(const Problem& problem, const KernelContext& context,
                       std::vector<Tactic>& out) {
  TRY(const PooledConv region, pooled_conv(problem));
  if (context.info.compute_capability < 80) return refusal("no asynchronous copies below 8.0");
  const size_t before = out.size();
  CHECK_OK(is_region(region.conv) ? offer_bytes(problem, region, context, out)
                                  : offer_floats(problem, region, context, out));
  return some_tactics(out, before);
}

Result<PoolCase> find_case(const std::vector<PoolCase>& cases, const Tactic& tactic) {
  for (const PoolCase& c : cases) {
    if (id_of(c) == tactic.id) return c;
  }
  return no_variant(tactic);
}

Result<KernelPlan> plan_floats(const Problem& problem, const PooledConv& region,
                               const Tactic& tactic, const KernelContext& context) {
  const DataType type = tactic.outputs[0].type;
  const bool from_floats = tactic.inputs[0].type == DataType::float32;
  TRY(ConvShape shape, conv_shape(region.conv));
  TRY(const PooledPlane plane, plane_of(problem, region, shape, type));
  TRY(const PoolCase c, find_case(pool_cases(shape, plane, type, from_floats, context), tactic));
  TRY(const LoweredEpilogue epilogue, lower_conv_epilogue(region.conv, c.shape, type));
  KernelPlan plan;
  plan.program = pool_program(c, type, epilogue.code);
  KernelLaunch launch =
      pool_launch(c, pack_filter(c.shape, type, packed_k(c), c.variant.channels(), false), plan);
  attach_epilogue(epilogue, offsetof(gpu::ConvPoolArgs, epilogue), plan, launch);
  plan.launches.push_back(std::move(launch));
  return plan;
}

// The largest of a window's results is that of its largest sum where the factor of the sums is
// positive. A channel with a negative one has its weights and the factor negated; -128, whose
// opposite is no int8, becomes 127. `rows`: of the packed weights.
void make_factors_positive(int64_t rows, KernelPlan& plan) {
  constexpr size_t kWeights = 0, kFactors = 1;  // constants, in the order of the plan
  const PackConstant factors = plan.constants[kFactors], filter = plan.constants[kWeights];
  const auto values_of = [factors](Weights weights) {
    const Bytes bytes = factors(weights);
    std::vector<float> out(bytes.size() / sizeof(float));
    std::memcpy(out.data(), bytes.data(), bytes.size());
    return out;
  };
  plan.constants[kFactors] = [values_of](Weights weights) {
    std::vector<float> out = values_of(weights);
    for (float& factor : out) factor = std::abs(factor);
    return bytes_of_values(out);
  };
  plan.constants[kWeights] = [values_of, filter, rows](Weights weights) {
    Bytes out = filter(weights);
    const std::vector<float> values = values_of(weights);
    const size_t pitch = out.size() / static_cast<size_t>(rows);
    for (size_t i = 0; i < out.size(); ++i) {
      const size_t channel = i / pitch;
      if (channel >= values.size() || values[channel] >= 0) continue;
      out[i] = static_cast<char>(std::min(127, -static_cast<int>(static_cast<int8_t>(out[i]))));
    }
    return out;
  };
}

// The scale of the picture. Constants so far are packed from what the region behind it has.
void quantize_picture(const PooledConv& region, KernelPlan& plan, KernelLaunch& launch) {
  for (PackConstant& constant : plan.constants) {
    constant = [from = region.from, pack = std::move(constant)](Weights weights) {
      if (weights.empty()) return pack(weights);
      std::vector<const Tensor*> own;
      for (const int i : from) own.push_back(i < 0 ? nullptr : weights[static_cast<size_t>(i)]);
      return pack(own);
    };
  }
  const auto scale = [](Weights weights) {
    const float value = weights.empty() ? 1.0f : weights[1]->data<float>()[0];
    return bytes_of_values(std::vector<float>{value});
  };
  launch.slots.push_back(
      {offsetof(gpu::ConvPoolArgs, scale), PointerSource::constant, plan.add_constant(scale)});
}

Result<KernelPlan> plan_bytes(const Problem& problem, const PooledConv& region,
                              const Tactic& tactic, const KernelContext& context) {
  TRY(QuantizedConv conv, quantized_picture(region));
  const DataType source = conv.product.source;
  TRY(const PooledPlane plane, plane_of(problem, region, conv.shape, source));
  const bool from_floats = region.quantize.has_value();
  TRY(const PoolCase c,
      find_case(pool_cases(conv.shape, plane, source, from_floats, context), tactic));
  KernelPlan plan;
  plan.program = pool_program(c, tactic.outputs[0].type, quantized_epilogue(conv, tactic));
  PackConstant weights = pack_region_weights(
      conv.product.weights,
      pack_filter(c.shape, DataType::int8, packed_k(c), c.variant.channels(), false));
  KernelLaunch launch = pool_launch(c, std::move(weights), plan);
  attach_quantized(conv, offsetof(gpu::ConvPoolArgs, epilogue), plan, launch);
  make_factors_positive(round_up(c.shape.k, c.variant.channels()), plan);
  if (region.quantize) quantize_picture(region, plan, launch);
  plan.launches.push_back(std::move(launch));
  return plan;
}

Result<KernelPlan> plan_conv_pool(const Problem& problem, const Tactic& tactic,
                                  const KernelContext& context) {
  TRY(const PooledConv region, pooled_conv(problem));
  if (is_region(region.conv)) return plan_bytes(problem, region, tactic, context);
  return plan_floats(problem, region, tactic, context);
}

}  // namespace

const KernelFamily kConvPoolFamily{"conv_pool", offer_conv_pool, plan_conv_pool, false, true};

}  // namespace enginery
