#include "engine/tactics/cuda/kernel/kernel_family.h"

#include "engine/kernels/cuda/epilogue.h"

namespace enginery {

std::span<const KernelFamily> kernel_families() {
  static constexpr KernelFamily kFamilies[] = {
      {"view", offer_view, plan_view},
      {"reformat", offer_reformat, plan_reformat},
      {"conv_mma", offer_conv_mma, plan_conv_mma},
      {"depthwise", offer_depthwise, plan_depthwise},
      {"gemv", offer_gemv, plan_gemv},
      {"conv_simt", offer_conv_simt, plan_conv_simt},
      {"conv_direct", offer_conv_direct, plan_conv_direct},
      {"deconv", offer_deconv, plan_deconv},
      {"product", offer_product, plan_product},
      {"pool", offer_pool, plan_pool},
      {"reduce", offer_reduce, plan_reduce},
      {"softmax", offer_softmax, plan_softmax},
      {"lrn", offer_lrn, plan_lrn},
      {"pointwise", offer_pointwise, plan_pointwise},
      {"copy", offer_copy, plan_copy},
      {"gather", offer_gather, plan_gather},
      {"sample", offer_sample, plan_sample},
      {"cast", offer_cast, plan_cast},
      {"fault", offer_fault, plan_fault},
  };
  return kFamilies;
}

const KernelFamily* find_kernel_family(const std::string& tactic_id) {
  std::string name = tactic_id.substr(0, tactic_id.find('/'));
  for (const KernelFamily& family : kernel_families()) {
    if (family.name == name) return &family;
  }
  return nullptr;
}

std::string variant_of(const Tactic& tactic) {
  size_t slash = tactic.id.find('/');
  return slash == std::string::npos ? "" : tactic.id.substr(slash + 1);
}

std::vector<DataType> KernelContext::storage_types() const {
  std::vector<DataType> types{DataType::float32};
  if (allows(Precision::fp16)) types.push_back(DataType::float16);
  return types;
}

double KernelContext::memory_us(double bytes, int launches) const {
  // What a kernel's launch costs inside a graph, and the share of the peak that streaming kernels
  // reach.
  constexpr double kLaunchUs = 2.0, kShare = 0.8;
  return kLaunchUs * launches + 1e6 * bytes / (kShare * info.bytes_per_second);
}

Tactic make_kernel_tactic(const Problem& problem, std::string id) {
  Tactic tactic;
  tactic.source = "kernel";
  tactic.id = std::move(id);
  for (const TensorDesc& desc : problem.inputs) tactic.inputs.push_back({desc.type.type, {}});
  for (const TensorDesc& desc : problem.outputs) tactic.outputs.push_back({desc.type.type, {}});
  return tactic;
}

Format channels_last_format(DataType type, int64_t channels) {
  return {type, {LayoutKind::channels_last, channels % 8 == 0 ? 0 : 8}};
}

Precision precision_of_storage(DataType type) {
  return type == DataType::float16 ? Precision::fp16 : Precision::fp32;
}

Error no_kernel(const std::string& reason) {
  return {ErrorCode::unsupported, reason};
}

Error no_variant(const Tactic& tactic) {
  return {ErrorCode::incompatible, "kernel: no tactic is called '" + tactic.id + "' here"};
}

Status require_static(const Problem& problem) {
  for (const auto* descs : {&problem.inputs, &problem.outputs}) {
    for (const TensorDesc& desc : *descs) {
      if (!desc.present) continue;
      if (!is_static(desc.type.dims))
        return no_kernel(to_string(desc.type) + " has run-time sizes");
      constexpr int64_t kMaxElements = INT32_MAX;
      if (volume(desc.type.dims) > kMaxElements - 65536)
        return no_kernel(to_string(desc.type) + " has more than 2^31 elements");
    }
  }
  return {};
}

std::vector<DataType> kept_types(DataType type, const KernelContext& context) {
  return is_floating(type) ? context.storage_types() : std::vector{type};
}

std::string unit_text(int64_t bytes) {
  switch (bytes) {
    case 1:
      return "unsigned char";
    case 2:
      return "unsigned short";
    case 4:
      return "unsigned";
    case 8:
      return "unsigned long long";
    default:
      return "Bytes16";
  }
}

PointerSlot operand_slot(const Problem& problem, int input, DataType type, size_t offset,
                         KernelPlan& plan) {
  const TensorDesc& desc = problem.inputs[static_cast<size_t>(input)];
  if (!desc.constant && !desc.value) return {offset, PointerSource::input, input};
  PackConstant pack = [input, type, value = desc.value](Weights weights) {
    return Bytes(
        as_text(convert(value ? *value : *weights[static_cast<size_t>(input)], type).byte_span()));
  };
  return {offset, PointerSource::constant, plan.add_constant(std::move(pack))};
}

void define_types(KernelProgram& program, DataType x, DataType y) {
  program.define("TX", storage_type_text(x));
  program.define("TY", storage_type_text(y));
}

gpu::Divisor make_divisor(int64_t divisor) {
  ENSURE(divisor >= 1 && divisor < (int64_t{1} << 31), "a divisor of 1 to 2^31");
  unsigned log = 0;
  while ((int64_t{1} << log) < divisor) ++log;
  unsigned p = 31 + log;
  auto d = static_cast<unsigned __int128>(divisor);
  auto multiplier = ((static_cast<unsigned __int128>(1) << p) + d - 1) / d;
  return {static_cast<unsigned>(multiplier), p - 32 + (divisor == 1 ? 1u : 0u),
          static_cast<unsigned>(divisor)};
}

}  // namespace enginery
