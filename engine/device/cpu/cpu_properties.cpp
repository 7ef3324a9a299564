#include "engine/device/cpu/cpu_properties.h"

#include <cpuid.h>
#include <dnnl.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cstring>
#include <set>

#include "engine/base/file.h"

namespace enginery {
namespace {

struct Registers {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
};

Registers cpuid(unsigned leaf, unsigned subleaf = 0) {
  Registers r;
  __get_cpuid_count(leaf, subleaf, &r.eax, &r.ebx, &r.ecx, &r.edx);
  return r;
}

bool bit(unsigned word, int n) {
  return (word >> n) & 1;
}

// Which register sets the operating system saves (XCR0); 0 without XSAVE.
uint64_t saved_state() {
  if (!bit(cpuid(1).ecx, 27)) return 0;
  unsigned low = 0, high = 0;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (static_cast<uint64_t>(high) << 32) | low;
}

std::string registers_text(std::initializer_list<unsigned> words) {
  std::string out;
  for (unsigned word : words) {
    char four[4];
    std::memcpy(four, &word, 4);
    out.append(four, 4);
  }
  return out;
}

std::string brand() {
  std::string out;
  for (unsigned leaf = 0x80000002; leaf <= 0x80000004; ++leaf) {
    Registers r = cpuid(leaf);
    out += registers_text({r.eax, r.ebx, r.ecx, r.edx});
  }
  out = out.c_str();  // up to the first zero
  size_t first = out.find_first_not_of(' '), last = out.find_last_not_of(' ');
  return first == std::string::npos ? "unknown" : out.substr(first, last - first + 1);
}

int64_t cache_bytes(int name) {
  long n = sysconf(name);
  return n > 0 ? n : 0;
}

// Linux saves the tiles of a process that has asked for them (Documentation/arch/x86/xstate.rst).
bool tiles_are_permitted() {
  constexpr long kRequestPermission = 0x1023, kTileData = 18;
  static const bool permitted = syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
  return permitted;
}

}  // namespace

std::string_view to_string(CpuIsa isa) {
  switch (isa) {
    case CpuIsa::sse41:
      return "sse41";
    case CpuIsa::avx:
      return "avx";
    case CpuIsa::avx2:
      return "avx2";
    case CpuIsa::avx512:
      return "avx512";
    case CpuIsa::avx512_vnni:
      return "avx512-vnni";
    case CpuIsa::avx512_bf16:
      return "avx512-bf16";
    case CpuIsa::amx:
      return "amx";
  }
  return "?";
}

std::vector<CpuIsa> supported_cpu_isas() {
  Registers one = cpuid(1), seven = cpuid(7), more = cpuid(7, 1);
  uint64_t state = saved_state();
  bool ymm = (state & 0x6) == 0x6, zmm = ymm && (state & 0xe0) == 0xe0,
       tiles = (state & 0x60000) == 0x60000;
  bool avx2 = ymm && bit(seven.ebx, 5) && bit(one.ecx, 12) && bit(one.ecx, 29);
  bool core = bit(seven.ebx, 16) && bit(seven.ebx, 17) && bit(seven.ebx, 30) && bit(seven.ebx, 31);
  bool avx512 = avx2 && zmm && core;
  bool vnni = avx512 && bit(seven.ecx, 11);
  std::vector<CpuIsa> isas;
  if (bit(one.ecx, 19)) isas.push_back(CpuIsa::sse41);
  if (ymm && bit(one.ecx, 28)) isas.push_back(CpuIsa::avx);
  if (avx2) isas.push_back(CpuIsa::avx2);
  if (avx512) isas.push_back(CpuIsa::avx512);
  if (vnni) isas.push_back(CpuIsa::avx512_vnni);
  const bool bfloat16 = vnni && bit(more.eax, 5);
  if (bfloat16) isas.push_back(CpuIsa::avx512_bf16);
  if (bfloat16 && tiles && bit(seven.edx, 22) && bit(seven.edx, 24) && bit(seven.edx, 25) &&
      tiles_are_permitted())
    isas.push_back(CpuIsa::amx);
  return isas;
}

CpuIdentity read_cpu_identity() {
  CpuIdentity id;
  Registers zero = cpuid(0), one = cpuid(1);
  id.vendor = registers_text({zero.ebx, zero.edx, zero.ecx});
  id.name = brand();
  int family = (one.eax >> 8) & 0xf, model = (one.eax >> 4) & 0xf;
  if (family == 0x6 || family == 0xf) model |= ((one.eax >> 16) & 0xf) << 4;
  if (family == 0xf) family += (one.eax >> 20) & 0xff;
  id.family = family;
  id.model = model;
  id.stepping = one.eax & 0xf;
  id.l2_bytes = cache_bytes(_SC_LEVEL2_CACHE_SIZE);
  id.l3_bytes = cache_bytes(_SC_LEVEL3_CACHE_SIZE);
  id.memory_bytes = static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  return id;
}

int physical_cores(const std::vector<int>& cores) {
  std::set<std::string> groups;
  for (const int core : cores) {
    const auto siblings = read_file(
        "/sys/devices/system/cpu/cpu" + std::to_string(core) + "/topology/thread_siblings_list",
        256);
    if (!siblings.ok()) return static_cast<int>(std::set<int>(cores.begin(), cores.end()).size());
    groups.insert(*siblings);
  }
  return static_cast<int>(groups.size());
}

std::string cpu_physical_id() {
  auto boot = read_file("/proc/sys/kernel/random/boot_id", 64);
  if (boot.ok()) return "host-" + boot->substr(0, boot->find('\n'));
  utsname name{};
  uname(&name);
  return std::string("host-") + name.nodename;
}

Properties cpu_library_properties() {
  const dnnl_version_t* v = dnnl_version();
  std::string version =
      std::to_string(v->major) + "." + std::to_string(v->minor) + "." + std::to_string(v->patch);
  const char* runtime = v->cpu_runtime == DNNL_RUNTIME_OMP          ? "openmp"
                        : v->cpu_runtime == DNNL_RUNTIME_TBB        ? "tbb"
                        : v->cpu_runtime == DNNL_RUNTIME_THREADPOOL ? "threadpool"
                                                                    : "sequential";
  return {{"onednn", version}, {"onednn_threads", runtime}};
}

Properties cpu_software_properties() {
  Properties software = cpu_library_properties();
  software.emplace_back("kernels", ENGINERY_KERNELS_HASH " " ENGINERY_COMPILER);
  return software;
}

}  // namespace enginery
