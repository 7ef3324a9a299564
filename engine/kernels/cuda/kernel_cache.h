// KernelCacheFolder: compiled kernels as files, so that another process, or the next build, need
// not compile them again.
//
// Where: below DATA/kernels, filled by the `kernel` tactic source; tests keep PTX of other SMs in
// folders of their own. Threads and processes: any number at once, files are replaced as a whole.
#pragma once

#include <filesystem>

#include "engine/kernels/cuda/compiler.h"

namespace enginery {

// One file an object, named by kernel_cache_key; it begins with the digest of what follows, and a
// file that does not match is as if it were not there. Removing the folder is safe at any time.
// Thread-safe, also between processes.
class KernelCacheFolder final : public KernelCache {
 public:
  explicit KernelCacheFolder(std::filesystem::path folder) : folder_(std::move(folder)) {}
  std::optional<Bytes> find(const Digest& key) override;
  void insert(const Digest& key,
              const Bytes& code) override;  // a full disk costs the entry, nothing else

 private:
  const std::filesystem::path folder_;
};

// Where this user's compiled kernels of one compiler version are kept: DATA/kernels/VERSION.
std::filesystem::path kernel_cache_folder(const std::string& compiler_version);

}  // namespace enginery
