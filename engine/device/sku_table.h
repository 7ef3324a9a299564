// The SKUs (device types) that enginery knows by name, as a fleet's owner names them.
//
// Where: a name from the command line or an engine file is resolved here before a device is opened;
// a GPU that is present is matched by its numbers (cuda/fingerprint.h). The table is constant:
// every function is thread-safe.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/device/device.h"

namespace enginery {

// An instruction-set cap of the CPU SKUs, in ascending order.
enum class CpuIsa { sse41, avx, avx2, avx512, avx512_vnni, avx512_bf16, amx };

// Whether it has instructions that multiply in bfloat16.
inline bool multiplies_bfloat16(CpuIsa isa) {
  return isa >= CpuIsa::avx512_bf16;
}

// One row of the table; GPUs are resolved structurally from the numbers, never by name alone.
struct SkuRow {
  std::string name;
  DeviceKind kind = DeviceKind::cpu;
  CpuIsa isa = CpuIsa::sse41;                // CPU
  int compute_capability = 0, sm_count = 0;  // GPU
  int memory_gib = 0;                        // GPU; to tell cards of one chip apart
  std::vector<int> pci_ids;                  // GPU; PCI device ids, empty when not known
};

const std::vector<SkuRow>& sku_table();
const SkuRow* find_sku(const std::string& name);
// A GPU that the table does not have goes by its structure: "cuda-sm90-132sm-141g".
std::string structural_sku_name(int compute_capability, int sm_count, int memory_gib);
// The row of a name: the table's, or one made from a structural name; nullopt for any other text.
std::optional<SkuRow> resolve_sku_name(const std::string& name);
// The nearest names by edit distance, for "did you mean".
std::vector<std::string> similar_skus(const std::string& name);

}  // namespace enginery
