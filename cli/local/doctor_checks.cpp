#include "cli/local/doctor_checks.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <omp.h>
#include <unistd.h>

#include <cstdlib>

#include "cli/farm/farm.h"
#include "cli/local/user_keys.h"
#include "cli/output/table.h"
#include "cli/output/text.h"
#include "engine/base/file.h"
#include "engine/device/device.h"
#include "engine/device/sku_table.h"
#include "worker/runner/sandbox.h"

namespace enginery {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kMinMemoryBytes = 2ull << 30;
constexpr uint64_t kMinDiskBytes = 2ull << 30;

std::vector<Finding> check_cpu() {
  for (const LocalSku& sku : local_skus()) {
    if (sku.kind != DeviceKind::cpu) continue;
    const auto device = open_device(sku.name, {});
    if (!device.ok()) return {{"cpu", Health::warn, device.error().message, ""}};
    const DeviceInfo& info = (*device)->info();
    return {{"cpu", Health::ok,
             fmt::format("{}, {} cores for this process", info.name, info.threads), ""}};
  }
  return {{"cpu", Health::warn, "without SSE 4.1 no CPU SKU can run here", ""}};
}

std::vector<Finding> check_skus() {
  std::vector<std::string> names;
  for (const LocalSku& sku : local_skus()) names.push_back(sku.name);
  if (names.empty()) return {{"skus", Health::warn, "none", ""}};
  return {{"skus", Health::ok, joined(names, ", ") + " (the first is `this`)", ""}};
}

std::vector<Finding> check_memory() {
  const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  const uint64_t all = page * static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES));
  const uint64_t free = page * static_cast<uint64_t>(sysconf(_SC_AVPHYS_PAGES));
  const std::string text = fmt::format("{} of {} free", human_bytes(free), human_bytes(all));
  if (all < kMinMemoryBytes)
    return {{"memory", Health::warn, text + "; large models need 2 GB", ""}};
  return {{"memory", Health::ok, text, ""}};
}

std::vector<Finding> check_data_folder() {
  return {check_folder("data folder", data_folder())};
}

std::vector<Finding> check_state_folder() {
  return {check_folder("state folder", state_folder())};
}

// The address of a Unix socket has at most 107 characters.
std::vector<Finding> check_sockets() {
  const auto address = default_control_address();
  if (address.ok()) return {{"sockets", Health::ok, *address, ""}};
  return {{"sockets", Health::warn, address.error().message,
           "set XDG_RUNTIME_DIR to a folder with a short path"}};
}

std::vector<Finding> check_signing_key() {
  const auto own = SigningKey::load(signing_key_file());
  if (own.ok()) return {{"signing key", Health::ok, key_id(own->public_key()), ""}};
  if (own.error().code == ErrorCode::not_found)
    return {{"signing key", Health::ok, "none yet; the first build makes it", ""}};
  return {{"signing key", Health::warn, own.error().message,
           "chmod 600 " + signing_key_file().string()}};
}

// OpenMP's own setting and --threads would contradict each other.
std::vector<Finding> check_openmp() {
  const char* set = std::getenv("OMP_NUM_THREADS");
  if (set && *set) {
    return {{"openmp", Health::warn, fmt::format("OMP_NUM_THREADS={} is set", set),
             "unset OMP_NUM_THREADS; --threads N says how many"}};
  }
  return {{"openmp", Health::ok, fmt::format("{} threads", omp_get_max_threads()), ""}};
}

// The first of the libraries that can be opened, or "".
std::string first_library(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    void* const library = dlopen(name.c_str(), RTLD_LAZY | RTLD_LOCAL);
    if (!library) continue;
    dlclose(library);
    return name;
  }
  return "";
}

bool has_nvidia_device() {
  std::error_code ignored;
  return fs::exists("/dev/nvidiactl", ignored) ||
         fs::exists("/proc/driver/nvidia/version", ignored);
}

struct GpuLibrary {
  std::string subject;
  std::vector<std::string> names;  // the one that is preferred first
  std::string fix;
};

