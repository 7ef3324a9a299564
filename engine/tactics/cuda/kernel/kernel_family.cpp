#include "engine/tactics/cuda/kernel/kernel_family.h"

#include "engine/tactics/cuda/kernel/text/epilogue_text.h"

namespace enginery {

std::string id_by_threads(const std::string& what, int threads, int usual) {
  return threads == usual ? what : what + "_t" + std::to_string(threads);
}

std::string_view arithmetic_of(DataType type) {
  if (is_eight_bits(type)) return "int8_";
  if (type == DataType::bfloat16) return "bf16_";
  return type == DataType::float16 ? "fp16_" : "tf32_";
}

std::string variant_of(const Tactic& tactic) {
  const size_t slash = tactic.id.find('/');
  return slash == std::string::npos ? "" : tactic.id.substr(slash + 1);
}

std::vector<DataType> KernelContext::storage_types() const {
  std::vector<DataType> types{DataType::float32};
  if (allows(Precision::fp16)) types.push_back(DataType::float16);
  if (allows(Precision::bf16) && limits.compute_capability >= 80)
    types.push_back(DataType::bfloat16);
  return types;
}

double KernelContext::memory_us(double bytes, int launches) const {
  // What a kernel's launch costs inside a graph, and the share of the peak that streaming kernels
  // reach.
  constexpr double kLaunchUs = 2.0, kShare = 0.8;
  return kLaunchUs * launches + 1e6 * bytes / (kShare * info.bytes_per_second);
}

Tactic make_kernel_tactic(const Problem& problem, std::string id) {
  return make_gpu_tactic(problem, "kernel", std::move(id));
}

Error no_variant(const Tactic& tactic) {
  return {ErrorCode::incompatible, "kernel: no tactic is called '" + tactic.id + "' here"};
}

bool is_storage_float(DataType type) {
  return !storage_type_text(type).empty();
}

std::vector<DataType> kept_types(DataType type, const KernelContext& context) {
  return is_storage_float(type) ? context.storage_types() : std::vector{type};
}

void define_types(KernelProgram& program, DataType x, DataType y) {
  program.define("TX", element_type_text(x));
  program.define("TY", element_type_text(y));
}

}  // namespace enginery
