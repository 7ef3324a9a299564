// What a case costs, from what its blocks issue, multiply and move. The constants are the best fit
// to ResNet-50's layers in int8 at batch 256 on an H100, of mma.sync and wgmma: 14 % off 96
// measured pairs of layer and variant (h100-int8-layers.csv of tests/bench/results).
#include <algorithm>
#include <cmath>

#include "engine/tactics/cuda/kernel/conv_mma/mma_case.h"

namespace enginery {
namespace {

// Operations a second. Of 8 bits twice those of 16, on all SMs that have them.
double peak_of(DataType type, const DeviceInfo& info) {
  if (is_eight_bits(type)) return 2 * info.float16_flops;
  return type == DataType::float32 ? info.tf32_flops : info.float16_flops;
}

// Instructions that the warps of a block issue: a step, and once.
struct Issued {
  double step, once;
};

Issued issued(const MmaCase& c) {
  const MmaVariant& v = c.variant;
  constexpr double kCopy = 14, kWarpStep = 60, kWarp = 50, kResult = 9.7;
  const double warps = threads_of(v) / 32.0, fragments = v.row_bytes / 32.0;
  const double products = v.wgmma
                              ? warps * fragments
                              : fragments * (v.bm * v.bn / 128.0 + warps * (v.wm + v.wn) / 16.0);
  const double results = c.first && is_eight_bits(c.type) ? 2 : 1;  // both products' are scaled
  const double once = v.bm * v.bn / 32.0 * kResult * results + warps * kWarp;
  // A patch is copied once for all of its rows, in pieces of two columns.
  if (v.patch_rows) {
    const double pieces =
        static_cast<double>(c.patch_bytes()) / static_cast<double>(c.pair_bytes());
    return {products, once + pieces / 32.0 / v.patch_rows * kCopy};
  }
  // 16 bytes of a picture may come in several pieces, those of weights never.
  const double pieces = static_cast<double>(c.columns()) / static_cast<double>(c.columns_at_once());
  const double copies = (v.bm * pieces + v.bn) * v.row_bytes / 16.0 / 32.0;
  return {copies * kCopy + products + warps * kWarpStep, once};
}

// Blocks of an SM at a time.
int64_t blocks_at_once(const MmaCase& c, const KernelContext& context) {
  const int threads = threads_of(c.variant);
  const double registers = std::min(255.0, 30 + 1.25 * c.variant.bm * c.variant.bn / threads);
  constexpr double kRegistersOfSm = 65536;
  return std::max<int64_t>(
      1, std::min({int64_t{context.limits.shared_kib_per_sm} * 1024 / (c.shared_bytes() + 1024),
                   int64_t{context.limits.threads_per_sm / threads},
                   static_cast<int64_t>(kRegistersOfSm / (registers * threads))}));
}

// Microseconds that one block takes an SM for, while `at_once` hide one another's waits.
double tile_us(const MmaCase& c, const KernelContext& context, double steps, int64_t at_once) {
  const MmaVariant& v = c.variant;
  const DeviceInfo& info = context.info;
  const double clock = info.float16_flops / (static_cast<double>(info.compute_units) *
                                             context.limits.float16_flops_per_clock);
  // Of the four instructions a clock that an SM could issue at its highest clock.
  constexpr double kIssued = 2.4, kEnoughWarps = 16;
  const double warps = static_cast<double>(at_once * threads_of(v)) / 32;
  const double rate = kIssued * std::pow(std::min(1.0, warps / kEnoughWarps), 0.2);
  const Issued n = issued(c);
  const double issue = (steps * n.step + n.once) / (rate * clock);
  // mma.sync does not reach the rate that Hopper has for wgmma.
  const double share = v.wgmma || info.compute_capability < 90 ? 0.8 : 0.7;
  const double multiply = 2.0 * v.bm * v.bn * static_cast<double>(c.bk()) * steps *
                          info.compute_units / (peak_of(c.type, info) * share);
  constexpr double kBeside = 0.37;  // of the lesser one, which does not hide wholly
  return 1e6 * (std::max(issue, multiply) + kBeside * std::min(issue, multiply));
}

// Bytes that move at least once; what the first of two products gives does not.
double moved_bytes(const MmaCase& c) {
  const double second = conv_bytes(c.shape, c.type);
  if (!c.first) return second;
  const auto result = static_cast<double>(c.first->m() * c.first->k_pitch());
  return second + conv_bytes(*c.first, c.type) -
         result * static_cast<double>(element_bytes(c.type));
}

}  // namespace

double estimate_us(const MmaCase& c, const KernelContext& context) {
  const auto steps = static_cast<double>(divide_up(c.steps(), c.parts()));
  const int64_t blocks = c.tiles_m() * c.tiles_k() * c.parts();
  const int rows = std::max(c.variant.patch_rows, 1);  // each as a tile of its own
  const int64_t at_once = blocks_at_once(c, context);
  const auto each = static_cast<double>(divide_up(blocks, context.info.compute_units));
  const double rounds = std::ceil(each / static_cast<double>(at_once));
  constexpr double kStepUs = 0.15, kStartUs = 2.5;
  const double compute =
      std::max(each * rows * tile_us(c, context, steps, at_once), rounds * steps * kStepUs);
  // Partial sums are written and read once, and the second launch costs one.
  const double sums = 2.0 * static_cast<double>(c.workspace_bytes());
  // Memory hides behind arithmetic as far as there are other blocks to go on with.
  const double not_hidden = at_once == 1 ? 0.85 : at_once == 2 ? 0.4 : 0.2;
  const double memory = context.memory_us(moved_bytes(c), 0);
  return kStartUs + std::max(compute, memory) + not_hidden * std::min(compute, memory) +
         context.memory_us(sums, c.variant.split_k > 1 ? 1 : 0) +
         (c.variant.cluster > 1 ? 1.0 : 0.0);
}

}  // namespace enginery
