#include "engine/kernels/cuda/kernel_cache.h"

#include "engine/base/file.h"
#include "engine/base/log.h"

namespace enginery {
namespace {

constexpr size_t kDigestBytes = 64;  // as hex digits

std::filesystem::path file_of(const std::filesystem::path& folder, const Digest& key) {
  return folder / (key.hex() + ".code");
}

}  // namespace

std::optional<Bytes> KernelCacheFolder::find(const Digest& key) {
  auto file = read_file(file_of(folder_, key));
  if (!file.ok() || file->size() < kDigestBytes) return std::nullopt;
  Bytes code = file->substr(kDigestBytes);
  if (sha256(code).hex() != file->substr(0, kDigestBytes)) return std::nullopt;
  return code;
}

void KernelCacheFolder::insert(const Digest& key, const Bytes& code) {
  Status written = make_folder(folder_);
  if (written.ok()) written = write_file(file_of(folder_, key), sha256(code).hex() + code);
  if (!written.ok()) log_debug("a compiled kernel is not kept: " + written.error().message);
}

std::filesystem::path kernel_cache_folder(const std::string& compiler_version) {
  return data_folder() / "kernels" / compiler_version;
}

}  // namespace enginery
