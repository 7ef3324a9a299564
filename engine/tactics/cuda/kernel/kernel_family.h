// KernelFamily: one kernel of our own with its variants. It turns problems into tactics, and a
// tactic into its plan.
//
// Where: one folder a family holds everything that it is: <family>.cpp (variants as rows, offer,
// plan), <family>.cuh (the text), args.h (its arguments). families.h lists them; kernel_source.h
// asks each. Threads: constants and pure functions.
//
// A variant is a row of numbers. Its name, the part of the tactic id after '/', is derived from
// them by the family's id_of(), and ids are kept in catalogs and engine files: a row may be added,
// the name of an existing one never changes.
#pragma once

#include <set>
#include <span>
#include <vector>

#include "engine/device/cuda/gpu_specs.h"
#include "engine/tactics/cuda/kernel/kernel_plan.h"
#include "engine/tactics/cuda/launch/gpu_tactic.h"

namespace enginery {

struct KernelFamily;

// What a family knows of the device and of what the caller allows.
struct KernelContext {
  const DeviceInfo& info;
  SmLimits limits;
  std::set<Precision> allowed;
  std::span<const KernelFamily> more_families = {};  // asked after those of families.h

  bool allows(Precision p) const { return allowed.contains(p); }
  // Element types in which tensors may be kept: float32; float16 where fp16 is allowed; bfloat16
  // where bf16 is allowed and the SM has it (8.0 and later).
  std::vector<DataType> storage_types() const;
  // Lower bound of moving `bytes` once in `launches` launches, in microseconds.
  double memory_us(double bytes, int launches = 1) const;
};

struct KernelFamily {
  std::string_view name;  // what tactic ids begin with, up to the '/'
  // Appends every tactic of the family. unsupported: why there is none.
  Status (*offer)(const Problem&, const KernelContext&, std::vector<Tactic>&);
  // `tactic.id` is "<family>/<variant>". Errors: incompatible (no such variant), unsupported.
  Result<KernelPlan> (*plan)(const Problem&, const Tactic&, const KernelContext&);
  // Whether `plan` knows first inputs and outputs with a pitch; others are not asked for them.
  bool serves_pitches = false;
  // Whether it takes regions, too; others are never asked about one.
  bool takes_regions = false;
};

// The row whose id a tactic has, by id_of(row); null where no row has it.
template <typename Variant, size_t N>
const Variant* find_variant(const Variant (&rows)[N], const Tactic& tactic) {
  for (const Variant& row : rows) {
    if (id_of(row) == tactic.id) return &row;
  }
  return nullptr;
}

// "FAMILY/WHAT" for blocks of the usual number of threads, "FAMILY/WHAT_t512" for another: the id
// of a variant that has no other number.
std::string id_by_threads(const std::string& what, int threads, int usual);

// "fp16_", "bf16_", "tf32_" or "int8_": how ids of convolutions on tensor cores begin, by what is
// multiplied.
std::string_view arithmetic_of(DataType type);

// What follows the '/' of a tactic's id.
std::string variant_of(const Tactic& tactic);

// A tactic of the source with formats linear in the problem's own types, to be overwritten where a
// family wants others.
Tactic make_kernel_tactic(const Problem& problem, std::string id);

// The error of a plan whose tactic no row has: incompatible.
Error no_variant(const Tactic& tactic);

// Whether it is one of the types that floats are kept in: float32, float16 or bfloat16, not
// float64.
bool is_storage_float(DataType type);

// Types in which a tensor of `type` may be kept: itself, or the storage types of such floats.
std::vector<DataType> kept_types(DataType type, const KernelContext& context);

// The macros TX and TY, the element types of the first input and the output: float32, float16,
// bfloat16 or 8 bits.
void define_types(KernelProgram& program, DataType x, DataType y);

}  // namespace enginery
