#include "engine/runtime/roofline.h"

#include <algorithm>
#include <array>
#include <cstdlib>

#include "engine/tactics/shapes/quantized_product.h"

namespace enginery {
namespace {

struct Field {
  const char* fact;
  double Ceilings::*member;
};
constexpr std::array<Field, 4> kFields{{{"ceiling.fp32_flops", &Ceilings::float32_flops},
                                        {"ceiling.tf32_flops", &Ceilings::tf32_flops},
                                        {"ceiling.fp16_flops", &Ceilings::float16_flops},
                                        {"ceiling.bytes_per_second", &Ceilings::bytes_per_second}}};

}  // namespace

Ceilings ceilings_of(const DeviceInfo& device, const Properties& provenance) {
  Ceilings out{device.float32_flops, device.tf32_flops, device.float16_flops,
               device.bytes_per_second};
  for (const auto& [name, value] : provenance) {
    for (const Field& field : kFields) {
      const double measured = name == field.fact ? std::atof(value.c_str()) : 0;
      if (measured > 0) out.*field.member = measured;
    }
  }
  return out;
}

Precision arithmetic_of(const Problem& problem, Precision compute) {
  return quantized_product(problem).ok() ? Precision::int8 : compute;
}

double roofline_us(double flops, double bytes, Precision compute, const Ceilings& ceilings) {
  const bool is_short = compute == Precision::fp16 || compute == Precision::bf16;
  const double peak = is_short                     ? ceilings.float16_flops
                      : compute == Precision::tf32 ? ceilings.tf32_flops
                      : compute == Precision::fp32 ? ceilings.float32_flops
                                                   : 0;
  if (peak <= 0 || ceilings.bytes_per_second <= 0) return 0;
  return 1e6 * std::max(flops / peak, bytes / ceilings.bytes_per_second);
}

}  // namespace enginery
