// Family quantize: float32 to 8-bit integers and back, by constant scales (quantize.cuh).
#include "engine/tactics/cuda/kernel/families.h"
#include "engine/tactics/cuda/kernel/quantize/args.h"
#include "engine/tactics/cuda/kernel/text/epilogue_text.h"
#include "engine/tactics/shapes/quantized_rows.h"

namespace enginery {
namespace {

struct QuantizeVariant {
  int threads;  // of a block, an element each
};

constexpr QuantizeVariant kQuantizeVariants[] = {{256}};

std::string id_of(const QuantizeVariant& v) {
  return id_by_threads("quantize/flat", v.threads, 256);
}

Result<QuantizedRows> quantized_bytes(const Problem& problem) {
  TRY(const QuantizedRows rows, quantized_rows(problem));
  CHECK_OK(require_static(problem));
  if (rows.integers != DataType::int8 && rows.integers != DataType::uint8)
    return refusal("quantisation of " + std::string(to_string(rows.integers)));
  return rows;
}

Status offer_quantize(const Problem& problem, const KernelContext& context,
                      std::vector<Tactic>& out) {
  CHECK_OK(quantized_bytes(problem));
  for (const QuantizeVariant& variant : kQuantizeVariants) {
    Tactic tactic = make_kernel_tactic(problem, id_of(variant));
    tactic.estimated_us = context.memory_us(
        static_cast<double>(bytes_of(problem.inputs[0].type) + bytes_of(problem.outputs[0].type)));
    out.push_back(std::move(tactic));
  }
  return {};
}

Result<KernelPlan> plan_quantize(const Problem& problem, const Tactic& tactic,
                                 const KernelContext&) {
  TRY(const QuantizedRows rows, quantized_bytes(problem));
  const QuantizeVariant* variant = find_variant(kQuantizeVariants, tactic);
  if (!variant) return no_variant(tactic);
  const bool is_signed = rows.integers == DataType::int8;
  KernelPlan plan;
  plan.program.define("TX", element_type_text(problem.inputs[0].type.type));
  plan.program.define("TY", element_type_text(problem.outputs[0].type.type));
  plan.program.define("TO_INTEGERS", rows.to_integers);
  plan.program.define("LOW", is_signed ? "-128.0f" : "0.0f");
  plan.program.define("HIGH", is_signed ? "127.0f" : "255.0f");
  plan.program.define("THREADS", variant->threads);
  plan.program.files = {"quantize/args.h", "quantize/quantize.cuh"};
  gpu::QuantizeArgs args{};
  args.total = static_cast<unsigned>(volume(output_dims(problem)));
  args.size = static_cast<unsigned>(rows.size);
  args.inner = static_cast<unsigned>(rows.inner);
  KernelLaunch launch = launch_of(args, args.total, static_cast<unsigned>(variant->threads));
  const auto constant = [&](std::vector<float> QuantizedFactors::*member) {
    return plan.add_constant([problem, rows, member](Weights weights) {
      const std::vector<float> values = quantized_factors(problem, rows, weights).*member;
      return Bytes(as_text(std::as_bytes(std::span(values))));
    });
  };
  launch.slots = {{offsetof(gpu::QuantizeArgs, x), PointerSource::input, 0},
                  {offsetof(gpu::QuantizeArgs, y), PointerSource::output, 0},
                  {offsetof(gpu::QuantizeArgs, scale), PointerSource::constant,
                   constant(&QuantizedFactors::scale)},
                  {offsetof(gpu::QuantizeArgs, zero), PointerSource::constant,
                   constant(&QuantizedFactors::zero)}};
  plan.launches.push_back(std::move(launch));
  return plan;
}

}  // namespace

const KernelFamily kQuantizeFamily{"quantize", offer_quantize, plan_quantize};

}  // namespace enginery
