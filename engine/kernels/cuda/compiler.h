// KernelCompiler: kernel text in, device code out, for one SM; every text is compiled once.
//
// Where: behind the `kernel` tactic source. Threads: any number at once; the same text is compiled
// by one, others wait.
#pragma once

#include <future>
#include <map>
#include <mutex>
#include <optional>

#include "engine/device/cuda/nvrtc.h"

namespace enginery {

// What a compiled object is called: its text, SM and kind. A store belongs to one version of the
// compiler.
Digest kernel_cache_key(const std::string& text, int compute_capability, CodeKind kind);

// Where compiled objects live between processes. Thread-safe.
class KernelCache {
 public:
  virtual ~KernelCache() = default;
  virtual std::optional<Bytes> find(const Digest& key) = 0;
  virtual void insert(const Digest& key, const Bytes& code) = 0;
};

class KernelCompiler {
 public:
  // `nvrtc` outlives the compiler.
  KernelCompiler(const Nvrtc& nvrtc, int compute_capability, CodeKind kind)
      : nvrtc_(nvrtc), compute_capability_(compute_capability), kind_(kind) {}

  // Errors: internal with the compiler's log.
  Result<Bytes> compile(const std::string& text);

 private:
  using Compiled = std::shared_future<Result<Bytes>>;
  Result<Bytes> compile_text(const std::string& text) const;

  const Nvrtc& nvrtc_;
  const int compute_capability_;
  const CodeKind kind_;
  std::mutex mutex_;
  std::map<Digest, Compiled> compiled_;
};

}  // namespace enginery