std::vector<GpuLibrary> gpu_libraries() {
  return {
      {"cuda driver", {"libcuda.so.1"}, "install NVIDIA's driver"},
      {"nvrtc",
       {"libnvrtc.so.13", "libnvrtc.so.12"},
       "pip install nvidia-cuda-nvrtc-cu12 and add its lib folder to LD_LIBRARY_PATH"},
      {"cudnn",
       {"libcudnn.so.9"},
       "pip install nvidia-cudnn-cu12 and add its lib folder to LD_LIBRARY_PATH (not needed by our "
       "own kernels)"},
      {"cublaslt",
       {"libcublasLt.so.13", "libcublasLt.so.12"},
       "pip install nvidia-cublas-cu12 and add its lib folder to LD_LIBRARY_PATH (not needed by "
       "our own kernels)"},
  };
}

std::vector<Finding> check_gpu() {
  if (!has_nvidia_device()) {
    const std::string compiled =
        has_cuda_headers() ? "GPU code is compiled in" : "GPU code was left out of this build";
    return {{"gpu", Health::ok, "no NVIDIA device here; " + compiled, ""}};
  }
  if (!has_cuda_headers()) {
    return {{"gpu", Health::warn,
             "there is an NVIDIA device, but this binary was built without CUDA's headers",
             "run deploy/quickstart, which fetches them and builds again"}};
  }
  std::vector<Finding> findings;
  for (const GpuLibrary& library : gpu_libraries()) {
    const std::string found = first_library(library.names);
    findings.push_back(found.empty() ? Finding{library.subject, Health::warn,
                                               "cannot be opened: " + joined(library.names, ", "),
                                               library.fix}
                                     : Finding{library.subject, Health::ok, found, ""});
  }
  return findings;
}

// What workers and builds do by themselves: --sandbox=prefer is their default.
std::vector<Finding> check_sandbox() {
  const SandboxState state = probe_sandbox();
  if (state.in_force)
    return {{"sandbox", Health::ok, "steps of workers and of builds run in " + state.text, ""}};
  return {{"sandbox", Health::warn,
           state.text + ": workers and builds run their steps as plain child processes",
           state.fix}};
}

std::vector<Finding> check_coordinator() {
  const auto client = connect(FarmOptions{});
  if (!client.ok())
    return {{"coordinator", Health::ok, "none answers; enginery up starts one", ""}};
  return {{"coordinator", Health::ok, fmt::format("pid {} answers", (*client)->welcome().pid), ""}};
}

constexpr DoctorCheck kDoctorChecks[] = {
    {"cpu", check_cpu},
    {"skus", check_skus},
    {"memory", check_memory},
    {"data folder", check_data_folder},
    {"state folder", check_state_folder},
    {"sockets", check_sockets},
    {"signing key", check_signing_key},
    {"openmp", check_openmp},
    {"sandbox", check_sandbox},
    {"coordinator", check_coordinator},
    {"gpu", check_gpu},
};

}  // namespace

std::span<const DoctorCheck> doctor_checks() {
  return kDoctorChecks;
}

Finding check_folder(const std::string& subject, const fs::path& folder) {
  const std::string fix = fmt::format(
      "chmod u+rwx {}, or set ENGINERY_HOME to a folder that can be written", folder.string());
  if (const Status made = make_folder(folder); !made.ok())
    return {subject, Health::warn, made.error().message, fix};
  const fs::path probe = folder / fmt::format(".doctor.{}", getpid());
  if (const Status written = write_file(probe, "probe"); !written.ok())
    return {subject, Health::warn, written.error().message, fix};
  std::error_code ignored;
  fs::remove(probe, ignored);
  const fs::space_info space = fs::space(folder, ignored);
  const std::string text =
      fmt::format("{}, {} free", folder.string(), human_bytes(space.available));
  if (space.available < kMinDiskBytes)
    return {subject, Health::warn, text, "free some space, or set ENGINERY_HOME to another disk"};
  return {subject, Health::ok, text, ""};
}

bool has_cuda_headers() {
#ifdef ENGINERY_HAVE_CUDA
  return true;
#else
  return false;
#endif
}

}  // namespace enginery
