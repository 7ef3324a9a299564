// Kernel families: each turns problems into tactics, and a tactic into its plan. One file a family;
// the list is in kernel_family.cpp.
#pragma once

#include <set>
#include <span>
#include <vector>

#include "engine/device/cuda/data_sheets.h"
#include "engine/tactics/cuda/kernel/kernel_plan.h"

namespace enginery {

// What a family knows of the device and the wishes of the caller.
struct KernelContext {
  const DeviceInfo& info;
  SmLimits limits;
  std::set<Precision> allowed;

  bool allows(Precision p) const { return allowed.contains(p); }
  // Element types in which tensors may be kept.
  std::vector<DataType> storage_types() const;
  // Lower bound of moving `bytes` once in `launches` launches.
  double memory_us(double bytes, int launches = 1) const;
};

struct KernelFamily {
  std::string_view name;
  // Appends every tactic of the family. unsupported: why there is none.
  Status (*offer)(const Problem&, const KernelContext&, std::vector<Tactic>&);
  // `tactic.id` is "<family>/<variant>". Errors: incompatible (no such variant), unsupported.
  Result<KernelPlan> (*plan)(const Problem&, const Tactic&, const KernelContext&);
};

// In the order in which a problem's tactics are offered.
std::span<const KernelFamily> kernel_families();
const KernelFamily* find_kernel_family(const std::string& tactic_id);
std::string variant_of(const Tactic& tactic);  // what follows the '/'

// A tactic of the source with formats linear in the problem's own types, to be overwritten where a
// family wants others.
Tactic make_kernel_tactic(const Problem& problem, std::string id);

// Channels-last with channels padded to 8 where they are not a multiple of it already.
Format channels_last_format(DataType type, int64_t channels);
inline int64_t padded_to_8(int64_t channels) {
  return round_up(channels, 8);
}

// axis in [-rank, rank) -> [0, rank).
inline int64_t wrapped(int64_t axis, size_t rank) {
  return axis < 0 ? axis + static_cast<int64_t>(rank) : axis;
}

Precision precision_of_storage(DataType type);
Error no_kernel(const std::string& reason);  // unsupported
Error no_variant(const Tactic& tactic);      // incompatible
Status require_static(const Problem& problem);

// Types in which a tensor of `type` may be kept: itself, or the storage types of floats.
std::vector<DataType> kept_types(DataType type, const KernelContext& context);
// A type of so many bytes: 1, 2, 4, 8 or 16.
std::string unit_text(int64_t bytes);
// Where a launch finds an input that is stored in order as `type`: a constant or an integer's known
// value is packed so.
PointerSlot operand_slot(const Problem& problem, int input, DataType type, size_t offset,
                         KernelPlan& plan);

// TX and TY, the element types of the first input and the output.
void define_types(KernelProgram& program, DataType x, DataType y);

// The families.
Status offer_conv_mma(const Problem&, const KernelContext&, std::vector<Tactic>&);
Result<KernelPlan> plan_conv_mma(const Problem&, const Tactic&, const KernelContext&);
Status offer_conv_simt(const Problem&, const KernelContext&, std::vector<Tactic>&);
Result<KernelPlan> plan_conv_simt(const Problem&, const Tactic&, const KernelContext&);
Status offer_conv_direct(const Problem&, const KernelContext&, std::vector<Tactic>&);
Result<KernelPlan> plan_conv_direct(const Problem&, const Tactic&, const KernelContext&);
Status offer_deconv(const Problem&, const KernelContext&, std::vector<Tactic>&);
Result<KernelPlan> plan_deconv(const Problem&, const Tactic&, const KernelContext&);
Status offer_depthwise(const Problem&, const KernelContext&, std::vector<Tactic>&);
Result<KernelPlan> plan_depthwise(const Problem&, const Tactic&, const KernelContext&);
Status offer_gemv(const Problem&, const KernelContext&, std::vector<Tactic>&);
Result<KernelPlan> plan_gemv(const Problem&, const Tactic&, const KernelContext&);
Status offer_pool(const Problem&, const KernelContext&, std::vector<Tactic>&);
Result<KernelPlan> plan_pool(const Problem&, const Tactic&, const KernelContext&);
Status offer_softmax(const Problem&, const KernelContext&, std::vector<Tactic>&);
Result<KernelPlan> plan_softmax(const Problem&, const Tactic&, const KernelContext&);
Status offer_lrn(const Problem&, const KernelContext&, std::vector<Tactic>&);
Result<KernelPlan> plan_lrn(const Problem&, const Tactic&, const KernelContext&);
Status offer_product(const Problem&, const KernelContext&, std::vector<Tactic>&);
Result<KernelPlan> plan_product(const Problem&, const Tactic&, const KernelContext&);
Status offer_reduce(const Problem&, const KernelContext&, std::vector<Tactic>&);
Result<KernelPlan> plan_reduce(const Problem&, const Tactic&, const KernelContext&);
Status offer_gather(const Problem&, const KernelContext&, std::vector<Tactic>&);
Result<KernelPlan> plan_gather(const Problem&, const Tactic&, const KernelContext&);
Status offer_sample(const Problem&, const KernelContext&, std::vector<Tactic>&);
Result<KernelPlan> plan_sample(const Problem&, const Tactic&, const KernelContext&);
Status offer_cast(const Problem&, const KernelContext&, std::vector<Tactic>&);
Result<KernelPlan> plan_cast(const Problem&, const Tactic&, const KernelContext&);
Status offer_pointwise(const Problem&, const KernelContext&, std::vector<Tactic>&);
Result<KernelPlan> plan_pointwise(const Problem&, const Tactic&, const KernelContext&);
Status offer_view(const Problem&, const KernelContext&, std::vector<Tactic>&);
Result<KernelPlan> plan_view(const Problem&, const Tactic&, const KernelContext&);
Status offer_copy(const Problem&, const KernelContext&, std::vector<Tactic>&);
Result<KernelPlan> plan_copy(const Problem&, const Tactic&, const KernelContext&);
Status offer_reformat(const Problem&, const KernelContext&, std::vector<Tactic>&);
Result<KernelPlan> plan_reformat(const Problem&, const Tactic&, const KernelContext&);
// A test hook: offers nothing without ENGINERY_INJECT_FAULT=1 (fault.cpp).
Status offer_fault(const Problem&, const KernelContext&, std::vector<Tactic>&);
Result<KernelPlan> plan_fault(const Problem&, const Tactic&, const KernelContext&);

}  // namespace enginery
