#include "worker/runner/runner_environment.h"

#include <unistd.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "engine/base/file.h"
#include "engine/device/sku_table.h"

extern char** environ;

namespace enginery {
namespace {

// Kept from the agent's own environment; a name that ends with '*' is a prefix.
constexpr std::string_view kKept[] = {"PATH",
                                      "TMPDIR",
                                      "LANG",
                                      "TZ",
                                      "CUDA_*",
                                      "NVIDIA_*",
                                      "VIRTUAL_ENV",
                                      "LD_LIBRARY_PATH",
                                      "ENGINERY_LOCKS",
                                      "ENGINERY_CUDA_LIBRARIES",
                                      "ENGINERY_TEST_*",
                                      "ASAN_OPTIONS",
                                      "UBSAN_OPTIONS",
                                      "TSAN_OPTIONS",
                                      "LSAN_OPTIONS"};

bool is_kept(std::string_view name) {
  return std::any_of(std::begin(kKept), std::end(kKept), [&](std::string_view kept) {
    return kept.ends_with('*') ? name.starts_with(kept.substr(0, kept.size() - 1)) : name == kept;
  });
}

const char* library_cap(CpuIsa isa) {
  switch (isa) {
    case CpuIsa::sse41:
      return "SSE41";
    case CpuIsa::avx:
      return "AVX";
    case CpuIsa::avx2:
      return "AVX2";
    case CpuIsa::avx512:
      return "AVX512_CORE";
    case CpuIsa::avx512_vnni:
      return "AVX512_CORE_VNNI";
    case CpuIsa::avx512_bf16:
      return "AVX512_CORE_BF16";
    case CpuIsa::amx:
      return "AVX512_CORE_AMX";
  }
  return "SSE41";
}

// The variable from which a runner finds its kernels where `home` or data_folder() says.
std::string home_variable(const std::filesystem::path& home) {
  if (!home.empty()) return "ENGINERY_HOME=" + home.string();
  const std::filesystem::path data = data_folder();
  const bool own = data.filename() == "data";  // the others end with enginery's name
  return (own ? "ENGINERY_HOME=" : "XDG_DATA_HOME=") + data.parent_path().string();
}

// The device's name in the agent's own list of visible ones, where there is one. Beyond its end
// there is no device: "" shows none.
std::string visible_device(const std::optional<std::string>& list, int index) {
  if (!list) return std::to_string(index);
  size_t from = 0;
  for (int i = 0; from <= list->size(); ++i) {
    const size_t end = std::min(list->find(',', from), list->size());
    if (i == index) return list->substr(from, end - from);
    from = end + 1;
  }
  return "";
}

}  // namespace

std::vector<std::string> runner_environment(const std::string& sku, int threads, int device_index,
                                            const std::filesystem::path& home) {
  std::vector<std::string> out = {home_variable(home)};
  std::optional<std::string> visible;
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    const std::string_view name = text.substr(0, std::min(text.find('='), text.size()));
    if (name == "CUDA_VISIBLE_DEVICES")
      visible = std::string(text.substr(std::min(name.size() + 1, text.size())));
    else if (is_kept(name))
      out.emplace_back(text);
  }
  const auto row = resolve_sku_name(sku);
  if (row && row->kind == DeviceKind::cuda) {
    out.push_back("CUDA_VISIBLE_DEVICES=" + visible_device(visible, device_index));
  } else if (row) {
    out.push_back(std::string("DNNL_MAX_CPU_ISA=") + library_cap(row->isa));
    if (threads > 0) out.push_back("OMP_NUM_THREADS=" + std::to_string(threads));
    out.push_back(
        "OMP_PROC_BIND=false");  // the device binds its teams to the cores that it was given
  }
  return out;
}

}  // namespace enginery
