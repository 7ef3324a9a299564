// Family quantize: floats to 8-bit integers and back, by constant scales (quantize.cuh).
#include <algorithm>

#include "engine/tactics/cuda/kernel/families.h"
#include "engine/tactics/cuda/kernel/quantize/args.h"
#include "engine/tactics/cuda/kernel/text/epilogue_text.h"
#include "engine/tactics/shapes/quantized_rows.h"

namespace enginery {
namespace {

// The values are MODE in quantize.cuh.
enum class QuantizeMode { flat = 0, rows = 1, gather = 2, pixels = 3 };
constexpr int64_t kPixelsOfAThread = 4;  // of mode pixels

struct QuantizeVariant {
  QuantizeMode mode;
  int threads;                    // of a block
  int64_t block = kByteChannels;  // to what channels are padded; a picture's to 4
};

constexpr QuantizeVariant kQuantizeVariants[] = {{QuantizeMode::flat, 256},
                                                 {QuantizeMode::rows, 256},
                                                 {QuantizeMode::gather, 256},
                                                 {QuantizeMode::gather, 256, 4},
                                                 {QuantizeMode::pixels, 256, 4}};

std::string id_of(const QuantizeVariant& v) {
  switch (v.mode) {
    case QuantizeMode::flat:
      return id_by_threads("quantize/flat", v.threads, 256);
    case QuantizeMode::rows:
      return id_by_threads("quantize/rows", v.threads, 256);
    case QuantizeMode::gather:
      return id_by_threads(v.block == kByteChannels ? "quantize/gather" : "quantize/gather_n4",
                           v.threads, 256);
    case QuantizeMode::pixels:
      return id_by_threads("quantize/pixels_n4", v.threads, 256);
  }
  return {};
}

int64_t pixels_of(const Dims& dims) {
  return volume(dims) / (dims[0] * dims[1]);
}

Result<QuantizedRows> quantized_bytes(const Problem& problem) {
  TRY(const QuantizedRows rows, quantized_rows(problem));
  CHECK_OK(require_static(problem));
  if (!is_eight_bits(rows.integers))
    return refusal("quantisation of " + std::string(to_string(rows.integers)));
  return rows;
}

// Pixels have channels and one scale; planes in order are gathered for integers alone.
bool serves(const Problem& problem, const QuantizedRows& rows, const QuantizeVariant& v) {
  if (v.mode == QuantizeMode::flat) return true;
  const Dims& dims = input_dims(problem, 0);
  if (rows.size != 1 || dims.size() < 3) return false;
  if (v.block < kByteChannels && dims[1] > v.block) return false;
  if (v.mode == QuantizeMode::pixels && pixels_of(dims) % kPixelsOfAThread) return false;
  return v.mode == QuantizeMode::rows || rows.to_integers;
}

Tactic quantize_tactic(const Problem& problem, const QuantizedRows& rows,
                       const QuantizeVariant& variant, DataType floats) {
  Tactic tactic = make_kernel_tactic(problem, id_of(variant));
  Format& real = rows.to_integers ? tactic.inputs[0] : tactic.outputs[0];
  Format& whole = rows.to_integers ? tactic.outputs[0] : tactic.inputs[0];
  real.type = floats;
  tactic.compute = precision_of_storage(floats);
  if (variant.mode == QuantizeMode::flat) return tactic;
  const int64_t channels = input_dims(problem, 0)[1];
  whole = channels_last_format(rows.integers, channels, variant.block);
  if (variant.mode == QuantizeMode::rows) real = channels_last_format(floats, channels);
  return tactic;
}

// One element a thread waits longer than the bytes say.
double estimate_us(const Problem& problem, const Tactic& tactic, const QuantizeVariant& variant,
                   const KernelContext& context) {
  constexpr double kOneElement = 1.5;
  const double us = context.memory_us(
      static_cast<double>(physical_bytes(input_dims(problem, 0), tactic.inputs[0]) +
                          physical_bytes(output_dims(problem), tactic.outputs[0])));
  return variant.mode == QuantizeMode::flat ? kOneElement * us : us;
}

// Whether another variant does the same with fewer instructions: one pixel a thread is what engines
// have that were built before four were.
bool is_superseded(const Problem& problem, const QuantizedRows& rows, const QuantizeVariant& v) {
  return v.mode == QuantizeMode::gather && v.block < kByteChannels &&
         serves(problem, rows, {QuantizeMode::pixels, v.threads, v.block});
}

Status offer_quantize(const Problem& problem, const KernelContext& context,
                      std::vector<Tactic>& out) {
  TRY(const QuantizedRows rows, quantized_bytes(problem));
  for (const DataType floats : context.storage_types()) {
    for (const QuantizeVariant& variant : kQuantizeVariants) {
      if (!serves(problem, rows, variant) || is_superseded(problem, rows, variant)) continue;
      Tactic tactic = quantize_tactic(problem, rows, variant, floats);
      tactic.estimated_us = estimate_us(problem, tactic, variant, context);
      out.push_back(std::move(tactic));
    }
  }
  return {};
}

// Channels a thread.
int64_t width_of(const QuantizeVariant& v) {
  return std::min<int64_t>(v.block, 8);
}

gpu::QuantizeArgs quantize_args(const Problem& problem, const QuantizedRows& rows,
                                const Tactic& tactic, const QuantizeVariant& variant) {
  const Dims& dims = output_dims(problem);
  gpu::QuantizeArgs args{};
  args.size = static_cast<unsigned>(rows.size);
  args.inner = static_cast<unsigned>(rows.inner);
  args.total = static_cast<unsigned>(volume(dims));
  if (variant.mode == QuantizeMode::flat) return args;
  const int64_t pixels = pixels_of(dims);
  args.channels = to_int(dims[1]);
  args.x_pitch = to_int(padded_channels(dims, tactic.inputs[0].layout));
  args.y_pitch = to_int(padded_channels(dims, tactic.outputs[0].layout));
  const int width = to_int(width_of(variant));
  args.by_vectors = make_divisor(args.y_pitch / width);
  args.by_pixels = make_divisor(pixels);
  args.total = static_cast<unsigned>(dims[0] * pixels * (args.y_pitch / width));
  if (variant.mode != QuantizeMode::pixels) return args;
  args.by_pixels = make_divisor(pixels / kPixelsOfAThread);
  args.total = static_cast<unsigned>(dims[0] * pixels / kPixelsOfAThread);
  return args;
}

KernelProgram quantize_program(const QuantizedRows& rows, const Tactic& tactic,
                               const QuantizeVariant& variant) {
  KernelProgram program;
  define_types(program, tactic.inputs[0].type, tactic.outputs[0].type);
  program.define("TO_INTEGERS", rows.to_integers);
  program.define("MODE", static_cast<int>(variant.mode));
  program.define("WIDTH", width_of(variant));
  program.define("THREADS", variant.threads);
  program.files = {"text/bytes.cuh", "text/pixels.cuh", "quantize/args.h", "quantize/quantize.cuh"};
  return program;
}

Result<KernelPlan> plan_quantize(const Problem& problem, const Tactic& tactic,
                                 const KernelContext&) {
  TRY(const QuantizedRows rows, quantized_bytes(problem));
  const QuantizeVariant* variant = find_variant(kQuantizeVariants, tactic);
  if (!variant || !serves(problem, rows, *variant)) return no_variant(tactic);
  KernelPlan plan;
  plan.program = quantize_program(rows, tactic, *variant);
  const gpu::QuantizeArgs args = quantize_args(problem, rows, tactic, *variant);
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
