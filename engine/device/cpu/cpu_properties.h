// What the processor and the operating system say of this machine's CPU. Thread-safe.
#pragma once

#include <vector>

#include "engine/device/sku_table.h"

namespace enginery {

// Every instruction-set cap that this CPU and its operating system serve, ascending.
std::vector<CpuIsa> supported_cpu_isas();
std::string_view to_string(CpuIsa isa);  // "avx512-vnni"

struct CpuIdentity {
  std::string vendor, name;  // "AuthenticAMD", "AMD EPYC 9355"
  int family = 0, model = 0, stepping = 0;
  int64_t l2_bytes = 0, l3_bytes = 0, memory_bytes = 0;
};
CpuIdentity read_cpu_identity();

// How many physical cores these numbers of logical ones belong to: fewer where some of them share
// one. As many as there are numbers where the system does not tell.
int physical_cores(const std::vector<int>& cores);

// One for all processes of this host, containers included, until it reboots.
std::string cpu_physical_id();

// oneDNN's version and how it makes threads: what an engine's key says of a CPU's libraries.
Properties cpu_library_properties();

// What a timing's key says: the libraries and, as "kernels", the identity of our CPU kernels with
// the code that packs and calls them (cmake/kernel_identity.cmake, scope cpu) and the compiler with
// its version, which decides how fast they are.
Properties cpu_software_properties();

}  // namespace enginery
